import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Range, RangeCommit } from '../../git/refs/range.ts';
import type { Covers } from './ancestry.ts';
import type { OwnChanges } from './own-changes.ts';
import type { Repeats, SingleCommit } from './repeats.ts';

/** How thoughts are tied to the commits of a change. */
interface Anchors {
  covers: Covers<Account>;
  /** Also those that cover nothing here, because what they are about is there already. */
  anchored: Set<Account>;
  /** Commits that are what git made of a thought's commit elsewhere: it may have moved a path. */
  moved: Set<Oid>;
}

export interface AnchorCase {
  range: Range;
  head: Oid;
  own: OwnChanges;
  repeats: Repeats;
  /** What a thought is about, as far as it is to be had. */
  stepOf(account: Account): Promise<Step>;
}

/** What was done, where it can still be read. */
export interface Step {
  /** Whether the thought's commit is here. */
  isHere: boolean;
  /** Its commits by their patch ids. */
  commits: ReadonlyMap<string, readonly SingleCommit[]>;
  /** Whether a commit comes after all that the thought's commit and the protected branch have in common. */
  isAhead(commit: SingleCommit): Promise<boolean>;
}

/** Finds what git has moved. */
export interface Anchoring {
  found: Anchors;
  /** By patches, which costs next to nothing. */
  byPatch(accounts: Iterable<Account>): Promise<void>;
  /** By merging and picking again; of each thought once, as the answer stays what it is. */
  byTree(account: Account): Promise<void>;
}

/**
 * SPEC §10.4, step 3: after squash, rebase or cherry-pick the commits are others, and what they do is the same. All of what a
 * thought is about must be there: half of it is something else, which nobody has accounted for.
 */
export function openAnchoring(input: AnchorCase): Anchoring {
  const { range, own } = input;
  const free = range.commits.filter(({ oid, parents }) => parents.length < 2 && own.get(oid)?.patchId).reverse();
  const alike = groupByPatch(free, own);
  const found: Anchors = { covers: new Map(), anchored: new Set(), moved: new Set() };
  const tried = new Set<Account>();
  const apply = async (account: Account, rules: readonly Rule[]): Promise<void> => {
    if (free.length === 0 || found.anchored.has(account)) return;
    for (const rule of rules) if (note(found, account, await rule({ ...input, free, alike }, account))) return;
  };
  return {
    found,
    async byPatch(accounts) {
      for (const account of accounts) await apply(account, BY_PATCH);
    },
    async byTree(account) {
      if (tried.has(account)) return;
      tried.add(account);
      await apply(account, BY_TREE);
    },
  };
}

/** The commits that may do what a thought is about, the oldest first. */
interface Candidates extends AnchorCase {
  free: readonly RangeCommit[];
  alike: ReadonlyMap<string, readonly RangeCommit[]>;
}

function groupByPatch(free: readonly RangeCommit[], own: OwnChanges): Map<string, RangeCommit[]> {
  const groups = new Map<string, RangeCommit[]>();
  for (const commit of free) {
    const patchId = own.get(commit.oid)!.patchId!;
    const group = groups.get(patchId);
    if (group) group.push(commit);
    else groups.set(patchId, [commit]);
  }
  return groups;
}

/** Commits that do what a thought is about, and whether git moved them there. */
type Found = Map<Oid, { isMoved: boolean }>;

type Rule = (input: Candidates, account: Account) => Promise<Found | null>;

function note({ covers, anchored, moved }: Anchors, account: Account, commits: Found | null): boolean {
  if (!commits) return false;
  anchored.add(account);
  if (commits.size > 0) covers.set(account, new Set(commits.keys()));
  for (const [oid, { isMoved }] of commits) if (isMoved) moved.add(oid);
  return true;
}

/** One commit that does all of it: a squash. The same patch may be another change, at a place that looks alike. */
async function wholeByPatch({ alike, repeats, stepOf }: Candidates, account: Account): Promise<Found | null> {
  for (const commit of alike.get(account.wholePatchId ?? '') ?? []) {
    const originals = [...(await stepOf(account)).commits.values()].flat();
    const all = await Promise.all([commit, ...originals].map((each) => repeats.fitsOnce(each)));
    if (all.every(Boolean)) return new Map([[commit.oid, AS_IT_WAS]]);
  }
  return null;
}

/** The same where lines nearby had changed: git makes it of the thought's commit and of what the squash was put on. */
async function wholeByTree(input: Candidates, account: Account): Promise<Found | null> {
  if (account.files.length === 0 || !(await input.stepOf(account)).isHere) return null;
  const difference = ({ oid }: RangeCommit) => Math.abs(input.own.get(oid)!.paths.length - account.files.length);
  const likely = [...input.free].sort((a, b) => difference(a) - difference(b)).slice(0, MOST_LIKELY);
  const ahead = await filterAsync(likely, (await input.stepOf(account)).isAhead);
  const commit = await input.repeats.firstMergeOf(ahead, account.commit);
  return commit ? new Map([[commit.oid, MOVED]]) : null;
}

