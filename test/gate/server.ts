import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Run, run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { disposableDirectory, git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import type { Change } from './scenario.ts';

/** A bare repository with our hook and a pinned root, made once for a file of tests; each call copies it. */
export function serverTemplate(): (place: Place, base: string | null) => string {
  const { path, remove } = disposableDirectory();
  const original = join(path, 'server.git');
  let isReady = false;
  afterAll(remove);
  const prepare = ({ root }: Place): void => {
    git('/', 'init', '--quiet', '--bare', '--template=', '--initial-branch=main', original);
    git(original, 'config', 'handoff.root', root);
    const installed = run(['-C', original, 'hooks', 'install', '--server']);
    if (installed.code !== 0) throw new Error(installed.stderr);
    isReady = true;
  };
  return (place, base) => {
    if (!isReady) prepare(place);
    const server = join(temporaryDirectory(), 'server.git');
    cpSync(original, server, { recursive: true });
    if (base !== null) git(server, 'fetch', '--quiet', place.dir, `${base}:refs/heads/main`);
    return server;
  };
}

export interface Pushed extends Run {
  before: string;
  after: string;
  /** What was to become main. */
  wanted: string;
}

/** Pushes a scenario's change as whoever made it would: merged where it is behind, forced where it takes main's place. */
export function pushChange(place: Place, server: string, change: Change): Pushed {
  const { base = 'main', head = 'HEAD', replaces = false, environment } = change;
  const wanted =
    replaces || base === null ? resolve(place, head) : mergedInto(place, resolve(place, base), resolve(place, head));
  const before = mainOf(server);
  environment?.(server);
  const answer = push(place, server, wanted, replaces ? ['--force'] : []);
  change.after?.(server);
  return { ...answer, before, after: mainOf(server), wanted };
}

export function push({ dir }: Place, server: string, oid: string, flags: readonly string[] = []): Run {
  const args = ['-C', dir, '--no-replace-objects', 'push', '--no-verify', ...flags, server, `${oid}:refs/heads/main`];
  const { status, stdout, stderr } = spawnSync('git', args, { env: isolatedEnv, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** Read from the files: whatever a scenario has done to the configuration. */
export function mainOf(server: string): string {
  return git(server, 'for-each-ref', '--format=%(objectname)', 'refs/heads/main');
}

function resolve({ dir }: Place, rev: string): string {
  return git(dir, 'rev-parse', `${rev}^{commit}`);
}

/** What git merges by itself; where it cannot, all that the branch has. */
function mergedInto({ dir }: Place, base: string, head: string): string {
  const isAncestor = (a: string, b: string) =>
    spawnSync('git', ['-C', dir, 'merge-base', '--is-ancestor', a, b], { env: isolatedEnv }).status === 0;
  if (isAncestor(base, head)) return head;
  const merged = spawnSync('git', ['-C', dir, 'merge-tree', '--write-tree', base, head], { env: isolatedEnv });
  const tree = merged.status === 0 ? merged.stdout.toString().split('\n')[0]! : `${head}^{tree}`;
  return git(dir, 'commit-tree', git(dir, 'rev-parse', tree), '-p', base, '-p', head, '-m', 'merge');
}
