import { assertOid } from '../objects/asked-name.ts';
import { objectId } from '../objects/loose-object.ts';
import { decodeName } from '../objects/name-text.ts';
import type { Oid } from '../objects/store.ts';
import { runGit } from '../run.ts';
import { isFileMode } from './patch-reader.ts';
import type { Workshop } from './workshop.ts';

/** What git makes of two sides by itself. */
export interface Merged {
  tree: Oid;
  /** Paths that git leaves to a person to resolve, whatever it wrote there: conflict marks, or one side unchanged. */
  conflicts: Conflict[];
}

export interface Conflict {
  path: string;
  /** No link, no submodule, on any side. */
  isFile: boolean;
  /** An empty file, on every side that has it. */
  isEmpty: boolean;
}

/** Makes merges again, each once, as git does where nobody has configured anything. */
export interface Merger {
  /** Null where git makes nothing of them: histories that never met, more than two sides that conflict, a git before 2.38. */
  merge(sides: readonly (readonly Oid[])[]): Promise<(Merged | null)[]>;
  /** What `git cherry-pick` of a change would make of another tree. */
  pick(picks: readonly Pick[]): Promise<(Merged | null)[]>;
}

/** Three trees: a change from one to another, and what it is applied to. */
export interface Pick {
  before: Oid;
  after: Oid;
  onto: Oid;
}

/** `spend` is told how many are about to be made, and throws where that is too much. */
export function openMerger(workshop: Workshop, spend: (merges: number) => void = () => {}): Merger {
  const mergedPairs = new Map<string, Merged | null>();
  const mergePairs = async (pairs: readonly Pair[]): Promise<(Merged | null)[]> => {
    const asked = [...new Map(pairs.map((pair) => [pair.join(' '), pair]))].filter(([key]) => !mergedPairs.has(key));
    if (asked.length > 0) spend(asked.length);
    const made = await makePairs(
      workshop,
      asked.map(([, pair]) => pair),
    );
    for (const [at, [key]] of asked.entries()) mergedPairs.set(key, made[at]!);
    return pairs.map((pair) => mergedPairs.get(pair.join(' '))!);
  };
  const mergeMany = async (sides: readonly Oid[]): Promise<Merged | null> => {
    const [first, ...others] = sides;
    let side = first!;
    let merged: Merged | null = null;
    for (const [at, other] of others.entries()) {
      [merged = null] = await mergePairs([[side, other]]);
      if (!merged || at === others.length - 1) return merged;
      if (merged.conflicts.length > 0) return null;
      side = workshop.writeCommit(merged.tree, [side, other]);
    }
    return merged;
  };
  return {
    async merge(sides) {
      await mergePairs(sides.filter(isPair));
      const made: (Merged | null)[] = [];
      for (const each of sides) made.push(await mergeMany(each));
      return made;
    },
    pick: (picks) => mergePairs(picks.map((pick) => sidesOf(workshop, pick))),
  };
}

type Pair = readonly [Oid, Oid];

function isPair(sides: readonly Oid[]): sides is Pair {
  return sides.length === 2;
}

/** Two commits that part where the change begins. */
function sidesOf(workshop: Workshop, { before, after, onto }: Pick): Pair {
  const base = workshop.writeCommit(before, []);
  return [workshop.writeCommit(onto, [base]), workshop.writeCommit(after, [base])];
}

/** These are git's defaults, given explicitly because defaults change from version to version. */
const CONFIG = {
  'merge.renames': 'true',
  'merge.renameLimit': '7000',
  'merge.directoryRenames': 'conflict',
  'merge.renormalize': 'false',
  'merge.conflictStyle': 'merge',
};

const ARGS = ['merge-tree', '--write-tree', '--no-messages', '-z'];

/** Looking for renames among thousands of files can take minutes. What was not made in time counts as not made. */
const TIMEOUT = 60_000;

/** All by one process as far as it gets: none before git 2.39, and none after two histories that never met. */
async function makePairs(workshop: Workshop, pairs: readonly Pair[]): Promise<(Merged | null)[]> {
  for (const oid of pairs.flat()) assertOid(oid);
  const made: (Merged | null)[] = pairs.length > 1 ? await makeAtOnce(workshop, pairs) : [];
  while (made.length < pairs.length) {
    made.push(await makeOne(workshop, pairs[made.length]!));
    if (made.length < pairs.length) made.push(...(await makeAtOnce(workshop, pairs.slice(made.length))));
  }
  return made;
}

async function makeAtOnce({ git }: Workshop, pairs: readonly Pair[]): Promise<(Merged | null)[]> {
  const input = pairs.map((sides) => `${sides.join(' ')}\n`).join('');
  const options = { config: CONFIG, input, timeout: TIMEOUT };
  const { stdout } = await runGit(git, [...ARGS, '--stdin'], options);
  const text = stdout.toString('latin1');
  // a status, the tree, each file in conflict, and nothing
  const answers = [...text.matchAll(/([01])\0([0-9a-f]{40,64})\0((?:[^\0]+\0)*)\0/gy)];
  return answers.map(([, status, tree, files]) => toMerged(status === '1', tree!, files!));
}

async function makeOne({ git }: Workshop, pair: Pair): Promise<Merged | null> {
  const { code, stdout } = await runGit(git, [...ARGS, ...pair], { config: CONFIG, timeout: TIMEOUT });
  const [, tree, files] = /^([0-9a-f]{40,64})\0((?:[^\0]+\0)*)/.exec(stdout.toString('latin1')) ?? [];
  return code > 1 || tree === undefined ? null : toMerged(code === 0, tree, files!);
}

/** A conflict can be about no file, as where a folder was renamed to two: then nobody knows what git decided. */
function toMerged(isClean: boolean, tree: Oid, files: string): Merged | null {
  const conflicts = parseConflicts(files);
  return isClean === (conflicts.length === 0) ? { tree, conflicts } : null;
}

/** `<mode> <id> <stage>\t<path>`, once for each side that has it. */
function parseConflicts(text: string): Conflict[] {
  const found = new Map<string, Conflict>();
  for (const [, mode, oid, name] of text.matchAll(/(\d{6}) ([0-9a-f]+) [123]\t([^\0]+)\0/g)) {
    const path = decodeName(Buffer.from(name!, 'latin1'));
    const { isFile, isEmpty } = found.get(path) ?? { isFile: true, isEmpty: true };
    found.set(path, { path, isFile: isFile && isFileMode(mode!), isEmpty: isEmpty && isEmptyBlob(oid!) });
  }
  return [...found.values()];
}

function isEmptyBlob(oid: Oid): boolean {
  return oid === objectId(oid.length === 40 ? 'sha1' : 'sha256', 'blob', new Uint8Array());
}
