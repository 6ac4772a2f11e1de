import { type Budget, whileTime } from '../../core/budget.ts';
import { oncePer } from '../../core/once.ts';
import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import { ancestorsIn, type Range, type RangeCommit, readRange } from '../../git/refs/range.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { type CommitSet, type Covers, coverByAncestry, union } from '../coverage/ancestry.ts';
import type { CodeOf } from '../coverage/code.ts';
import type { Comparer } from '../coverage/comparer.ts';
import { isSingle } from '../coverage/forge/followed-commits.ts';
import { type OwnChanges, readOwn } from '../coverage/own-changes.ts';
import { openRepeats, type Repeats } from '../coverage/repeats.ts';

/** The commits that change code and that one of these thoughts covers, but that none of them lists. */
export type FindUnlisted = (isSeen: (account: Account) => boolean) => Promise<ReadonlySet<Oid>>;

interface ListCase {
  base: Oid;
  range: Range;
  own: OwnChanges;
  comparer: Comparer;
  codeOf: CodeOf;
  budget: Budget;
  /** Somebody else answers for these. */
  waived: ReadonlySet<Oid>;
  /** What thoughts cover because it is behind the commit that they name. */
  behind: Covers<Account>;
  /** What they cover because its patches are theirs, or because it is there already. */
  byPatch: Covers<Account>;
  /** What they cover because git has made it of all that their commit has behind it. */
  squashed: Covers<Account>;
}

/**
 * SPEC §10.6: who approves a thought has looked at the commits that it lists, and not at what these stand on. The commits that
 * change code, that these thoughts cover, and that none of them lists.
 */
export async function findUnlisted(
  repository: GitAccess,
  input: ListCase,
  seen: readonly Account[],
): Promise<Set<Oid>> {
  const { base, range, own, comparer, codeOf, behind, byPatch, squashed, waived, budget } = input;
  const covered = union(seen.flatMap((account) => [behind.get(account) ?? [], squashed.get(account) ?? []].map(asSet)));
  const isAsked = (oid: Oid): boolean => covered.has(oid) && !waived.has(oid) && codeOf(own.get(oid)!).length > 0;
  const changing = range.commits.filter(({ oid }) => isAsked(oid));
  const byOid = new Map(range.commits.map((each) => [each.oid, each]));
  const lists: Lists = {
    comparer,
    merges: changing.filter(({ parents }) => parents.length > 1),
    before: oncePer((oid: Oid) => ancestorsIn(byOid, oid)),
    alike: groupByPatch(changing, own),
  };
  const listed = new Set(union(seen.map((account) => asSet(byPatch.get(account) ?? []))));
  for (const account of whileTime(budget, seen)) {
    for (const oid of await listedBehind(lists, account, asSet(behind.get(account) ?? []))) listed.add(oid);
    const made = squashed.get(account);
    if (made && (await isAllListed(repository, input, account, seen))) for (const oid of made) listed.add(oid);
  }
  const left = changing.filter(({ oid }) => !listed.has(oid));
  const there = await whatIsThere(openRepeats(comparer, codeOf), base, left);
  return new Set(left.map(({ oid }) => oid).filter((oid) => !there.has(oid)));
}

/** What comes once more, and changes nothing: a squash of it was looked at when it came. */
async function whatIsThere(repeats: Repeats, base: Oid, commits: readonly RangeCommit[]): Promise<Set<Oid>> {
  const [single, merges] = [commits.filter(isSingle), commits.filter((commit) => !isSingle(commit))];
  const picked = single.length > 0 ? await repeats.doneAt(base, single) : [];
  const oids = merges.map(({ oid }) => oid);
  return new Set([...picked.map(({ oid }) => oid), ...(oids.length > 0 ? await repeats.mergedAt(base, oids) : [])]);
}

interface Lists {
  comparer: Comparer;
  merges: readonly RangeCommit[];
  /** What a commit has behind it. */
  before(oid: Oid): ReadonlySet<Oid>;
  /** The newest first. */
  alike: ReadonlyMap<string, readonly Oid[]>;
}

/** A thought that lists so many commits may have left some out. */
const ALL_LISTED = 1000;

/** A patch that is there more often than it is listed is listed where it is nearest to the thought's commit. */
async function listedBehind(lists: Lists, account: Account, commits: CommitSet): Promise<Oid[]> {
  if (commits.size === 0) return [];
  const { merges, alike } = lists;
  const { commit, commitPatchIds, wholePatchId } = account;
  const counts = [...commitPatchIds];
  if (counts.reduce((sum, [, count]) => sum + count, 0) >= ALL_LISTED) return [...commits];
  const listed = counts.flatMap(([id, count]) =>
    (alike.get(id) ?? []).filter((oid) => commits.has(oid)).slice(0, count),
  );
  if (wholePatchId !== null && alike.get(wholePatchId)?.includes(commit)) listed.push(commit);
  for (const { oid } of merges)
    if (commits.has(oid) && (await hasMerge(lists, account, oid, commits))) listed.push(oid);
  return listed;
}

/** More commits between a merge and the thought's are not looked at. */
const MOST_BETWEEN = 256;

/** A merge has no patch id. It is in the whole of a thought that did not begin with it, or after it. */
async function hasMerge(
  { comparer, before }: Lists,
  { commit, wholePatchId }: Account,
  merge: Oid,
  commits: CommitSet,
): Promise<boolean> {
  const since = [...commits].filter((oid) => oid === merge || before(oid).has(merge));
  if (wholePatchId === null || since.length > MOST_BETWEEN) return false;
  const treeOf = async (oid: Oid): Promise<Oid> => (await comparer.store.readCommit(oid)).tree;
  const after = await treeOf(commit);
  const compared = await Promise.all(since.map(async (oid) => ({ before: await treeOf(oid), after })));
  return (await comparer.changes.read(compared)).every(({ patchId }) => patchId !== wholePatchId);
}

/** Whether what its commit has behind it, and would bring along, is all listed. */
async function isAllListed(
  repository: GitAccess,
  input: ListCase,
  { commit }: Account,
  seen: readonly Account[],
): Promise<boolean> {
  const { base, comparer, codeOf } = input;
  const range = await readRange(repository.git, commit, [base]);
  const read = await readOwn(comparer, codeOf, range.commits);
  const own = new Map(range.commits.map(({ oid }, at) => [oid, read[at]!]));
  const inside = {
    ...input,
    range,
    own,
    behind: coverByAncestry(range, seen),
    byPatch: NONE_COVERED,
    squashed: NONE_COVERED,
  };
  return (await findUnlisted(repository, inside, seen)).size === 0;
}

function groupByPatch(commits: readonly RangeCommit[], own: OwnChanges): Map<string, Oid[]> {
  const groups = new Map<string, Oid[]>();
  for (const { oid } of commits) {
    const patchId = own.get(oid)!.patchId;
    if (patchId !== null) groups.set(patchId, [...(groups.get(patchId) ?? []), oid]);
  }
  return groups;
}

function asSet(commits: CommitSet | readonly never[]): CommitSet {
  return 'has' in commits ? commits : NONE;
}

const NONE: CommitSet = new Set();
const NONE_COVERED: Covers<Account> = new Map();
