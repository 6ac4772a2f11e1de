import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryDirs } from '../discover.ts';
import { objectFormat } from '../objects/loose-object.ts';
import { orNull } from '../or-null.ts';
import { hasOtherHalf } from './index-folder.ts';
import { countEntries, MODE, OID, STAGE, walkEntries } from './index-layout.ts';
import { pathBytes } from './path-bytes.ts';

/** More files than this and git, which looks at several at once, is faster. */
const MOST_FILES = 20_000;

/**
 * What the index has, and how the file system tells every file of it outside a folder from one that is written later. Two that are the
 * same: in between nobody has written any of these. Null where that could not be told: an index of another form, a submodule, a file system
 * whose clock is too coarse for what was written just now, or too many files.
 */
export function footprintOf(dirs: RepositoryDirs, topLevel: string, leftOut: string): string | null {
  const index = join(dirs.gitDir, 'index');
  const bytes = hasOtherHalf(index) ? null : orNull(() => readFileSync(index));
  const indexed = bytes && readEntries(bytes, objectFormat(dirs.commonDir) === 'sha256' ? 32 : 20);
  const files = indexed?.paths.filter((path) => !path.startsWith(`${leftOut}/`));
  if (!indexed || !files || files.length > MOST_FILES) return null;
  const hash = createHash('sha256').update(indexed.digest);
  const now = BigInt(Date.now()) * 1_000_000n;
  for (const path of files) {
    const stat = orNull(() => lstatSync(pathBytes(topLevel, path), { bigint: true }));
    if (stat && isCoarse(stat, now)) return null;
    hash.update(`${path}\0${stat ? toText(stat) : 'nothing'}\0`, 'latin1');
  }
  return hash.digest('hex');
}

function toText({ dev, ino, mode, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs}`;
}

const SECOND = 1_000_000_000n;

/** Written in these seconds, and no more is said than in which: it could be written again and look the same. */
function isCoarse({ mtimeNs, ctimeNs }: BigIntStats, now: bigint): boolean {
  return [mtimeNs, ctimeNs].some((time) => time % SECOND === 0n && time > now - 3n * SECOND);
}

/** A link or a plain file, that may be run or not. */
const KNOWN = new Set([0o100644, 0o100755, 0o120000]);

/**
 * The paths, in bytes, one a character, and a digest of all but when files were last looked at, which any `git status` writes anew. Null
 * for another form than the plain one, for a conflict, and where something else than files is in it.
 */
function readEntries(index: Buffer, width: number): { paths: string[]; digest: string } | null {
  if (countEntries(index) === null) return null;
  const paths: string[] = [];
  const hash = createHash('sha256');
  let hasOnlyFiles = true;
  walkEntries(index, width, (at, flags, start, end) => {
    hasOnlyFiles = (flags & STAGE) === 0 && KNOWN.has(index.readUInt32BE(at + MODE));
    paths.push(index.toString('latin1', start, end));
    hash.update(index.subarray(at + MODE, at + MODE + 4)).update(index.subarray(at + OID, end + 1));
    return hasOnlyFiles;
  });
  return hasOnlyFiles ? { paths, digest: hash.digest('hex') } : null;
}
