import { whileTime } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import { byNewest } from '../core/session/newest.ts';
import { listSome } from '../core/text/list-some.ts';
import type { Account } from '../core/writeback/account.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';
import { type Covers, coverByAncestry, union } from './coverage/ancestry.ts';
import { isAlong, openAnchoring, patchIdsOf } from './coverage/anchors.ts';
import { type BaseRecords, coverByBase, isStillToCome } from './coverage/base-accounts.ts';
import { type CodeOf, codeBy } from './coverage/code.ts';
import { notBehind } from './coverage/history.ts';
import { type OwnChanges, readOwn } from './coverage/own-changes.ts';
import { openRepeats } from './coverage/repeats.ts';
import { openThoughtWork } from './coverage/thought-work.ts';
import { type PathCase, type PathExcuses, unclaimedPaths, uncovered } from './coverage/unclaimed-paths.ts';
import { findUndone } from './coverage/undone.ts';
import type { Exempt } from './exempt.ts';
import { type FindUnlisted, findUnlisted } from './reviews/unlisted.ts';

export interface WritebackCase extends PathCase {
  base: Oid;
  head: Oid;
  /** Whether code needs a thought; else only what thoughts cover is told. */
  isRequired: boolean;
  /** The thoughts that arrive. */
  accounts: readonly Account[];
  /** Commits that a maintainer waives with what arrives. */
  waived: ReadonlySet<Oid>;
  exempt: Exempt;
  /** Whether somebody has to look at it: then it matters which commits a thought lists. */
  isReviewed: boolean;
  /** The thoughts that were there before. Read only if those that arrive do not cover everything. */
  older(commits: readonly Oid[], patchIds: readonly string[]): Promise<BaseRecords>;
}

export interface Writeback {
  findings: Finding[];
  /** The thoughts that cover something, and which commits. */
  covers: Covers<Account>;
  /** Whether all that a thought is about is in the change. */
  isAnchored(account: Account): Promise<boolean>;
  findUnlisted: FindUnlisted;
}

/** SPEC §10.4.8: every commit that changes code is accounted for, and so is every path. */
export async function judgeWriteback(repository: GitAccess, input: WritebackCase): Promise<Writeback> {
  const codeOf = codeBy(input.exempt.patterns, input.exempt.folders);
  const byAncestry = coverByAncestry(input.range, input.accounts);
  const own = await readChanges(input, codeOf, union(byAncestry.values())); // step 1, as far as it is asked
  const coverage = await cover(repository, { ...input, own, codeOf, byAncestry });
  const findings = input.isRequired ? await faultsOf(repository, input, { own, codeOf, coverage }) : [];
  const { covers, isAnchored, findUnlisted } = coverage;
  return { findings, covers, isAnchored, findUnlisted };
}

interface Covered {
  own: OwnChanges;
  codeOf: CodeOf;
  coverage: Coverage;
}

/** M70, M71, M72. */
async function faultsOf(
  repository: GitAccess,
  input: WritebackCase,
  { own, codeOf, coverage }: Covered,
): Promise<Finding[]> {
  const missing = await Promise.all(coverage.open.map((oid) => missingFor(repository, oid, codeOf(own.get(oid)!))));
  const unclaimed = await unclaimedPaths(input, own, codeOf, coverage);
  const listed = new Set(coverage.claiming.flatMap(({ files }) => files));
  return [...missing, ...uncovered(unclaimed, listed), ...(await findUndone(input, own, codeOf))];
}

/** What a thought covers need not be read, unless something else is dropped for it. */
async function readChanges(input: WritebackCase, codeOf: CodeOf, covered: ReadonlySet<Oid>): Promise<OwnChanges> {
  const { range, whole, waived, dropped, comparer, isReviewed } = input;
  const isWanted = (oid: Oid): boolean =>
    isReviewed || whole === null || dropped.commits.length > 0 || waived.has(oid) || !covered.has(oid);
  const asked = range.commits.filter(({ oid }) => isWanted(oid));
  const read = await readOwn(comparer, codeOf, asked);
  return new Map(asked.map(({ oid }, at) => [oid, read[at]!]));
}

interface CoverCase extends WritebackCase {
  own: OwnChanges;
  codeOf: CodeOf;
  byAncestry: Covers<Account>;
}

interface Coverage extends Omit<Writeback, 'findings'>, PathExcuses {
  /** Commits that change code, and that nobody accounts for. */
  open: Oid[];
}

