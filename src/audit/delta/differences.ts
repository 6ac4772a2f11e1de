import { ROOT } from '../../core/paths.ts';
import type { Report } from '../finding.ts';
import { FOLDERS_AT_ONCE, limiter } from '../source/limit.ts';
import { type Entry, FOLDER, type Source } from '../source/source.ts';
import { reportDuplicates } from '../tree/layout.ts';
import type { PathUse } from '../tree/path-use.ts';

/** What was there, and what is to take its place. */
export interface TreePair {
  before: Source;
  now: Source;
}

/** A file (a link, a submodule, a folder that holds nothing) that is not the same in two trees. */
export interface Difference {
  path: string;
  before: Entry | null;
  now: Entry | null;
  /** The folder that it is in; null where that folder is gone. */
  folder: Entry | null;
  /** Whether that folder was there before. */
  isInNewFolder: boolean;
}

/** A difference, and what its path is for. */
export type Placed = Difference & { use: PathUse | null };

/** What is not the same in two folders, all the way down. What is the same is not looked into. */
export async function readDifferences(
  trees: TreePair,
  pair: { before: Entry | null; now: Entry | null },
  report: Report,
): Promise<Difference[]> {
  const limit = limiter(FOLDERS_AT_ONCE);
  const walk = async (before: Entry | null, now: Entry | null, parent: Parent): Promise<Difference[]> => {
    if (before && now && isSame(before, now)) return [];
    const leaves = leavesOf(before, now, parent);
    const [from, to] = [folderOf(before), folderOf(now)];
    if (!from && !to) return leaves;
    const [old, entries] = await limit(1, () => listBoth(trees, from, to));
    reportDuplicates(entries, report);
    if (to && entries.length === 0 && old.length === 0) return [...leaves, { ...leaf(null, to, parent) }];
    const inside: Parent = { folder: to, isNew: from === null };
    const byName = new Map(old.map((entry) => [entry.name, entry]));
    const names = new Set(entries.map(({ name }) => name));
    const gone = old.filter(({ name }) => !names.has(name)).map((entry) => walk(entry, null, inside));
    const here = entries.map((entry) => walk(byName.get(entry.name) ?? null, entry, inside));
    return [...leaves, ...(await Promise.all([...gone, ...here])).flat()];
  };
  return walk(pair.before, pair.now, { folder: null, isNew: false });
}

/** Whether an entry is not among others, be it by name, mode or content. A root may have thousands. */
export function unlike(others: readonly Entry[]): (entry: Entry) => boolean {
  const identities = new Set(others.map(identityOf));
  return (entry) => !identities.has(identityOf(entry));
}

function identityOf({ mode, oid, name }: Entry): string {
  return `${mode} ${oid} ${name}`;
}

interface Parent {
  folder: Entry | null;
  isNew: boolean;
}

function leavesOf(before: Entry | null, now: Entry | null, parent: Parent): Difference[] {
  const [old, entry] = [before, now].map((each) => (each && each.mode !== FOLDER ? each : null)) as [
    Entry | null,
    Entry | null,
  ];
  return old || entry ? [leaf(old, entry, parent)] : [];
}

function leaf(before: Entry | null, now: Entry | null, { folder, isNew }: Parent): Difference {
  return { path: (now ?? before)!.path, before, now, folder, isInNewFolder: isNew };
}

function folderOf(entry: Entry | null): Entry | null {
  return entry?.mode === FOLDER ? entry : null;
}

/**
 * An identity may have thousands of sessions: the ones at the beginning that are equal in both trees are left out. A session that is
 * listed twice is noticed by its id. In all other folders a name may be listed twice, or in another case, so all names are looked at.
 */
async function listBoth({ before, now }: TreePair, from: Entry | null, to: Entry | null): Promise<[Entry[], Entry[]]> {
  if (from?.oid && to?.oid && now.compare && isOfSessions(to)) return now.compare(from, to);
  return Promise.all([from ? before.list(from) : [], to ? now.list(to) : []]);
}

function isOfSessions({ path }: Entry): boolean {
  return path.startsWith(`${ROOT}/sessions/`) && path.split('/').length === 3;
}

function isSame(a: Entry, b: Entry): boolean {
  return a.oid !== null && a.oid === b.oid && a.mode === b.mode;
}