/** A squash changes as many files as all that it squashes: only commits that come near it are made again. */
const MOST_LIKELY = 8;

/** A commit for each of its commits: a rebase, or a cherry-pick of all of them. */
async function eachByPatch(input: Candidates, account: Account): Promise<Found | null> {
  const ids = eachPatchId(account);
  if (ids.length === 0 || !ids.every((id) => input.alike.has(id))) return null;
  const { commits } = await input.stepOf(account);
  const found: Found = new Map();
  for (const patchId of ids) {
    const same = await findSame(input, found, patchId, commits.get(patchId) ?? []);
    if (!same) return null;
    found.set(same.oid, AS_IT_WAS);
  }
  return found;
}

/** As often as the thought has it: what was taken back and done again is there twice. */
function eachPatchId({ commitPatchIds }: Account): string[] {
  return [...commitPatchIds].flatMap(([id, count]) => Array.from({ length: count }, () => id));
}

/** The first that has a patch id, and is not taken yet. */
async function findSame(
  input: Candidates,
  taken: Found,
  patchId: string,
  originals: readonly SingleCommit[],
): Promise<RangeCommit | undefined> {
  const alike = (input.alike.get(patchId) ?? []).filter(({ oid }) => !taken.has(oid));
  return findAsync(alike, (commit) => fitsAsPatch(input, commit, originals));
}

/** The same where lines nearby had changed, or where the protected branch has some of it by now. */
async function eachByTree(input: Candidates, account: Account): Promise<Found | null> {
  if (account.commitPatchIds.size === 0) return null;
  const { commits, isAhead } = await input.stepOf(account);
  const found: Found = new Map();
  for (const patchId of eachPatchId(account)) {
    const originals = commits.get(patchId) ?? [];
    const same = await findSame(input, found, patchId, originals);
    const moved = same ?? (await findPick(input, found, originals, isAhead));
    if (moved) found.set(moved.oid, same ? AS_IT_WAS : MOVED);
    else if ((await input.repeats.doneAt(input.head, originals)).length === 0) return null;
  }
  return found;
}

/** The first that git has made of one of these, and that is not taken yet. */
async function findPick(
  { free, repeats }: Candidates,
  taken: Found,
  originals: readonly SingleCommit[],
  isAhead: Step['isAhead'],
): Promise<RangeCommit | undefined> {
  if (originals.length === 0) return undefined;
  const left = await filterAsync(
    free.filter(({ oid }) => !taken.has(oid)),
    isAhead,
  );
  for (const original of originals) {
    const pick = await repeats.firstPickOf(left, original);
    if (pick) return pick;
  }
  return undefined;
}

const AS_IT_WAS = { isMoved: false };
const MOVED = { isMoved: true };

/** Where all of it is there and no commit tells, it covers nothing, and yet it is there. */
const someByTree: Rule = async (input, account) => {
  const found = await eachByTree(input, account);
  return found && found.size > 0 ? found : null;
};

// what was done, taken back and done again is as a whole what its first commit is: each commit goes before the whole
const BY_PATCH: readonly Rule[] = [eachByPatch, wholeByPatch];
const BY_TREE: readonly Rule[] = [someByTree, wholeByTree, eachByTree];

/** The same patch may be another change, at a place that looks alike: where that can be, git tells. */
async function fitsAsPatch(
  { repeats }: AnchorCase,
  commit: SingleCommit,
  originals: readonly SingleCommit[],
): Promise<boolean> {
  const all = await Promise.all([commit, ...originals].map((each) => repeats.fitsOnce(each)));
  if (all.every(Boolean)) return true;
  return (await findAsync(originals, (original) => repeats.isPickOf(commit, original))) !== undefined;
}

async function filterAsync<T>(list: readonly T[], isIt: (item: T) => Promise<boolean>): Promise<T[]> {
  const answers = await Promise.all(list.map(isIt));
  return list.filter((_, at) => answers[at]);
}

async function findAsync<T>(list: readonly T[], isIt: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of list) if (await isIt(item)) return item;
  return undefined;
}

/** The patch ids of what is here. */
export function patchIdsOf(anchored: Iterable<Account>): Set<string> {
  const ids = new Set<string>();
  for (const { commitPatchIds } of anchored) for (const id of commitPatchIds.keys()) ids.add(id);
  return ids;
}

/** A thought whose commits are all among those of others, which are here, is here with them. */
export function isAlong({ commitPatchIds }: Account, here: ReadonlySet<string>): boolean {
  return commitPatchIds.size > 0 && [...commitPatchIds.keys()].every((id) => here.has(id));
}