/** Steps 2 to 5. */
async function cover(repository: GitAccess, input: CoverCase): Promise<Coverage> {
  const { range, base, head, accounts, own, codeOf, byAncestry, comparer, budget } = input;
  const repeats = openRepeats(comparer, codeOf);
  const behind = union(byAncestry.values());
  const free = new Map([...own].filter(([oid]) => !behind.has(oid)));
  const changing = [...free.keys()].filter((oid) => codeOf(own.get(oid)!).length > 0);
  const waived = new Set(input.waived);
  const workOf = openThoughtWork(repository, { comparer, codeOf, knownCommits: [base], accounts });
  const anchoring = openAnchoring({ range, head, own: free, repeats, workOf });
  const { found } = anchoring;
  const older: Covers<Account> = new Map();
  let there: ReadonlySet<Oid> = new Set();
  const open = (): Oid[] => {
    const covered = union([...found.covers.values(), ...older.values()]);
    return changing.filter((oid) => !waived.has(oid) && !covered.has(oid));
  };
  const elsewhere = await movedAccounts(repository, input);
  await anchoring.byPatch(whileTime(budget, elsewhere));
  const left = new Set(open());
  for (const account of whileTime(budget, [...elsewhere].sort(byNewest))) {
    if (left.size === 0) break;
    await anchoring.byTree(account);
    for (const oid of found.covers.get(account) ?? []) left.delete(oid);
  }
  if (open().length > 0) {
    const patchIds = open().flatMap((oid) => own.get(oid)!.patchId ?? []);
    const commits = range.commits.map(({ oid }) => oid);
    const baseRecords = await input.older(commits, patchIds);
    const still = await coverByBase(repository, { range, base, own, repeats, open: open() }, baseRecords);
    for (const oid of still.waived) waived.add(oid);
    ({ there } = still);
    for (const [account, covered] of still.covers) older.set(account, covered);
    const isLate = (account: Account) =>
      isStillToCome(repository, { range, base, own: free, repeats, open: open() }, account);
    for (const account of baseRecords.accounts) if (await isLate(account)) await anchoring.byPatch([account]);
  }
  const covers: Covers<Account> = joined(byAncestry, found.covers, older);
  const idsHere = (): Set<string> =>
    patchIdsOf(accounts.filter((account) => byAncestry.has(account) || found.anchored.has(account)));
  const moved = new Set(elsewhere);
  const tryAll = async (): Promise<Set<string>> => {
    for (const account of whileTime(budget, elsewhere)) await anchoring.byTree(account);
    return idsHere();
  };
  let all: Promise<Set<string>> | undefined;
  const isAnchored = async (account: Account): Promise<boolean> => {
    if (moved.has(account)) await anchoring.byTree(account);
    if (byAncestry.has(account) || found.anchored.has(account)) return true;
    all ??= tryAll(); // the answer is not whom one asks first
    return isAlong(account, await all);
  };
  const ids = idsHere();
  const along = accounts.filter((account) => isAlong(account, ids));
  const squashed = new Map([...found.covers].filter(([account]) => found.squashed.has(account)));
  const byPatch = joined(
    new Map([...found.covers].filter(([account]) => !found.squashed.has(account))),
    new Map([...older].map(([account, commits]) => [account, new Set([...commits].filter((oid) => there.has(oid)))])),
  );
  const lists = {
    base,
    range,
    own,
    comparer,
    codeOf,
    budget,
    waived,
    behind: joined(byAncestry, older),
    byPatch,
    squashed,
  };
  const everyone = [...new Set([...covers.keys(), ...accounts])];
  return {
    covers,
    isAnchored,
    findUnlisted: (isSeen) => findUnlisted(repository, lists, everyone.filter(isSeen)),
    open: open(),
    waived,
    claiming: [...covers.keys(), ...along, ...found.beside],
    moved: found.moved,
  };
}

/** A thought may cover some commits in one way and others in another. */
function joined(...all: readonly Covers<Account>[]): Covers<Account> {
  const covers: Covers<Account> = new Map();
  for (const [account, commits] of all.flatMap((each) => [...each])) {
    const before = covers.get(account);
    covers.set(account, before ? union([before, commits]) : commits);
  }
  return covers;
}

/** The thoughts whose commit is neither in the change nor behind it: where it is, it covers what it names, and nothing that is alike. */
async function movedAccounts(repository: GitAccess, input: CoverCase): Promise<Account[]> {
  const { base, accounts, byAncestry } = input;
  const others = accounts.filter((account) => !byAncestry.has(account) && account.files.length > 0);
  const here = await notBehind(
    repository,
    base,
    others.map(({ commit }) => commit),
  );
  const isHere = await Promise.all(others.map(({ commit }) => repository.store.has(`${commit}^{commit}`)));
  return others.filter(({ commit }, at) => here.has(commit) || !isHere[at]);
}

async function missingFor({ store }: GitAccess, oid: Oid, paths: readonly string[]): Promise<Finding> {
  const { message } = await store.readCommit(oid);
  const sorted = [...paths].sort(); // those of a merge are in no order, and every verifier names the same
  return {
    code: 'writeback_missing',
    severity: 'error',
    commit: oid,
    path: sorted[0]!,
    message: `Commit ${oid.slice(0, 12)} (${message.split('\n', 1)[0]}) changes ${listSome(sorted, 1)}, and no thought record accounts for it.`,
    hint: `Record what was done: git handoff thought TASK --commit ${oid.slice(0, 12)} (in an open session: git handoff start), commit the record too (git add .handoff && git commit) and push again. If a thought is about the branch that this comes from, push that branch along, whole. A maintainer may waive it: git handoff waiver ${oid.slice(0, 12)} --reason TEXT`,
  };
}
