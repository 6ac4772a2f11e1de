import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Handoff, openRepository } from '../../src/index.ts';
import type { Run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { isolatedEnv, temporaryDirectory } from '../temporary.ts';

export const HOOK = fileURLToPath(new URL('../../dist/hook.sh', import.meta.url));
if (!existsSync(HOOK)) throw new Error(`${HOOK} is missing. These tests run what is published: npm run build`);
export const PROGRAM = { node: process.execPath, hook: HOOK };
export const CLIENT = ['pre-commit', 'prepare-commit-msg', 'pre-merge-commit', 'pre-push', 'reference-transaction'];

/** The verbs, as the published program has them: with hooks to install. */
export function open(
  dir: string,
  options: { env?: NodeJS.ProcessEnv; program?: typeof PROGRAM } = {},
): Handoff & { warnings: string[] } {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const handoff = openRepository(dir, { env: options.env ?? isolatedEnv, program: options.program ?? PROGRAM, warn });
  onTestFinished(() => handoff.close());
  return { ...handoff, warnings };
}

/** The same place, with hooks in it. */
export async function hooked(place: Place): Promise<Place> {
  await open(place.dir).hooks.install();
  return place;
}

/** What git answers, and with which code. */
export function tryGit(dir: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, input = ''): Run {
  const all = { ...isolatedEnv, ...env };
  const { status, stdout, stderr } = spawnSync('git', ['-C', dir, ...args], { env: all, input, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

export function writeHook(path: string, text: string | Uint8Array, mode = 0o755): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** A directory for the PATH that has what a hook needs, and no Node. */
export function pathWithoutNode(): string {
  const bin = temporaryDirectory();
  for (const name of ['git', 'sh', 'cat', 'sed', 'dirname', 'readlink'])
    symlinkSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(), join(bin, name));
  return bin;
}

/** Everything in a directory to the byte, modes and links included. */
export function snapshot(dir: string): Record<string, string> {
  if (!existsSync(dir)) return {};
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(names.map((name) => [name, describe(join(dir, name))]));
}

function describe(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `→ ${readlinkSync(path)}`;
  const mode = stats.mode.toString(8);
  return stats.isFile() ? `${mode} ${readFileSync(path, 'latin1')}` : mode;
}
