import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Range } from '../../git/refs/range.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { type CommitSet, type Covers, coverByAncestry, union } from './ancestry.ts';
import { isUntouched, notBehind } from './history.ts';
import type { OwnChanges } from './own-changes.ts';
import type { Repeats } from './repeats.ts';

export interface BaseCase {
  range: Range;
  base: Oid;
  own: OwnChanges;
  repeats: Repeats;
  /** The changes that nothing which arrives accounts for. */
  open: readonly Oid[];
}

/** What the protected branch has that is about these commits. */
export interface BaseRecords {
  accounts: readonly Account[];
  waived: readonly Oid[];
}

/**
 * SPEC §10.4.7: what a thought or waiver of the protected branch may still cover. It was judged when it came, with what it is
 * about. So either that is still there, and comes once more without changing anything; or it has never been there. What was there
 * and was taken back does not come back on the old account.
 */
export async function coverByBase(
  repository: GitAccess,
  input: BaseCase,
  { accounts, waived }: BaseRecords,
): Promise<{ covers: Covers<Account>; waived: Oid[]; there: ReadonlySet<Oid> }> {
  const { range, base, own, open } = input;
  const byAncestry = coverByAncestry(range, accounts);
  const excepted = new Set(waived);
  const behindAny = union(byAncestry.values());
  const patchIds = new Set(
    accounts.flatMap(({ wholePatchId, commitPatchIds }) => [wholePatchId, ...commitPatchIds.keys()]),
  );
  const isAbout = (oid: Oid) => excepted.has(oid) || behindAny.has(oid) || patchIds.has(own.get(oid)?.patchId ?? '');
  const about = open.filter(isAbout);
  const there = await isThereAt(input, about, byAncestry);
  const covers: Covers<Account> = new Map();
  for (const account of accounts) {
    const behind = byAncestry.get(account) ?? NONE;
    const named = about.filter((oid) => behind.has(oid) || isOf(account, own.get(oid)?.patchId ?? null));
    const isNew = async () => isUntouched(repository, [base], account.commit, pathsOf(own, named, account.files));
    const mayBeNew = named.some((oid) => behind.has(oid) && !there.has(oid)) && (await isNew());
    const covered = named.filter((oid) => there.has(oid) || (mayBeNew && behind.has(oid)));
    if (covered.length > 0) covers.set(account, new Set(covered));
  }
  const covered = union(covers.values());
  const allowed: Oid[] = [];
  for (const oid of about.filter((each) => excepted.has(each) && !covered.has(each))) {
    if (there.has(oid) || (await isUntouched(repository, [base], oid, pathsOf(own, [oid])))) allowed.push(oid);
  }
  return { covers, waived: allowed, there };
}

/**
 * Whether a thought that the protected branch has may be looked for among what arrives, as one that arrives is: its records came
 * first, and what it is about never was there. That can be told only while its commit is to be had.
 */
export async function isStillToCome(repository: GitAccess, input: BaseCase, account: Account): Promise<boolean> {
  const { base, own, open, range } = input;
  const { commit, files } = account;
  const named = open.filter((oid) => isOf(account, own.get(oid)?.patchId ?? null));
  if (named.length === 0 || range.commits.some(({ oid }) => oid === commit)) return false;
  if (!(await notBehind(repository, base, [commit])).has(commit)) return false;
  return isUntouched(repository, [base], commit, pathsOf(own, named, files));
}

/** What changes nothing where it comes once more: by itself, or as part of what a thought names. */
async function isThereAt(input: BaseCase, about: readonly Oid[], byAncestry: Covers<Account>): Promise<Set<Oid>> {
  const { range, base, repeats } = input;
  const wanted = new Set(about);
  const commits = range.commits.filter(({ oid }) => wanted.has(oid));
  const single = commits.filter(({ parents }) => parents.length < 2);
  const merges = commits.filter(({ parents }) => parents.length > 1).map(({ oid }) => oid);
  const tips = new Map([...byAncestry].map(([{ commit }, behind]) => [commit, behind]));
  const merged = await repeats.mergedAt(base, [...new Set([...tips.keys(), ...merges])]);
  const picked = (await repeats.doneAt(base, single)).map(({ oid }) => oid);
  return new Set([...picked, ...merged, ...union(merged.flatMap((oid) => tips.get(oid) ?? []))]);
}

const NONE: CommitSet = new Set();

function isOf({ wholePatchId, commitPatchIds }: Account, patchId: string | null): boolean {
  return patchId !== null && (patchId === wholePatchId || commitPatchIds.has(patchId));
}

function pathsOf(own: OwnChanges, commits: readonly Oid[], more: readonly string[] = []): string[] {
  return [...new Set([...commits.flatMap((oid) => own.get(oid)?.paths ?? []), ...more])];
}
