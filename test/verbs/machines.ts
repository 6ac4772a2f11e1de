import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Begun, begin, run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** A clone on a machine of its own, as far as git-handoff can tell, at which somebody types commands. */
export interface Machine {
  dir: string;
  bare: string;
  env: NodeJS.ProcessEnv;
}

// biome-ignore lint/suspicious/noExplicitAny: what a verb answers is whatever it prints
export type Answer = { code: number | null; json: any };

/** A bare remote, and clones of it that take their locks there. */
export function machines(place: Place, ...names: string[]): Machine[] {
  const bare = join(place.dir, '..', 'origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  return names.map((name) => machine(place, bare, name));
}

export function machine(place: Place, bare: string, name: string): Machine {
  const dir = join(place.dir, '..', name);
  git('/', 'clone', '--quiet', bare, dir);
  git(dir, 'config', 'handoff.remote', 'origin');
  return { dir, bare, env: { ...place.env, PATH: `${shims(place)}:${process.env.PATH}` } };
}

/** `git handoff` is what is typed. */
function shims({ dir }: Place): string {
  const folder = join(dir, '..', 'bin');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'git-handoff');
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
  chmodSync(path, 0o755);
  return folder;
}

export function handoff({ dir, env }: Machine, ...args: string[]): Answer {
  const { code, stdout, stderr } = run([...args, '--json'], { cwd: dir, env });
  return { code, json: stdout === '' ? { stderr } : JSON.parse(stdout) };
}

/** The same for what must succeed. */
export function done(machine: Machine, ...args: string[]): Answer['json'] {
  const { code, json } = handoff(machine, ...args);
  if (code !== 0) throw new Error(`git handoff ${args.join(' ')}: ${JSON.stringify(json)}`);
  return json;
}

export function beginHandoff({ dir, env }: Machine, ...args: string[]): Begun {
  return begin([...args, '--json'], { cwd: dir, env });
}

/** The commands that a hint names, as a reader would type them. */
export function commandsIn(hint: string): string[] {
  const found = hint.match(/git (?:handoff|push|switch|restore) [^`;)]*?(?=`|\)|;|, |\. |\.?$)/g) ?? [];
  return found.map((command) => command.replace(/ (?:shows|opens|continues|prints)\b.*$/, ''));
}

/** Types the command of an error's hint that begins so, and nothing else, into a shell. */
export function typeHint({ dir, env }: Machine, { json }: Answer, verb: string): Answer {
  const command = commandsIn(json.error.hint).find((each) => each.startsWith(verb));
  if (!command) throw new Error(`The hint has no ${verb}: ${json.error.hint}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${command} --json`], { cwd: dir, env, encoding: 'utf8' });
  return { code: status, json: stdout === '' ? { stderr } : JSON.parse(stdout) };
}

/** A script that the server runs as a hook, once, when `isNow` (a test of the shell) says so. */
export function once({ bare }: Machine, hook: string, isNow: string, then: string): void {
  const path = join(bare, 'hooks', hook);
  mkdirSync(join(bare, 'hooks'), { recursive: true });
  writeFileSync(join(bare, 'armed'), '');
  writeFileSync(
    path,
    `#!/bin/sh\ninput=$(cat)\ncd '${bare}'\n[ -e armed ] || exit 0\n${isNow} || exit 0\nrm armed\n${then}\n`,
  );
  chmodSync(path, 0o755);
}

/** It has happened. */
export function isSpent({ bare }: Machine): boolean {
  return !existsSync(join(bare, 'armed'));
}

/** What the server has of a lock. */
export function lockRefs({ bare }: Machine, name: string): string[] {
  const prefix = `refs/handoff/locks/${name}`;
  const refs = git(bare, 'for-each-ref', '--format=%(refname)', prefix).split('\n');
  return refs.filter((ref) => ref !== '').map((ref) => ref.slice(prefix.length + 1));
}
