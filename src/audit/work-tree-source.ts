import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { asHandoffError } from '../core/error.ts';
import { assertSize } from '../core/record.ts';
import type { Entry, Source } from './source.ts';

/** Files on disk, for writing the next record. Judging reads blobs. */
export function openWorkTree(topLevel: string): Source {
  const list = (path: string): Promise<Entry[]> => listFolder(topLevel, path);
  return {
    oid: null,
    root: () => list(''),
    list: (folder) => list(`${folder.path}/`),
    read: (file, limit) => readFile(join(topLevel, file.path), limit),
    readAll: (files, limit) =>
      Promise.all(files.map((file) => readFile(join(topLevel, file.path), limit).catch(asHandoffError))),
  };
}

async function listFolder(topLevel: string, prefix: string): Promise<Entry[]> {
  const names = await readdir(join(topLevel, prefix)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return Promise.all(
    names.sort().map(async (name) => {
      const path = prefix + name;
      return { path, name, mode: modeOf(await lstat(join(topLevel, path))), oid: null };
    }),
  );
}

function modeOf(stats: Stats): string {
  if (stats.isDirectory()) return '040000';
  if (stats.isSymbolicLink()) return '120000';
  return stats.mode & 0o100 ? '100755' : '100644';
}

/** O_NOFOLLOW: the last component cannot be swapped for a link between looking and reading. */
async function readFile(path: string, limit: number): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    assertSize((await file.stat()).size, limit, 'record');
    return await file.readFile();
  } finally {
    await file.close();
  }
}
