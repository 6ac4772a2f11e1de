import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
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
  save(): void;
}

/** `keep`: how many entries, the newest, outlive a save. */
export function openCache<T>(path: string, keep = Number.POSITIVE_INFINITY): Cache<T> {
  const entries = readEntries<T>(path);
  let changed = false;
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.set(key, value);
      changed = true;
    },
    save() {
      if (changed) writeCached(path, [...entries].slice(-keep));
    },
  };
}

/** A cache that cannot be read is an empty one. */
function readEntries<T>(path: string): Map<string, T> {
  const text = readCached(path);
  try {
    return new Map(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return new Map();
    throw error;
  }
}

/** Whatever else is wrong with it, a cache is no reason to fail: it is read as an empty one and written anew. */
export function readCached(path: string): string {
  try {
    return readRegular(path);
  } catch (error) {
    if (!hasCode(error)) throw error;
    return '';
  }
}

/** A larger file was not written by us, or takes longer to read than it saves. */
const MOST_BYTES = 256 * 1024 ** 2;

/** If somebody put a pipe there, reading it would wait until somebody writes to it. */
function readRegular(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= MOST_BYTES ? readFileSync(file, 'utf8') : '';
  } finally {
    closeSync(file);
  }
}

/** A repository that may not be written to, or a disk that is full, is worked with all the same, only slower next time. */
export function writeCached(path: string, value: unknown, replacer?: Replacer): void {
  const text = toJson(value, replacer);
  if (text === null) return;
  const temporary = `${path}.${Math.random().toString(36).slice(2)}`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    dropCached(temporary);
  }
}

type Replacer = (key: string, value: unknown) => unknown;

/** Null for a value whose text would be longer than what we read back, or than a string can be. */
function toJson(value: unknown, replacer?: Replacer): string | null {
  try {
    const text = JSON.stringify(value, replacer);
    return Buffer.byteLength(text) > MOST_BYTES ? null : text;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The names in a folder of such files, those written last first. */
export function newestCached(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    const times = new Map(names.map((name) => [name, statSync(join(folder, name)).mtimeMs]));
    return names.sort((a, b) => times.get(b)! - times.get(a)!);
  } catch (error) {
    if (!hasCode(error)) throw error;
    return [];
  }
}

export function dropCached(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

/** Whether the system would not write something, for whatever reason: a full disk, a right, a limit, a folder in its place. */
export function isUnwritable(error: unknown): boolean {
  return hasCode(error);
}
