import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { byNewest, type StoryMoment } from '../../core/session/newest.ts';
import { isOid } from '../../git/objects/asked-name.ts';
import type { Oid } from '../../git/objects/store.ts';
import { dropCached, newestCached, readCached, writeCached } from '../tree/cache.ts';
import { byNewestListed, type ListedRecord } from './listed-record.ts';

/** A record of one tree, with the folder of its session as it is there. */
export interface NewestRecord extends ListedRecord {
  tree: Oid;
}

/** The `sessions` folder whose records all have a line in the index, and the newest of these records. */
export interface Covered extends Newest {
  sessions: Oid;
  /** The sizes of the index files when this was written. */
  sizes: number[];
}

export interface Newest {
  /** The newest first. */
  newest: NewestRecord[];
  /** Every record that is newer than this is among them; null: all are. */
  after: StoryMoment | null;
}

/** So many are kept: whoever asks for more has all lines read. */
export const MOST_NEWEST = 256;

/** Adds records to the newest of a tree. What is not newer than what was left out before is left out too. */
export function withNewest({ newest, after }: Newest, added: readonly NewestRecord[]): Newest {
  const isIn = (record: StoryMoment, last: StoryMoment | null): boolean => last === null || byNewest(record, last) < 0;
  const all = [...newest, ...added.filter((record) => isIn(record, after))].sort(byNewestListed);
  const out = all[MOST_NEWEST];
  if (!out) return { newest: all, after };
  const last = { clock: out.clock, delta_id: out.delta_id };
  return { newest: all.slice(0, MOST_NEWEST).filter((record) => isIn(record, last)), after: last };
}

/** A branch or two, and where they were before. */
const STATES = 8;

/** Null where it is not covered; a file that was cut off, or that somebody else wrote, covers nothing. */
export function readCovered(folder: string, sessions: Oid): Covered | null {
  const covered = parseJson<Partial<Covered>>(readCached(join(folder, sessions)));
  return isCovered(covered) && covered.sessions === sessions ? covered : null;
}

function isCovered(covered: Partial<Covered> | null): covered is Covered {
  const { newest, sizes, after } = covered ?? {};
  return Array.isArray(newest) && newest.every(isNewest) && Array.isArray(sizes) && after !== undefined;
}

function isNewest(record: Partial<NewestRecord> | null): boolean {
  const { path, tree, clock, delta_id } = record ?? {};
  return [path, tree, delta_id].every((text) => typeof text === 'string') && isOid(tree!) && Number.isInteger(clock);
}

export function newestCovered(folder: string): Covered | null {
  const name = newestCached(folder).find(isOid);
  return name === undefined ? null : readCovered(folder, name);
}

export function saveCovered(folder: string, covered: Covered): void {
  writeCached(join(folder, covered.sessions), covered);
  for (const name of newestCached(folder).slice(STATES)) dropCached(join(folder, name));
}
