import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import type { RepositoryDirs } from '../discover.ts';
import { isFullRef, isNullOid } from '../objects/asked-name.ts';
import type { Ref } from '../objects/store.ts';
import { orNull } from '../or-null.ts';
import { areRefsFiles } from './ref-names.ts';

/**
 * Every ref in these folders, in order of their names, as `git for-each-ref` lists them. Reads files, starts nothing. Null where only git
 * can tell: refs that are no files, or one that leads elsewhere, is broken or has a strange name. `isWanted`: of others nothing is asked.
 */
export function readRefFiles(
  dirs: RepositoryDirs,
  folders: readonly string[],
  isWanted: (name: string) => boolean,
): Ref[] | null {
  if (!areRefsFiles(dirs)) return null;
  try {
    // in this order: git writes a ref into the packed ones before it removes its file
    const loose = folders.flatMap((folder) => looseIn(dirs.commonDir, folder, isWanted));
    const found = new Map(packedIn(dirs.commonDir, folders).filter(([name]) => isWanted(name)));
    for (const [name, oid] of loose) found.set(name, oid);
    const refs = [...found].map(([name, oid]) => ({ name, oid }));
    return refs.every(({ name, oid }) => isFullRef(name) && OID.test(oid) && !isNullOid(oid))
      ? refs.sort(byName)
      : null;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null; // git knows better how to say what is wrong
  }
}

type Found = [name: string, text: string];

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function looseIn(commonDir: string, folder: string, isWanted: (name: string) => boolean): Found[] {
  const entries = orNull(() => readdirSync(join(commonDir, folder), { withFileTypes: true })) ?? [];
  return entries.flatMap((entry): Found[] => {
    const name = `${folder}${entry.name}`;
    if (entry.isDirectory()) return looseIn(commonDir, `${name}/`, isWanted);
    if (entry.name.endsWith('.lock') || !isWanted(name)) return [];
    if (!entry.isFile()) return [[name, 'a link']];
    const text = orNull(() => readFileSync(join(commonDir, name), 'latin1'));
    return text === null ? [] : [[name, text.trimEnd()]];
  });
}

/** A line that begins with `^` says what the tag of the line before is about. */
function packedIn(commonDir: string, folders: readonly string[]): Found[] {
  const lines = (orNull(() => readFileSync(join(commonDir, 'packed-refs'), 'utf8')) ?? '').split('\n');
  return lines
    .filter((line) => !/^[#^]/.test(line) && line !== '')
    .map((line): Found => [line.slice(line.indexOf(' ') + 1), line.slice(0, Math.max(0, line.indexOf(' ')))])
    .filter(([name]) => folders.some((folder) => name.startsWith(folder)));
}

function byName(a: Ref, b: Ref): number {
  return a.name < b.name ? -1 : 1;
}
