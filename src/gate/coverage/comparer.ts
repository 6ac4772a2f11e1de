import type { Budget } from '../../core/budget.ts';
import { oncePer } from '../../core/once.ts';
import { ROOT } from '../../core/paths.ts';
import { type ChangeReader, openChanges } from '../../git/changes/changes.ts';
import { parseRaws, RAW, type RawChange } from '../../git/changes/raw-diff.ts';
import { type Merger, openMerger } from '../../git/changes/remerge.ts';
import { openWorkshop, type Workshop } from '../../git/changes/workshop.ts';
import type { GitStore, Oid } from '../../git/objects/store.ts';
import { openTreeReader } from '../../git/objects/tree-reader.ts';
import { type Git, readGit, withoutIndex } from '../../git/run.ts';
import type { Trees } from '../../git/trees/tree-edit.ts';
import { type Sieve, siftTrees } from '../../git/trees/tree-sift.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';

/** What commits are compared and made again with. Nothing but objects decides what comes out of it. */
export interface Comparer extends Pick<Workshop, 'writeCommit'> {
  git: Git;
  store: GitStore;
  changes: ChangeReader;
  merger: Merger;
  /** One after the other, whoever asks: each may hold folders as large as there is room for. What it makes is seen here and nowhere else. */
  sift(sieve: Sieve, roots: readonly Oid[]): Promise<Oid[]>;
  /** In which files commits differ from a parent, or from any other commit, records included. All by one process. */
  readRaw(compared: readonly Compared[]): Promise<RawChange[][]>;
  /** The commits that `git rebase` picks: with one parent, in head and not in base, and whose patch base does not have yet. */
  readUnlike(base: Oid, head: Oid): Promise<Oid[]>;
  /** Each pair is asked for once. */
  mergeBases(a: Oid, b: Oid): Promise<Oid[]>;
  /** Is told how many merges are about to be made. */
  spend(merges: number): void;
  close(): Promise<void>;
}

/** It gets ready while something else is read. Without a budget nothing is too much: for what is one's own. */
export function openComparer(
  { git, store, dirs }: GitAccess & Directories,
  budget?: Pick<Budget, 'spend' | 'assertFits'>,
): Comparer {
  const workshop = openWorkshop(git, dirs.commonDir);
  const changes = openChanges(workshop.git, ROOT);
  const reader = openTreeReader(workshop.git);
  const trees: Trees = { read: reader.read, write: async (type, bytes) => workshop.write(type, bytes) };
  const inTurn = openTurns();
  const spend = (merges: number): void => budget?.spend('merges', merges);
  return {
    git,
    store,
    changes,
    merger: openMerger(workshop, spend),
    sift: (sieve, roots) => inTurn(() => siftTrees(trees, sieve, roots, budget?.assertFits)),
    writeCommit: workshop.writeCommit,
    readRaw: (compared) => readRaw(workshop.git, compared),
    readUnlike: (base, head) => readUnlike(workshop.git, base, head),
    mergeBases: oncePerPair((a, b) => store.mergeBases(a, b)),
    spend,
    async close() {
      await Promise.all([changes.close(), reader.close()]);
      workshop.close();
    },
  };
}

/** A commit that has no parent is compared with nothing. */
interface Compared {
  commit: Oid;
  parent?: Oid;
}

async function readRaw(git: Git, compared: readonly Compared[]): Promise<RawChange[][]> {
  const lines = compared.map(({ commit, parent }) => (parent === undefined ? commit : `${commit} ${parent}`));
  const input = lines.map((line) => `${line}\n`).join('');
  const args = ['diff-tree', '--stdin', '--root', '--always', ...RAW, '--ignore-submodules=none'];
  return parseRaws(await readGit(withoutIndex(git), args, { input }));
}

async function readUnlike(git: Git, base: Oid, head: Oid): Promise<Oid[]> {
  const args = ['rev-list', '--cherry-pick', '--right-only', '--no-merges', `${base}...${head}`, '--'];
  return (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
}

/** Runs what it is given one after the other. */
function openTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => {}); // whoever asked for it is told
    return turn;
  };
}

function oncePerPair<T>(read: (a: Oid, b: Oid) => Promise<T>): (a: Oid, b: Oid) => Promise<T> {
  const readPair = oncePer(
    ([a, b]: readonly [Oid, Oid]) => read(a, b),
    (pair) => pair.join(' '),
  );
  return (a, b) => readPair([a, b]);
}
