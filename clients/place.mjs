// Where one scenario happens: a home, a repository with two agents in it, and a model. All of it is new, and gone afterwards.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from './model/server.mjs';
import { openTerminal } from './terminal.mjs';

const CLI = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../dist/hook.sh', import.meta.url));
const HEADLESS_LIMIT_MS = 120_000;

/** @param {Record<string, string>} folders where npm put each program */
export async function newPlace(programs, folders) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'place-')));
  const place = { base, home: join(base, 'home'), work: join(base, 'work'), others: join(base, 'others.log'), folders };
  place.model = await startModel();
  place.env = environment(place);
  place.terminals = [];
  makeTools(place);
  makeRepository(place);
  for (const program of programs) {
    symlinkSync(binOf(place, program), join(base, 'programs', program.program));
    program.settle(place, folders[program.name]);
  }
  return place;
}

/** Nothing of whoever runs this: no key, no settings, no other git-handoff. */
function environment({ base, home }) {
  const temporary = join(base, 'tmp');
  return {
    PATH: [...['bin', 'programs', 'node'].map((name) => join(base, name)), ...systemPath()].join(':'),
    HOME: home,
    USER: 'tester',
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    TMPDIR: temporary,
    TMUX_TMPDIR: temporary,
    XDG_RUNTIME_DIR: temporary,
    GIT_CONFIG_NOSYSTEM: '1',
    NO_PROXY: '127.0.0.1',
    OTHERS_LOG: join(base, 'others.log'),
  };
}

function systemPath() {
  const folders = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];
  return folders.filter((folder) => !existsSync(join(folder, 'git-handoff')));
}

function makeTools({ base, home }) {
  for (const name of ['bin', 'programs', 'node', 'home', 'tmp']) mkdirSync(join(base, name), { mode: 0o700 });
  symlinkSync(CLI, join(base, 'bin', 'git-handoff'));
  symlinkSync(HOOK, join(base, 'bin', 'git-handoff-hook'));
  symlinkSync(process.execPath, join(base, 'node', 'node'));
  const git = '[user]\n\tname = tester\n\temail = tester@example.org\n[init]\n\tdefaultBranch = main\n';
  writeFileSync(join(home, '.gitconfig'), git);
}

/** donna and rick are signed in; a session that has something to account for may not stop without a word. */
function makeRepository(place) {
  run(place, 'git', 'init', '--quiet', place.work);
  write(place, 'README.md', 'hello\n');
  run(place, 'git', 'add', '--all');
  run(place, 'git', 'commit', '--quiet', '--message', 'The beginning');
  run(place, 'git-handoff', 'init');
  for (const name of ['donna', 'rick']) run(place, 'git-handoff', 'identity', 'add', name);
  run(place, 'git-handoff', 'task', 'add', 'P0.1', '--title', 'The reader');
  run(place, 'git', 'config', 'handoff.identity', 'donna');
}

export function write({ work }, path, text, mode = 0o644) {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text, { mode });
}

export function writeHome({ home }, path, content) {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

/** One command in the repository, which must succeed. */
export function run(place, ...command) {
  const { status, stdout, stderr } = attempt(place, ...command);
  if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

function attempt({ work, env }, file, ...words) {
  const cwd = existsSync(work) ? work : '/';
  return spawnSync(file, words, { cwd, env, encoding: 'utf8', timeout: HEADLESS_LIMIT_MS });
}

export function json(place, ...words) {
  return JSON.parse(attempt(place, 'git-handoff', ...words, '--json').stdout);
}

/** A program, asked once and without a terminal. */
export async function ask(place, program, prompt, env = {}) {
  const child = spawn(binOf(place, program), program.headless(prompt), {
    cwd: place.work,
    env: { ...place.env, ...program.env(place), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      said[name] += text;
    });
  }
  const limit = setTimeout(() => endGroup(child.pid), HEADLESS_LIMIT_MS);
  const [status] = await once(child, 'close').finally(() => clearTimeout(limit));
  place.last = { prompt, status, ...said };
  return place.last;
}

/** A program in a terminal. */
export function sitDown(place, program, env = {}) {
  const terminal = openTerminal({
    env: { ...place.env, ...program.env(place), ...env },
    folder: place.work,
    command: [binOf(place, program), ...program.interactive],
  });
  place.terminals.push(terminal);
  return terminal;
}

function binOf({ folders }, { name, program }) {
  return join(folders[name], 'node_modules', '.bin', program);
}

export function leave({ terminals, model }) {
  for (const terminal of terminals) terminal.close();
  model.close();
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
