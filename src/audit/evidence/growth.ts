import { isIdentityName } from '../../core/names.ts';
import { parseSessionFolder } from '../../core/paths.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Suite } from '../../core/record/verify.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Oid } from '../../git/objects/store.ts';
import { newEntries } from '../source/new-entries.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';
import { sessionReader } from '../tree/session-records.ts';
import type { Kept } from './shards.ts';
import { isStanding, labelsOf, openStanding, type Standing } from './standing.ts';
import { keys, keysOf, shorten } from './trace.ts';

/** The `sessions` folder whose traces are all kept, and how its identities were judged. */
export interface Covered {
  sessions: Oid;
  standings: Standing[];
  /** False where identities are missing that nobody has got to yet. */
  isWhole: boolean;
}

interface Context {
  source: Source;
  trust: Trust;
  suite: Suite;
  onProgress?(checked: number): void;
}

/** What was read of the sessions, to be kept together with what is covered by then. */
type Keep = (kept: readonly Kept[], covered: Covered) => void;

/** Kept before the next are read: whoever has little time, as a gate has, goes on where the last one was stopped. */
const FOLDERS_AT_A_TIME = 512;

/** Reads every session of a folder that is not covered yet. */
export async function readUncovered(now: Entry, covered: Covered | null, context: Context, keep: Keep): Promise<void> {
  const { source, trust } = context;
  const before = covered ? await source.list({ ...now, oid: covered.sessions }) : [];
  const byOwner = new Map((covered?.standings ?? []).map((standing) => [standing.owner, standing]));
  const done = new Map<string, Standing>();
  const reached = (isWhole: boolean) => ({ sessions: now.oid!, standings: [...done.values()], isWhole });
  let waiting: Kept[] = [];
  let folders = 0;
  for (const owner of (await source.list(now)).filter(isOwner)) {
    const standing = standingNow(byOwner.get(owner.name), owner.name, trust);
    const old =
      byOwner.has(owner.name) && standing.isKnown ? before.find(({ name }) => name === owner.name) : undefined;
    const news = await uncovered(source, old ?? null, owner, standing.upTo);
    for (let at = 0; at < news.length || at === 0; at += FOLDERS_AT_A_TIME) {
      const batch = news.slice(at, at + FOLDERS_AT_A_TIME);
      for (const trace of await readFolders(batch, standing, context)) waiting.push(trace);
      const isLast = at + FOLDERS_AT_A_TIME >= news.length;
      const { isKnown: _, ...noted } = standing;
      done.set(owner.name, { ...noted, upTo: isLast ? null : batch.at(-1)!.entry.name });
      folders += batch.length;
      if (folders < FOLDERS_AT_A_TIME) continue;
      keep(waiting, reached(false));
      [waiting, folders] = [[], 0];
    }
  }
  keep(waiting, reached(true));
}

/** What was kept about an identity, if it is still judged the same way; else an empty start. */
function standingNow(before: Standing | undefined, owner: string, trust: Trust): Standing & { isKnown: boolean } {
  const opened = openStanding(owner, trust);
  const isKnown = before !== undefined && isStanding(before, trust);
  return isKnown ? { ...before, whole: opened.whole, isKnown } : { ...opened, isKnown };
}

function isOwner({ name, mode }: Entry): boolean {
  return mode === FOLDER && isIdentityName(name);
}

interface Uncovered {
  entry: Entry;
  /** As it was when it was last read. */
  old: Entry | null;
}

/** The sessions of an identity that are new, have changed since they were read, or were left unread when a process was stopped. */
async function uncovered(source: Source, old: Entry | null, now: Entry, upTo: string | null): Promise<Uncovered[]> {
  if (old !== null && old.oid === now.oid && upTo === null) return [];
  const { entries, before } = await newEntries(source, upTo === null ? old : null, now);
  const were = upTo === null || !old ? before : new Map((await source.list(old)).map((entry) => [entry.name, entry]));
  const isRead = ({ name }: Entry): boolean => upTo === null || name <= upTo;
  return entries
    .filter(({ name, mode }) => mode === FOLDER && parseSessionFolder(name))
    .map((entry) => ({ entry, old: (isRead(entry) && were.get(entry.name)) || null }))
    .filter(({ entry, old: was }) => was?.oid !== entry.oid)
    .sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
}

/** The new records of these sessions; what they are judged by is noted. */
async function readFolders(folders: readonly Uncovered[], standing: Standing, context: Context): Promise<Kept[]> {
  const read = sessionReader(context, () => {
    standing.isClean = false;
  });
  const kept = folders.map(async ({ entry, old }) => {
    const { records } = await read({ owner: standing.owner, entry, isNew: true });
    return traces(entry, old, records, standing, context);
  });
  return (await Promise.all(kept)).flat();
}

async function traces(
  folder: Entry,
  old: Entry | null,
  records: readonly PlacedRecord[],
  standing: Standing,
  { source, trust }: Context,
): Promise<Kept[]> {
  const identity = trust.identities.get(standing.owner);
  const labels = labelsOf(records, identity);
  standing.used = [...new Set([...standing.used, ...(labels.at(-1) ?? [])])];
  const { entries } = await newEntries(source, old, folder);
  const files = new Map(entries.map((file) => [file.path, file]));
  const seenLocks = new Set<string>();
  return records.flatMap((placed, at) => {
    const file = files.get(placed.path);
    const { owner, role } = standing;
    const where = { owner, role, labels: labels[at]!, tree: folder.oid!, blob: file?.oid ?? '' };
    const found = keysOf(placed).filter((key) => isNews(placed, key, seenLocks));
    return file ? found.map((key) => ({ key, trace: { ...shorten(placed, key), ...where } })) : [];
  });
}

/** A session may write many records under one number of a lock: the first of them is enough to tell that it held it. */
function isNews(placed: PlacedRecord, key: string, seenLocks: Set<string>): boolean {
  const { lock } = placed.record.fields;
  if (!lock || key !== keys.lock(lock.task)) return true;
  const held = `${key} ${lock.token}`;
  if (seenLocks.has(held)) return false;
  seenLocks.add(held);
  return true;
}
