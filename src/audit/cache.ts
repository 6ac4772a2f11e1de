import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SessionAudit } from './session.ts';

/** Clean sessions by what their folder holds and the rules they were judged by: a finished session's folder never changes. */
export type SessionCache = Pick<Cache<SessionAudit>, 'get' | 'set'>;

/**
 * What earlier runs found, SPEC §7.4. Only what held is kept, and only what follows from the bytes alone. The file may be
 * deleted at any time: every answer stays the same.
 */
export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  /** Writes it back if anything was added. */
  save(): Promise<void>;
}

/** `keep`: how many entries, the newest, outlive a save. */
export async function openCache<T>(path: string, keep = Number.POSITIVE_INFINITY): Promise<Cache<T>> {
  const entries = await readEntries<T>(path);
  let changed = false;
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.set(key, value);
      changed = true;
    },
    async save() {
      if (changed) await writeCached(path, JSON.stringify([...entries].slice(-keep)));
    },
  };
}

/** A cache that cannot be read is an empty one. */
async function readEntries<T>(path: string): Promise<Map<string, T>> {
  const text = await readCached(path);
  try {
    return new Map(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
    throw error;
  }
}

/** Whatever else is wrong with it, a cache is no reason to fail: it is read as an empty one and written anew. */
export async function readCached(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    return '';
  });
}

/** A repository that may not be written to is verified all the same, only slower next time. */
export async function writeCached(path: string, text: string): Promise<void> {
  const temporary = `${path}.${Math.random().toString(36).slice(2)}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(temporary, text);
    await rename(temporary, path);
  } catch (error) {
    if (!UNWRITABLE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

const UNWRITABLE = ['EACCES', 'EROFS', 'EPERM', 'ENOSPC', 'EDQUOT', 'EISDIR', 'ENOTDIR', 'EEXIST'];
