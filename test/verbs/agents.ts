import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { parseRecord } from '../../src/core/record/record.ts';
import { recordId } from '../../src/core/record/verify.ts';
import { nodeHashes } from '../../src/crypto.ts';
import type { Host } from '../../src/disk/moment.ts';
import { nodeHost } from '../../src/host.ts';
import { type Handoff, openRepository } from '../../src/index.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';

/** What a test changes about the process that opens a place. */
export interface Circumstances {
  dir?: string;
  env?: NodeJS.ProcessEnv;
  host?: Host;
  now?: () => Date;
}

/** The same repository as another process sees it. */
export function open(place: Place, { dir = place.dir, env = {}, host, now }: Circumstances = {}): Place {
  const warnings: string[] = [];
  const all = { ...place.env, ...env };
  const warn = (text: string) => warnings.push(text);
  const handoff = openRepository(dir, { env: all, warn, ...(host ? { host } : {}), ...(now ? { now } : {}) });
  onTestFinished(() => handoff.close());
  return { ...place, dir, env: all, warnings, handoff };
}

/** A linked work tree beside the first one, on a branch of its own. */
export function worktree(place: Place, branch: string, circumstances: Circumstances = {}): Place {
  const dir = join(place.dir, '..', `tree-${branch}`);
  git(place.dir, 'worktree', 'add', '--quiet', '-b', branch, dir);
  return open(place, { ...circumstances, dir });
}

/** The same machine, so much later. */
export function later(seconds: number): Host {
  return { ...nodeHost, uptime: () => uptime() + seconds };
}

export interface StoredRecord {
  name: string;
  path: string;
  id: string;
  fields: YamlMap;
  body: string | null;
}

/** The records of a session as they are in the work tree, in order. */
export function recordsOf({ dir }: Place, sessionId: string): StoredRecord[] {
  return foldersOf(dir)
    .filter((folder) => folder.endsWith(`-${sessionId.slice(0, 8)}`))
    .flatMap((folder) => readdirSync(join(dir, folder)).map((name) => readRecord(dir, `${folder}/${name}`)))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readRecord(dir: string, path: string): StoredRecord {
  const { fields, body, signedBytes } = parseRecord(readFileSync(join(dir, path)));
  return { name: basename(path), path, id: recordId(signedBytes, nodeHashes), fields, body };
}

function foldersOf(dir: string): string[] {
  const root = '.handoff/sessions';
  return list(join(dir, root)).flatMap((identity) =>
    list(join(dir, root, identity)).map((folder) => `${root}/${identity}/${folder}`),
  );
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A whole session: it starts, says something and wraps. Returns its id. */
export async function workAndWrap(handoff: Handoff, as: string, message = `${as} was here`): Promise<string> {
  const { session_id } = await handoff.start({ as });
  await handoff.wrap({ as, message });
  return session_id;
}

/** What git sees as changed, one line each. */
export function changes({ dir }: Place): string[] {
  return git(dir, 'status', '--porcelain', '--untracked-files=all')
    .split('\n')
    .filter((line) => line !== '');
}

/** The paths that a commit changed. */
export function pathsOf({ dir }: Place, rev = 'HEAD'): string[] {
  return git(dir, 'show', '--format=', '--name-only', rev).split('\n');
}
