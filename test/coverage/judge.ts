import { DEFAULT_LIMITS, openBudget } from '../../src/core/budget.ts';
import type { Account } from '../../src/core/writeback/account.ts';
import { namedPaths } from '../../src/core/writeback/exemption.ts';
import { codeBy } from '../../src/gate/coverage/code.ts';
import { judgeForge } from '../../src/gate/coverage/forge/forge.ts';
import { judgeWriteback } from '../../src/gate/writeback.ts';
import type { Range, RangeCommit } from '../../src/git/refs/range.ts';
import type { Court } from './lab.ts';
import { ancestorsOf, type Files, mergeBases, type Objects, type Oid } from './objects.ts';
import { judgeSlowly } from './reference.ts';

/** A change that is judged, as SPEC §10.4 asks for it. */
export interface Change {
  base: Oid;
  head: Oid;
  /** H is to be merged where it does not have B behind it; else it takes the place of B as it is. */
  isMerged: boolean;
  accounts: readonly Account[];
  waived: ReadonlySet<Oid>;
  baseAccounts: readonly Account[];
  baseWaived: ReadonlySet<Oid>;
  exempt: readonly string[];
}

/** What both say, in words that can be compared. */
export interface Verdict {
  open: string[];
  undone: string[];
  /** Nobody looks for these where a commit is open. */
  unclaimed: string[];
  covers: Record<string, string[]>;
  anchored: string[];
  isLandedUnlike: boolean;
}

const NOTHING: Range = { commits: [], boundary: new Set() };

export async function judgeFast({ repository, comparer, objects }: Court, change: Change): Promise<Verdict> {
  const { base, head, isMerged, accounts, waived, baseAccounts, baseWaived, exempt } = change;
  const range = rangeOf(objects, head, base);
  const isAhead = ancestorsOf(objects, head).has(base);
  const treeOf = (oid: Oid): Oid => objects.commit(oid)!.tree;
  const beginnings = isAhead || !isMerged ? [base] : mergeBases(objects, base, head);
  const [before, after] = [base, head].map((oid) => objects.files(treeOf(oid))) as [Files, Files];
  const named = { patterns: exempt, folders: new Set(namedPaths(exempt).filter((path) => hasFolder(before, path))) };
  const { findings, covers, isAnchored } = await judgeWriteback(repository, {
    base,
    head,
    range,
    comparer,
    isRequired: true,
    isReviewed: false,
    budget: openBudget(DEFAULT_LIMITS, Date.now),
    whole: beginnings.map((oid) => ({ before: treeOf(oid), after: treeOf(head) })),
    dropped: isAhead || isMerged ? NOTHING : rangeOf(objects, base, head),
    accounts,
    waived,
    exempt: named,
    older: async (commits, patchIds) => ({
      accounts: baseAccounts.filter((account) => isAbout(account, commits, patchIds)),
      waived: [...baseWaived].filter((oid) => commits.includes(oid)),
    }),
    claimsOf: async (claiming) => claiming,
    isThere: async (path) => {
      const [a, b] = [before.get(path), after.get(path)];
      return a?.mode === b?.mode && a?.oid === b?.oid;
    },
  });
  const codeOf = codeBy(named.patterns, named.folders);
  const forge = { base, head, mergeBases: mergeBases(objects, base, head), range };
  const landed = isAhead || !isMerged ? [] : await judgeForge(comparer, codeOf, forge);
  const anchored = new Set<Account>();
  for (const account of accounts) if (await isAnchored(account)) anchored.add(account);
  const arriving = new Set(range.commits.map(({ oid }) => oid));
  const missing = findings.flatMap((each) => (each.code === 'writeback_missing' ? each.commit! : []));
  return {
    open: missing.filter((oid) => arriving.has(oid)).sort(),
    undone: missing.filter((oid) => !arriving.has(oid)).sort(),
    unclaimed: findings.flatMap(({ code, path }) => (code === 'files_uncovered' ? path! : [])).sort(),
    covers: toLists(covers),
    anchored: namesOf(anchored, accounts, ancestorsOf(objects, base)),
    isLandedUnlike: landed.length > 0,
  };
}

function hasFolder(files: Files, path: string): boolean {
  return [...files.keys()].some((each) => each.startsWith(`${path}/`));
}

/** What one commit has and another has not, without a process. */
function rangeOf(objects: Objects, head: Oid, known: Oid): Range {
  const behind = ancestorsOf(objects, known);
  const commits: RangeCommit[] = [];
  const seen = new Set<Oid>(behind);
  const visit = (oid: Oid): void => {
    if (seen.has(oid)) return;
    seen.add(oid);
    const parents = [...objects.commit(oid)!.parents];
    parents.forEach(visit);
    commits.unshift({ oid, parents });
  };
  visit(head);
  const boundary = commits.flatMap(({ parents }) => parents).filter((oid) => behind.has(oid));
  return { commits, boundary: new Set(boundary) };
}

/** As the index of a protected branch is asked. */
function isAbout(account: Account, commits: readonly Oid[], patchIds: readonly string[]): boolean {
  const { commit, wholePatchId, commitPatchIds } = account;
  return commits.includes(commit) || patchIds.some((id) => id === wholePatchId || commitPatchIds.has(id));
}

export async function judgeByReference(court: Court, change: Change): Promise<Verdict> {
  const { objects, merging, changes } = court;
  const answer = await judgeSlowly({ ...change, dir: merging.dir, objects, merging, changes });
  return {
    open: answer.open.toSorted(),
    undone: answer.undone.toSorted(),
    unclaimed: answer.unclaimed.toSorted(),
    covers: toLists(answer.covers),
    anchored: namesOf(answer.anchored, change.accounts, ancestorsOf(objects, change.base)),
    isLandedUnlike: answer.isLandedUnlike,
  };
}

function toLists(covers: ReadonlyMap<Account, Iterable<Oid>>): Record<string, string[]> {
  const lists = [...covers].map(([{ delta_id }, commits]) => [delta_id, [...commits].sort()] as const);
  return Object.fromEntries(lists.filter(([, commits]) => commits.length > 0).sort());
}

/** But for those whose commit the protected branch has: their caller knows. */
function namesOf(anchored: ReadonlySet<Account>, accounts: readonly Account[], behindBase: ReadonlySet<Oid>): string[] {
  const asked = accounts.filter((account) => anchored.has(account) && !behindBase.has(account.commit));
  return asked.map(({ delta_id }) => delta_id);
}

export function passes({ open, undone, unclaimed, isLandedUnlike }: Verdict): boolean {
  return open.length + undone.length + unclaimed.length === 0 && !isLandedUnlike;
}
