import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Git } from '../../src/git/run.ts';
import { git, isolatedEnv } from '../temporary.ts';

export function gitAt(dir: string, env: NodeJS.ProcessEnv = {}): Git {
  return { dir, env: { ...isolatedEnv, ...env } };
}

function write(dir: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

export function commit(dir: string, files: Record<string, string | Uint8Array>, message = 'a change'): string {
  write(dir, files);
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

export const NAMES = { 'note.md': 'one\n', 'ünï/çode.md': 'zwei\n', 'with space/a\nb.md': 'drei\n', empty: '' };

/** main: a first commit, then one with awkward names; `side` leaves from the first; tag `v1` is annotated. */
export function history(dir: string, ...init: string[]): string {
  git('/', 'init', '--quiet', '--initial-branch=main', ...init, dir);
  commit(dir, { 'note.md': 'zero\n' }, 'first');
  git(dir, 'switch', '--quiet', '--create', 'side');
  commit(dir, { 'side.md': 'side\n' }, 'on the side');
  git(dir, 'switch', '--quiet', 'main');
  commit(dir, NAMES, 'second\n\nwith a body');
  git(dir, 'tag', '--annotate', '--message', 'a tag', 'v1');
  return dir;
}

/** One repository of each kind that behaves differently; the value is the directory to open. */
export const REPOSITORIES: Record<string, (root: string) => string> = {
  plain: (root) => history(join(root, 'plain')),
  bare: (root) => clone(root, '--bare'),
  'with a linked worktree': (root) => {
    git(history(join(root, 'main')), 'worktree', 'add', '--quiet', '--detach', join(root, 'linked'));
    return join(root, 'linked');
  },
  packed: (root) => {
    const dir = history(join(root, 'packed'));
    git(dir, 'gc', '--quiet');
    return dir;
  },
  'with packed refs': (root) => {
    const dir = history(join(root, 'packed-refs'));
    git(dir, 'pack-refs', '--all');
    return dir;
  },
  'SHA-256': (root) => history(join(root, 'sha256'), '--object-format=sha256'),
  'with alternates': (root) => clone(root, '--shared'),
  shallow: (root) => clone(root, '--depth=1', '--no-single-branch'),
  'a partial clone': (root) => {
    const origin = history(join(root, 'origin'));
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    git(root, 'clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${origin}`, 'partial');
    return join(root, 'partial');
  },
};

function clone(root: string, ...options: string[]): string {
  const origin = history(join(root, 'origin'));
  const source = options.includes('--shared') ? origin : `file://${origin}`;
  git(root, 'clone', '--quiet', ...options, source, 'clone');
  return join(root, 'clone');
}
