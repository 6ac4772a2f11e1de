// A temporary repository with two agents in it, and what every scenario asks of one.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseRecord } from '../dist/core.js';
import { openRepository } from '../dist/index.js';

export const CLI = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url));

/** Nobody's configuration, hooks or identity changes what a scenario sees. */
const ISOLATED = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(GIT_|HANDOFF_)/.test(name))),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  NO_COLOR: '1',
};

const made = [];
process.on('exit', () => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

export function temporaryDirectory() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'git-handoff-faults-')));
  made.push(path);
  return path;
}

/** donna and rick are signed in; the maintainer's key is there as well. */
export function newPlace(base = temporaryDirectory()) {
  const place = { base, dir: join(base, 'work'), env: { ...ISOLATED, HANDOFF_KEYS: join(base, 'keys') } };
  spawnSync('git', ['init', '-q', '-b', 'main', place.dir], { env: place.env });
  handoff(place, 'init', '--no-hooks');
  for (const name of ['donna', 'rick']) handoff(place, 'identity', 'add', name);
  return place;
}

/** The same repository, seen from another work tree of it. */
export function worktree(place, name) {
  const dir = join(place.base, name);
  git(place, 'worktree', 'add', '-q', '--detach', dir);
  return { ...place, dir };
}

/** Returns what brings the repository back to now. At the same path: sessions know their work tree by it. */
export function snapshot({ base, dir }) {
  const saved = mkdtempSync(join(base, 'saved-'));
  cpSync(dir, saved, { recursive: true, preserveTimestamps: true });
  return () => {
    rmSync(dir, { recursive: true, force: true });
    cpSync(saved, dir, { recursive: true, preserveTimestamps: true });
  };
}

export function git({ dir, env }, ...args) {
  const { status, stdout, stderr } = spawnSync('git', ['-C', dir, ...args], { env, encoding: 'utf8' });
  check(status === 0, `git ${args.join(' ')} ended with ${status}`, stderr);
  return stdout.trimEnd();
}

/** Whether git did it. */
export function tryGit({ dir, env }, ...args) {
  return spawnSync('git', ['-C', dir, ...args], { env }).status === 0;
}

/** Runs a verb that must succeed, and returns what it prints. */
export function handoff(place, ...args) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [CLI, ...args, '--json'], {
    cwd: place.dir,
    env: place.env,
    encoding: 'utf8',
  });
  check(status === 0, `git handoff ${args.join(' ')} ended with ${status}`, stdout + stderr);
  place.said?.push(stderr);
  return JSON.parse(stdout);
}

/** Runs a verb and returns whatever became of it. `through`: a program that runs it, with its flags. */
export function attempt(place, args, { env = {}, through = [] } = {}) {
  const [command, ...rest] = [...through, process.execPath, CLI, ...args, '--json'];
  return finished(spawn(command, rest, { cwd: place.dir, env: { ...place.env, ...env } }));
}

/** Exit code, output, and the JSON that it printed, if it did. */
export async function finished(child) {
  const run = { pid: child.pid, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (run.stdout += chunk));
  child.stderr.on('data', (chunk) => (run.stderr += chunk));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (...ended) => resolve(ended));
  });
  return { ...run, code, signal, json: /^\{.*\}\n$/.test(run.stdout) ? JSON.parse(run.stdout) : null };
}

export function check(condition, message, evidence) {
  if (condition) return;
  const shown = typeof evidence === 'string' ? evidence : JSON.stringify(evidence, null, 1);
  throw new Error(evidence === undefined ? message : `${message}\n${shown?.slice(0, 4000)}`);
}

/** Names of programs that are not installed here. */
export function missing(...programs) {
  return programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0);
}

export function stateDir(place) {
  return join(git(place, 'rev-parse', '--path-format=absolute', '--git-common-dir'), 'handoff');
}

/** Every file below a folder, as paths from there. */
export function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return paths.filter((path) => statSync(path).isFile()).map((path) => relative(folder, path));
}

/** The texts of a session's journal in the order of the chain; checks numbers and links on the way. */
export function journal(place, session) {
  const folder = join(stateDir(place), 'sessions', session, 'records');
  const names = filesBelow(folder)
    .filter((name) => !name.startsWith('.tmp-'))
    .sort();
  const entries = names.map((name) => readFileSync(join(folder, name)));
  check(
    names.every((name, index) => Number(name) === index + 1),
    'The journal has a gap',
    names,
  );
  return entries.map((bytes) => (bytes[0] === 0x7b ? { end: JSON.parse(bytes) } : parseRecord(bytes).fields));
}

/** Whoever was interrupted, and wherever: every file under its own name is whole. */
export function assertNothingTorn(place) {
  const tree = join(place.dir, '.handoff');
  for (const path of filesBelow(tree)) if (!isTemporary(path)) parseFile(join(tree, path), 'record');
  const state = stateDir(place);
  // A cache is read with care and may be thrown away at any time.
  for (const path of filesBelow(state))
    if (!isTemporary(path) && !path.startsWith('cache/')) parseFile(join(state, path), kindOf(path));
}

/** Nothing half-written lies where the next `git add` would take it along. */
export function assertTreeIsClean(place) {
  const left = filesBelow(join(place.dir, '.handoff')).filter(isTemporary);
  check(left.length === 0, 'Temporary files are left in the work tree', left);
  const status = git(place, 'status', '--porcelain', '--untracked-files=all', '--', '.handoff');
  check(status === '', 'After the commit .handoff has changes', status);
}

/** Whoever was killed has left nothing by which git, or anybody, would wait for it. */
export function assertUnlocked(place) {
  const left = readdirSync(join(place.dir, '.git')).filter((name) => /^(?:index|HEAD)\.(?:lock|handoff)/.test(name));
  check(left.length === 0, 'Locks are left in the git directory', left);
}

/** What HEAD holds is valid, and holds these records. `.handoff` is as HEAD has it: see assertTreeIsClean. */
export async function assertVerified(place, ids) {
  const { valid, findings } = await call(place, (handoff) => handoff.verify());
  check(valid, 'verify found something', findings);
  const folder = join(place.dir, '.handoff/sessions');
  const known = new Set(filesBelow(folder).map((path) => idOf(readFileSync(join(folder, path)))));
  const lost = ids.filter((id) => !known.has(id));
  check(lost.length === 0, 'Records that were acknowledged are not in HEAD', lost);
}

/** A verb of the library in this process: quicker than the CLI, for what is not itself under test. */
export async function call(place, verb) {
  const handoff = openRepository(place.dir, { env: place.env, warn: (text) => place.said?.push(text) });
  try {
    return await verb(handoff);
  } finally {
    await handoff.close();
  }
}

function idOf(bytes) {
  return `sha256:${createHash('sha256').update(parseRecord(bytes).signedBytes).digest('hex')}`;
}

function isTemporary(path) {
  return /(^|\/)\.tmp-[^/]*$/.test(path);
}

function kindOf(path) {
  if (/(^|\/)records\/\d+$/.test(path)) return 'entry';
  if (/(\.lock|\.released|session\.json|heartbeat)$/.test(path)) return 'json';
  return 'line';
}

function parseFile(path, kind) {
  const bytes = readFileSync(path);
  try {
    if (kind === 'json' || (kind === 'entry' && bytes[0] === 0x7b)) JSON.parse(bytes);
    else if (kind === 'line') check(bytes.length > 0, 'it is empty');
    else parseRecord(bytes);
  } catch (error) {
    throw new Error(`${path} is torn: ${error.message}\n${bytes}`);
  }
}
