import { isNullOid } from '../objects/asked-name.ts';
import { decodeNames } from '../objects/name-text.ts';
import type { Oid } from '../objects/store.ts';

/** A file as a tree or an index has it. */
interface DiffSide {
  mode: string;
  oid: Oid;
}

/** A path at which two of them differ; null where one has no file. */
export interface RawChange {
  path: string;
  before: DiffSide | null;
  after: DiffSide | null;
  /** There only for a path of an index that is in conflict: what it has there is several files, and neither side tells. */
  isUnmerged?: true;
}

/** For `diff-tree` and `diff-index --cached`. */
export const RAW = ['--raw', '-r', '-z', '--no-renames', '--no-abbrev'];

/** `:<mode> <mode> <id> <id> <status>`, and the path. */
export function parseRaw(out: Buffer): RawChange[] {
  const parts = decodeNames(out);
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) changes.push(parseChange(parts[at]!, parts[at + 1]!));
  return changes;
}

/** Reads the output for several commits, each begun by its id, as `--always` makes git write it. */
export function parseRaws(out: Buffer): RawChange[][] {
  const parts = decodeNames(out);
  const all: RawChange[][] = [];
  for (let at = 0; at < parts.length; at += 1) {
    if (parts[at]!.startsWith(':')) all.at(-1)!.push(parseChange(parts[at]!, parts[++at]!));
    else all.push([]);
  }
  return all;
}

function parseChange(line: string, path: string): RawChange {
  const [before = '', after = '', from = '', to = '', status] = line.slice(1).split(' ');
  const sides = { before: sideOf(before, from), after: sideOf(after, to) };
  return { path, ...sides, ...(status === 'U' ? { isUnmerged: true } : {}) };
}

function sideOf(mode: string, oid: Oid): DiffSide | null {
  return isNullOid(oid) ? null : { mode, oid };
}
