import { finding, type Report } from '../finding.ts';
import { reportDuplicates } from '../tree/layout.ts';
import { type Entry, FOLDER, type Source } from './source.ts';

/** The two sides of a merge, and where they parted: several commits after a criss-cross, none where they never met. */
export interface MergeSides {
  ours: Source;
  theirs: Source;
  bases: readonly Source[];
}

/**
 * One folder as merging theirs into ours leaves it, file by file, which is how records merge. Where both changed a file, ours
 * stays and it is reported. Everything outside the folder is theirs.
 */
export async function openMerged(sides: MergeSides, name: string, report: Report): Promise<Source> {
  const { ours, theirs, bases } = sides;
  const merged = new Map<string, Entry[]>();
  const all = [ours, theirs, ...bases];
  const merge = async ([mine, other, ...old]: (Entry | undefined)[]): Promise<Entry | undefined> => {
    if (isSame(mine, other) || old.every((entry) => isSame(entry, other))) return mine;
    if (old.every((entry) => isSame(entry, mine))) return other;
    // theirs has come from every one of the bases: what one of them has, and it has not, it deleted
    if (!other && old.some((entry) => entry !== undefined)) return undefined;
    if (![mine, other].every((entry) => entry?.mode === FOLDER)) {
      report(conflict((mine ?? other)!.path));
      return mine;
    }
    const lists = await Promise.all([mine, other, ...old].map((entry, at) => listFolder(all[at]!, entry)));
    reportDuplicates(lists[1]!, report);
    const named = lists.map((list) => new Map(list.map((entry) => [entry.name, entry])));
    const names = new Set(lists.flat().map((entry) => entry.name));
    const entries: Entry[] = [];
    for (const each of names) {
      const found = await merge(named.map((list) => list.get(each)));
      if (found) entries.push(found);
    }
    merged.set(mine!.path, entries);
    return { ...mine!, oid: null };
  };
  const roots = await Promise.all(all.map((source) => source.root()));
  const never = bases.length === 0 ? [undefined] : [];
  reportDuplicates(
    roots[1]!.filter((entry) => entry.name === name),
    report,
  );
  const top = await merge([...roots.map((root) => root.find((entry) => entry.name === name)), ...never]);
  const others = roots[1]!.filter((entry) => entry.name !== name);
  return {
    oid: null,
    root: async () => (top ? [...others, top] : others),
    // theirs may be merged itself: what only that has may be a folder that git has not
    list: async (folder) =>
      folder.oid === null ? (merged.get(folder.path) ?? theirs.list(folder)) : ours.list(folder),
    read: (file, limit) => ours.read(file, limit),
    readAll: (files, limit) => ours.readAll(files, limit),
  };
}

async function listFolder(source: Source, entry: Entry | undefined): Promise<Entry[]> {
  return entry?.mode === FOLDER ? source.list(entry) : [];
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode;
}

function conflict(path: string): ReturnType<typeof finding> {
  const hint = 'Merge the protected branch into this one, keep what it has at that path, then try again.';
  return finding('record_changed', path, 'a file that only one side has changed', 'changed on both sides', hint);
}
