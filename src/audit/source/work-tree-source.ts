import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { asHandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { assertSize } from '../../core/record/record.ts';
import type { Entry, Source } from './source.ts';

/** Files on disk, for writing the next record. Judging reads blobs. */
export function openWorkTree(topLevel: string): Source {
  const read = async (file: Entry, limit: number) => readFile(join(topLevel, file.path), limit);
  return {
    oid: null,
    root: async () => listFolder(topLevel, ''),
    list: async (folder) => listFolder(topLevel, `${folder.path}/`),
    read,
    readAll: (files, limit) => Promise.all(files.map((file) => read(file, limit).catch(asHandoffError))),
  };
}

function listFolder(topLevel: string, prefix: string): Entry[] {
  return namesIn(join(topLevel, prefix)).flatMap((name) => {
    const path = prefix + name;
    // not found: it was deleted since, or its name is no UTF-8, which nothing of ours is
    const stats = lstatSync(join(topLevel, path), { throwIfNoEntry: false });
    return stats ? [{ path, name, mode: modeOf(stats), oid: null }] : [];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function modeOf(stats: Stats): string {
  if (stats.isDirectory()) return '040000';
  if (stats.isSymbolicLink()) return '120000';
  if (!stats.isFile()) return '000000'; // a pipe or a socket: opening it could wait for ever
  return stats.mode & 0o100 ? '100755' : '100644';
}

/** O_NOFOLLOW: the last component cannot be swapped for a link between looking and reading. */
function readFile(path: string, limit: number): Uint8Array {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(file);
    assertSize(size, limit, 'record');
    return readWhole(file, size);
  } finally {
    closeSync(file);
  }
}

/** What `readFileSync` does, which would ask for the size once more. */
function readWhole(file: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  for (let more = 1; more > 0 && read < size; read += more) more = readSync(file, bytes, read, size - read, null);
  return bytes.subarray(0, read);
}
