import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { Suite } from '../../core/record/verify.ts';
import type { SessionFolder } from '../history/growth.ts';
import { findSessions } from '../history/history.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';
import { dropCached } from '../tree/cache.ts';
import {
  type Covered,
  MOST_NEWEST,
  type Newest,
  newestCovered,
  readCovered,
  saveCovered,
  withNewest,
} from './covered.ts';
import { readUncovered } from './growth.ts';
import { hasAll, type LineFiles, openLineFiles } from './line-files.ts';
import { byNewestListed, formatLine, type ListedRecord, parseLine } from './listed-record.ts';
import { openPresence } from './presence.ts';

/** A record, and the folder of its session: to tell whether it is valid, that folder has to be judged. */
export interface FoundRecord {
  listed: ListedRecord;
  folder: SessionFolder;
}

/**
 * Finds records of a committed tree without reading all of them. It says where they are, and nothing about whether they hold. What it
 * knows follows from bytes alone, so one index serves all branches and all sets of keys; it may be deleted at any time.
 */
export interface RecordIndex {
  /** Those whose ids begin with these digits. */
  withId(digits: string): Promise<FoundRecord[]>;
  /** The newest of those that are wanted, the newest first. */
  newest(most: number, isWanted: (listed: ListedRecord) => boolean): Promise<FoundRecord[]>;
}

export interface IndexOptions {
  suite: Suite;
  /** Where it is kept between runs; its name says which build wrote it. Null: nowhere. */
  cacheFolder: string | null;
  onProgress?(checked: number): void;
}

/** Nothing is read before something is asked. */
export function openRecordIndex(source: Source, options: IndexOptions): RecordIndex {
  let opened: Promise<Opened | null> | undefined;
  const open = () => (opened ??= openLines(source, options));
  return {
    async withId(digits) {
      const index = await open();
      if (!index) return [];
      const whole = await withAllLines(index, source, options, digits);
      return findPresent(source, whole.sessions, whole.files.beginningWith(digits), Number.POSITIVE_INFINITY);
    },
    async newest(most, isWanted) {
      const index = await open();
      if (!index) return [];
      const matching = index.covered.newest.filter(isWanted);
      if (index.covered.after === null || matching.length >= most) return matching.slice(0, most).map(asFound);
      const whole = await withAllLines(index, source, options);
      return findPresent(source, whole.sessions, whole.files.all(), most, isWanted);
    },
  };
}

interface Opened extends IndexFolder {
  sessions: Entry;
  covered: Covered;
}

interface IndexFolder {
  files: LineFiles;
  /** Null: nothing is kept. */
  states: string | null;
}

/** Null where there are no sessions. */
async function openLines(source: Source, options: IndexOptions): Promise<Opened | null> {
  const sessions = await findSessions(source, () => {});
  if (!sessions) return null;
  const place = placeIn(options.cacheFolder);
  const same = place.states === null ? null : readCovered(place.states, sessions.oid!);
  if (same) return { ...place, sessions, covered: same };
  const base = place.states === null ? null : newestCovered(place.states);
  if (!base || hasAll(place.files, base.sizes)) return cover(place, sessions, base, source, options);
  return coverAnew(sessions, source, options);
}

function placeIn(folder: string | null): IndexFolder {
  return { files: openLineFiles(folder && join(folder, 'ids')), states: folder && join(folder, 'covered') };
}

/** Files that lost lines are of no use to any state: all of it goes, and this tree is read whole. */
async function withAllLines(index: Opened, source: Source, options: IndexOptions, digits?: string): Promise<Opened> {
  return hasAll(index.files, index.covered.sizes, digits) ? index : coverAnew(index.sessions, source, options);
}

function coverAnew(sessions: Entry, source: Source, options: IndexOptions): Promise<Opened> {
  if (options.cacheFolder !== null) dropCached(options.cacheFolder);
  return cover(placeIn(options.cacheFolder), sessions, null, source, options);
}

/** Reads what is not covered yet, and keeps it. The state is written last: it says that all lines are there. */
async function cover(
  place: IndexFolder,
  sessions: Entry,
  base: Covered | null,
  source: Source,
  options: IndexOptions,
): Promise<Opened> {
  const { files, states } = place;
  let isKept = states !== null;
  const keep = (records: readonly ListedRecord[]): void => {
    isKept = files.add(records.map(formatLine)) && isKept;
  };
  const read = (from: Covered | null) => readUncovered(sessions, from, { source, ...options }, keep);
  const grown = await read(base).catch((error) => {
    if (base === null || !isGone(error)) throw error;
    return read(null);
  });
  const newest = isShort(grown) ? await refill(source, sessions, files) : grown;
  const covered = { sessions: sessions.oid!, ...newest, sizes: files.sizes() };
  if (isKept) saveCovered(states!, covered);
  return { ...place, sessions, covered };
}

/** The objects of a branch that was deleted go away in time. If those of this tree are gone, the next reading says so. */
function isGone(error: unknown): boolean {
  return error instanceof HandoffError && error.code === 'io';
}

/** Another branch lacks some of the newest of the last one: before too few are left, they are taken from all lines. */
function isShort({ newest, after }: Newest): boolean {
  return after !== null && newest.length < MOST_NEWEST / 2;
}

async function refill(source: Source, sessions: Entry, files: LineFiles): Promise<Newest> {
  const found = await findPresent(source, sessions, files.all(), MOST_NEWEST + 1);
  return withNewest(
    { newest: [], after: null },
    found.map(({ listed, folder }) => ({ ...listed, tree: folder.entry.oid! })),
  );
}

/** The newest of these lines that this tree has: the others are of other branches, or there twice. */
async function findPresent(
  source: Source,
  sessions: Entry,
  lines: Iterable<string>,
  most: number,
  isWanted: (listed: ListedRecord) => boolean = () => true,
): Promise<FoundRecord[]> {
  const wanted = new Map<string, ListedRecord>();
  for (const line of lines) {
    const listed = parseLine(line);
    if (listed && isWanted(listed)) wanted.set(`${listed.path} ${listed.blob}`, listed);
  }
  const foldersWith = openPresence(source, sessions);
  const found: FoundRecord[] = [];
  for (const listed of [...wanted.values()].sort(byNewestListed)) {
    if (found.length >= most) break;
    for (const folder of await foldersWith(listed)) found.push({ listed, folder });
  }
  return found.slice(0, most);
}

function asFound({ tree, ...listed }: Covered['newest'][number]): FoundRecord {
  const path = listed.path.slice(0, listed.path.lastIndexOf('/'));
  const [owner, name] = path.split('/').slice(-2) as [string, string];
  return { listed, folder: { owner, entry: { path, name, mode: FOLDER, oid: tree }, isNew: false } };
}
