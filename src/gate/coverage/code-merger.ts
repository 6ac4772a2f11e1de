import type { Merged, Pick } from '../../git/changes/remerge.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';
import { oldestFirst, parentsIn, readLineage } from './lineage.ts';

/** What git makes of code alone, and the code of the tree that it is compared with. */
export interface Remade extends Merged {
  compared: Oid;
}

interface AskedMerge {
  sides: readonly Oid[];
  /** The tree that somebody made of them. */
  tree: Oid;
}

export interface AskedPick extends Pick {
  tree: Oid;
}

/** Null where git makes nothing of it. */
export interface CodeMerger {
  merge(asked: readonly AskedMerge[]): Promise<(Remade | null)[]>;
  pick(asked: readonly AskedPick[]): Promise<(Remade | null)[]>;
}

/**
 * SPEC §10.4.2: of code alone. Git follows a file that one side renamed by looking for a new file that is alike, and it
 * knows nothing of accounts. Where it saw what is no code, a copy of some code that was left there would be taken for that code:
 * what was done to the copy would get into the code, or what was done to the code into the copy.
 */
export function openCodeMerger(comparer: Comparer, { sieve }: CodeOf): CodeMerger {
  const { merger } = comparer;
  return {
    async merge(asked) {
      const ready: AskedMerge[] = [];
      for (const each of asked) ready.push(await copyCode(comparer, sieve, each));
      const made = await merger.merge(ready.map(({ sides }) => sides));
      return made.map((merged, at) => merged && { ...merged, compared: ready[at]!.tree });
    },
    async pick(asked) {
      const ready: AskedPick[] = [];
      for (const { before, after, onto, tree } of asked) {
        const sifted = await comparer.sift(sieve, [before, after, onto, tree]);
        ready.push({ before: sifted[0]!, after: sifted[1]!, onto: sifted[2]!, tree: sifted[3]! });
      }
      const made = await merger.pick(ready);
      return made.map((merged, at) => merged && { ...merged, compared: ready[at]!.tree });
    },
  };
}

/** The same merge of commits that have the code and nothing else, and that came about as these did. */
async function copyCode(comparer: Comparer, sieve: CodeOf['sieve'], { sides, tree }: AskedMerge): Promise<AskedMerge> {
  const lineage = await readLineage(sides, paidMergeBases(comparer));
  const commits = await Promise.all(oldestFirst(lineage).map((oid) => comparer.store.readCommit(oid)));
  const roots = [tree, ...commits.map((commit) => commit.tree)];
  const [compared, ...code] = await comparer.sift(sieve, roots);
  const copies = new Map<Oid, Oid>();
  for (const [at, { oid, committer }] of commits.entries()) {
    const parents = parentsIn(lineage, oid).map((parent) => copies.get(parent)!);
    copies.set(oid, comparer.writeCommit(code[at]!, parents, { oid, date: dateIn(committer) }));
  }
  return { sides: sides.map((oid) => copies.get(oid)!), tree: compared! };
}

/** Where there are more than two sides, or merge bases, git merges these as well: to ask about them costs as much. */
function paidMergeBases({ mergeBases, spend }: Comparer): Comparer['mergeBases'] {
  let isFirst = true;
  return (a, b) => {
    if (!isFirst) spend(1);
    isFirst = false;
    return mergeBases(a, b);
  };
}

/** As git reads it. */
function dateIn(committer: string): string {
  return /> *(\d{1,19})/.exec(committer)?.[1] ?? '0';
}
