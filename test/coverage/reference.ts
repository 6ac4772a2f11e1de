import { spawnSync } from 'node:child_process';
import { byNewest } from '../../src/core/session/newest.ts';
import type { Account } from '../../src/core/writeback/account.ts';
import type { ChangeReader } from '../../src/git/changes/changes.ts';
import { isolatedEnv } from '../temporary.ts';
import { type CodeMerge, type CodeMerging, openCodeMerging } from './code-alone.ts';
import { exemptPaths, type IsCode } from './exempt.ts';
import { isPatchAtOnePlace, standsAtOnePlace } from './hunks.ts';
import type { Merge, Merging } from './merging.ts';
import { ancestorsOf, type Commit, type Entry, type Files, mergeBases, type Objects, type Oid } from './objects.ts';

/** What is judged: SPEC §10.4 as one question. */
export interface Question {
  /** The repository, and what is known of it. */
  dir: string;
  objects: Objects;
  merging: Merging;
  /** Reads patch ids: SPEC §9.3. */
  changes: ChangeReader;
  base: Oid;
  head: Oid;
  /** H is to be merged, and the result is judged; else H takes the place of B as it is. */
  isMerged: boolean;
  accounts: readonly Account[];
  waived: ReadonlySet<Oid>;
  /** The thoughts and the waivers that B has. */
  baseAccounts: readonly Account[];
  baseWaived: ReadonlySet<Oid>;
  exempt: readonly string[];
}

export interface Answer {
  /** The commits that change code, and which. */
  changes: ReadonlyMap<Oid, ReadonlySet<string>>;
  covers: ReadonlyMap<Account, ReadonlySet<Oid>>;
  open: Oid[];
  anchored: ReadonlySet<Account>;
  /** `files_uncovered` */
  unclaimed: string[];
  /** M72: what B has and H drops. */
  undone: Oid[];
  /** H is to be merged or rebased, and that would give other code than the same with code alone. */
  isLandedUnlike: boolean;
}

/** Slow and obvious: SPEC §10.4, step by step. */
export async function judgeSlowly(question: Question): Promise<Answer> {
  const { objects, base, head, accounts } = question;
  const behindBase = ancestorsOf(objects, base);
  const behindHead = ancestorsOf(objects, head);
  const arriving = oldestFirst(objects, head).filter((oid) => !behindBase.has(oid));
  const patchIdOf = await readPatchIds(question);
  const isCode = exemptPaths(question);
  const here: Here = {
    ...question,
    code: openCodeMerging(question.merging, objects, isCode),
    known: new Map(),
    wholeIds: await readWholeIds({ ...question, patchIdOf, behindBase }),
    patchIdOf,
    behindBase,
    behindHead,
    arriving,
    isCode,
  };

  // 1. Changes.
  const codeOf = new Map(arriving.map((oid) => [oid, codeIn(changedIn(here, oid))]));
  const changes = new Map([...codeOf].filter(([, paths]) => paths.size > 0));
  // 2. By its commit.
  const covers = new Map<Account, Set<Oid>>();
  for (const account of accounts) {
    if (!behindHead.has(account.commit)) continue;
    const behind = ancestorsOf(objects, account.commit);
    covers.set(account, new Set(arriving.filter((oid) => behind.has(oid))));
  }
  // 3. Moved.
  const byCommit = union(covers.values());
  const candidates = arriving.filter((oid) => patchIdOf(oid) !== null && !byCommit.has(oid));
  const found = new Map<Account, Found>();
  const elsewhere = accounts.filter(({ commit }) => !behindHead.has(commit));
  const leftOpen = () => {
    const covered = union([...covers.values(), ...[...found.values()].map(({ commits }) => new Set(commits))]);
    return [...changes.keys()].filter((oid) => !covered.has(oid) && !question.waived.has(oid));
  };
  for (const account of elsewhere) note(found, account, findByPatch(here, candidates, account));
  for (const account of elsewhere.toSorted(byNewest)) {
    if (leftOpen().length > 0 && !found.has(account)) note(found, account, findByGit(here, candidates, account));
  }
  for (const [account, { commits }] of found) covers.set(account, new Set(commits));
  // 4. What B has.
  const left = leftOpen();
  const waived = new Set([...question.waived, ...left.filter((oid) => isWaivedByBase(here, oid))]);
  for (const account of question.baseAccounts) {
    const covered = coveredByBase(here, left, account);
    if (covered.length > 0) covers.set(account, new Set(covered));
  }
  for (const account of question.baseAccounts) {
    const done = union(covers.values());
    const open = left.filter((oid) => !done.has(oid) && !waived.has(oid));
    const moved = isStillToCome(here, open, account) ? findByPatch(here, candidates, account) : null;
    if (moved) covers.set(account, new Set([...(covers.get(account) ?? []), ...moved.commits]));
  }
  // 5. Every change is covered.
  const covered = union(covers.values());
  const open = [...changes.keys()].filter((oid) => !covered.has(oid) && !waived.has(oid));
  // 6. Every path is claimed.
  const byGit = [...found.values()].flatMap((each) => [...each.byGit]);
  const beside = [...found.values()].flatMap((each) => each.beside);
  const claiming = [...covers.keys(), ...anchoredAmong(here, [...found.keys()]), ...beside];
  const unclaimed = unclaimedPaths(here, { accounts: claiming, waived, byGit });
  const isFound = (account: Account) => found.has(account) || findByGit(here, candidates, account) !== null;
  const anchored = anchoredAmong(here, elsewhere.filter(isFound));
  return {
    changes,
    covers,
    open,
    anchored,
    unclaimed,
    undone: undoneBy(here),
    isLandedUnlike: isMergedUnlike(here) || isRebasedUnlike(here),
  };
}

/** What can be told of commits without comparing them. */
interface Known extends Question {
  patchIdOf(commit: Oid): string | null;
  behindBase: ReadonlySet<Oid>;
}

interface Here extends Known {
  code: CodeMerging;
  /** What commits change, as far as it was asked. */
  known: Map<Oid, Changed>;
  /** The patch ids of what is between two trees, a thought's last. */
  wholeIds: ReadonlyMap<string, string | null>;
  behindHead: ReadonlySet<Oid>;
  arriving: readonly Oid[];
  isCode: IsCode;
}

/** Of every commit that anybody can ask about. */
async function readPatchIds(question: Question): Promise<Here['patchIdOf']> {
  const { objects, changes, base, head, accounts, baseAccounts } = question;
  const named = [...accounts, ...baseAccounts].map(({ commit }) => commit);
  const all = [...ancestorsOf(objects, base, head, ...named)];
  const single = all.filter((oid) => isPlain(objects.commit(oid)!));
  const read = await changes.read(single.map((commit) => ({ commit })));
  const ids = new Map(single.map((oid, at) => [oid, read[at]!.patchId]));
  return (oid) => ids.get(oid) ?? null;
}

async function readWholeIds(known: Known): Promise<Here['wholeIds']> {
  const { objects, changes, accounts, baseAccounts } = known;
  const here = [...accounts, ...baseAccounts].filter(({ commit }) => objects.commit(commit));
  const pairs = here.flatMap((account) =>
    beginningsOf(known, account).map((before) => ({ before, after: objects.commit(account.commit)!.tree })),
  );
  const read = await changes.read(pairs);
  return new Map(pairs.map(({ before, after }, at) => [`${before} ${after}`, read[at]!.patchId]));
}

/** Parents before children; of commits that have nothing to do with each other, as git lists them. */
function oldestFirst(objects: Objects, head: Oid): Oid[] {
  const order: Oid[] = [];
  const visit = (oid: Oid): void => {
    if (order.includes(oid)) return;
    for (const parent of objects.commit(oid)!.parents) visit(parent);
    order.push(oid);
  };
  visit(head);
  return order;
}

function isPlain({ parents }: Commit): boolean {
  return parents.length < 2;
}

function union<T>(sets: Iterable<ReadonlySet<T>>): Set<T> {
  return new Set([...sets].flatMap((each) => [...each]));
}

/** Paths that differ, with what tells whether they are code. */
type Changed = Map<string, boolean>;

function codeIn(changed: Changed): Set<string> {
  return new Set([...changed].filter(([, isCode]) => isCode).map(([path]) => path));
}

/** Step 1: what a commit changes by itself. */
function changedIn(here: Here, oid: Oid): Changed {
  const changed = here.known.get(oid) ?? readChanged(here, oid);
  here.known.set(oid, changed);
  return changed;
}

function readChanged(here: Here, oid: Oid): Changed {
  const { objects, merging } = here;
  const { tree, parents } = objects.commit(oid)!;
  const treeOf = (commit: Oid) => objects.commit(commit)!.tree;
  if (parents.length === 0) return differing(here, new Map(), objects.files(tree));
  if (parents.length === 1) return differing(here, objects.files(treeOf(parents[0]!)), objects.files(tree));
  const again = here.code.merge(parents, tree);
  if (!again)
    return new Map(parents.flatMap((each) => [...differing(here, objects.files(treeOf(each)), objects.files(tree))]));
  const files = merging.objects.files(again.tree);
  return new Map([...differing(here, files, again.compared), ...conflictsOf(here, again)]);
}

function differing({ isCode }: Here, before: Files, after: Files): Changed {
  const paths = new Set([...before.keys(), ...after.keys()]);
  const different = [...paths].filter((path) => {
    const [a, b] = [before.get(path), after.get(path)];
    return !path.startsWith('.handoff/') && (a?.mode !== b?.mode || a?.oid !== b?.oid);
  });
  return new Map(different.map((path) => [path, isCode(path, before, after)]));
}

function conflictsOf({ isCode, merging }: Here, { tree, conflicts }: Merge): Changed {
  const files = merging.objects.files(tree);
  const paths = [...conflicts].filter(([path]) => !path.startsWith('.handoff/'));
  const empty = merging.objects.write('blob', '');
  const isCodeIn = (path: string, entry: Entry): boolean =>
    entry.oid !== empty || isCode(path, new Map([[path, entry]]), files);
  return new Map(paths.map(([path, entries]) => [path, entries.some((entry) => isCodeIn(path, entry))]));
}

/** "A merge or a pick is a tree if it is clean and no code differs." */
function isTree(here: Here, merge: CodeMerge | null): boolean {
  if (!merge || codeIn(conflictsOf(here, merge)).size > 0) return false;
  return codeIn(differing(here, here.merging.objects.files(merge.tree), merge.compared)).size === 0;
}

interface Found {
  commits: Oid[];
  /** Those of them that were found by a merge or a pick, and what the thought's commits change: of other paths git has decided. */
  byGit: Map<Oid, ReadonlySet<string>>;
  /** Other thoughts, about what the thought's commit has behind it. */
  beside: readonly Account[];
}

function note(found: Map<Account, Found>, account: Account, moved: Found | null): void {
  if (moved) found.set(account, moved);
}

/** Step 3, as far as patch ids tell. */
function findByPatch(here: Here, candidates: readonly Oid[], account: Account): Found | null {
  if (account.files.length === 0) return null;
  const own = ownCommits(here, account);
  const each = hasItsIds(here, account, own) ? foundBy(findEach(here, candidates, account, own)) : null;
  return each ?? foundBy([findWhole(here, candidates, account)]);
}

/** Where its commit is to be had: each id that it lists is that of as many of its own commits. */
function hasItsIds({ objects, patchIdOf }: Here, { commit, commitPatchIds }: Account, own: readonly Oid[]): boolean {
  if (!objects.commit(commit)) return true;
  return [...commitPatchIds].every(([id, count]) => own.filter((oid) => patchIdOf(oid) === id).length >= count);
}

/** Step 3, where git has to do it again. */
function findByGit(here: Here, candidates: readonly Oid[], account: Account): Found | null {
  if (candidates.length === 0 || account.files.length === 0) return null;
  const own = ownCommits(here, account);
  return (
    atLeastOne(findPicked(here, candidates, account, own)) ??
    findMerged(here, candidates, account) ??
    findPicked(here, candidates, account, own)
  );
}

function atLeastOne(found: Found | null): Found | null {
  return found && found.commits.length > 0 ? found : null;
}

/** The commit that has the patch id of the thought. */
function findWhole(here: Here, candidates: readonly Oid[], account: Account) {
  const alike = candidates.filter((oid) => here.patchIdOf(oid) === account.wholePatchId);
  if (alike.length === 0 || (here.objects.commit(account.commit) && !hasItsWhole(here, account))) return undefined;
  return alike.find((oid) => areAtOnePlace(here, [oid]));
}

/** From some place where the work may have begun up to its commit, all of it is one patch of this id, each hunk of which stands at one place. */
function hasItsWhole(here: Here, account: Account): boolean {
  const { dir, objects, wholeIds } = here;
  const { tree } = objects.commit(account.commit)!;
  const same = beginningsOf(here, account).filter((began) => wholeIds.get(`${began} ${tree}`) === account.wholePatchId);
  return same.some((began) => isPatchAtOnePlace(dir, objects, began, tree));
}

/** The trees at which it may have begun: what its commit and B have in common, parents of its own commits, and of merges. */
function beginningsOf(here: Known, account: Account): Oid[] {
  const { objects, base, behindBase } = here;
  const own = ownCommits(here, account);
  const others = [...ancestorsOf(objects, account.commit)].filter((oid) => !behindBase.has(oid));
  const merges = others.filter((oid) => !isPlain(objects.commit(oid)!));
  const parents = [...own, ...merges].flatMap((oid) => objects.commit(oid)!.parents);
  const began = [...mergeBases(objects, account.commit, base), ...parents.filter((oid) => !own.includes(oid))];
  const isFirst = own.some((oid) => objects.commit(oid)!.parents.length === 0);
  return [...began.map((oid) => objects.commit(oid)!.tree), ...(isFirst ? [objects.write('tree', '')] : [])];
}

/** One commit for each patch id of the thought's commits. */
function findEach(here: Here, candidates: readonly Oid[], { commitPatchIds }: Account, own: readonly Oid[]) {
  const found: (Oid | undefined)[] = [];
  for (const id of eachOf(commitPatchIds)) found.push(findOne(here, without(candidates, found), id, own));
  return found;
}

function eachOf(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].flatMap(([id, count]) => Array<string>(count).fill(id));
}

function without(candidates: readonly Oid[], found: readonly (Oid | undefined)[]): Oid[] {
  return candidates.filter((oid) => !found.includes(oid));
}

function findOne(here: Here, candidates: readonly Oid[], id: string, own: readonly Oid[]): Oid | undefined {
  const { patchIdOf } = here;
  const mine = own.filter((oid) => patchIdOf(oid) === id);
  const alike = candidates.filter((oid) => patchIdOf(oid) === id);
  return alike.find((oid) => areAtOnePlace(here, [oid, ...mine]) || mine.some((each) => isPickOf(here, each, oid)));
}

function areAtOnePlace({ dir, objects }: Here, commits: readonly Oid[]): boolean {
  return commits.every((oid) => standsAtOnePlace(dir, objects, oid));
}

function foundBy(commits: (Oid | undefined)[]): Found | null {
  const known = commits.filter((oid) => oid !== undefined);
  return known.length > 0 && known.length === commits.length ? { commits: known, byGit: new Map(), beside: [] } : null;
}

/** The thought's own commits, where they are to be had. */
function ownCommits({ objects, behindBase, patchIdOf }: Known, { commit, commitPatchIds }: Account): Oid[] {
  const isOwn = (oid: Oid) => isPlain(objects.commit(oid)!) && commitPatchIds.has(patchIdOf(oid) ?? 'none');
  return [...ancestorsOf(objects, commit)].filter((oid) => !behindBase.has(oid) && isOwn(oid));
}

function isPickOf(here: Here, commit: Oid, oid: Oid): boolean {
  const { objects, code } = here;
  const { tree, parents } = objects.commit(oid)!;
  if (parents.length === 0) return false;
  return isTree(here, code.pick(commit, objects.commit(parents[0]!)!.tree, tree));
}

/** The commit that is the merge of its parent with the thought's commit, if all that it brings is listed. */
function findMerged(here: Here, candidates: readonly Oid[], account: Account): Found | null {
  const { objects, code, accounts } = here;
  const { commit, files } = account;
  if (!objects.commit(commit)) return null;
  const parentOf = (oid: Oid) => objects.commit(oid)!.parents[0]!;
  const distance = (oid: Oid) => Math.abs(changedIn(here, oid).size - files.length);
  const tried = candidates
    .filter((oid) => objects.commit(oid)!.parents.length === 1)
    .sort((a, b) => distance(a) - distance(b))
    .slice(0, 8)
    .filter((oid) => isAhead(here, commit, oid));
  const behind = ancestorsOf(objects, commit);
  const others = accounts.filter((other) => other !== account && behind.has(other.commit));
  const alsoListed = new Set([account, ...others].flatMap((each) => each.files));
  const changed = (parent: Oid) =>
    union(mergeBases(objects, commit, parent).map((from) => codeFrom(here, from, commit)));
  const broughtOnto = (parent: Oid) => {
    const from = [parent, ...mergeBases(objects, commit, parent)].map((each) => codeFrom(here, each, commit));
    return [...from[0]!].filter((path) => from.every((paths) => paths.has(path)));
  };
  const merged = tried.find((oid) => {
    const parent = parentOf(oid);
    if (!broughtOnto(parent).every((path) => alsoListed.has(path))) return false;
    if (!isTree(here, code.merge([parent, commit], objects.commit(oid)!.tree))) return false;
    const { tree } = objects.commit(here.head)!;
    return isLeftAlone(here, parent, changed(parent)) || isTree(here, code.merge([here.head, commit], tree));
  });
  if (!merged) return null;
  const isListedAlone = broughtOnto(parentOf(merged)).every((path) => files.includes(path));
  const byGit = new Map([[merged, changed(parentOf(merged))]]);
  return { commits: [merged], byGit, beside: isListedAlone ? [] : others };
}

function codeFrom(here: Here, before: Oid, after: Oid): Set<string> {
  const [from, to] = [before, after].map((oid) => here.objects.files(here.objects.commit(oid)!.tree));
  return codeIn(differing(here, from!, to!));
}

/** Whether B has done nothing to these paths since a commit. */
function isLeftAlone(here: Here, since: Oid, paths: ReadonlySet<string>): boolean {
  return paths.size > 0 && !isTouched(here, since, paths);
}

/** One commit for each patch id, be it that patch or the pick of it, but where H has it already. */
function findPicked(here: Here, candidates: readonly Oid[], account: Account, own: readonly Oid[]): Found | null {
  if (account.commitPatchIds.size === 0 || !hasItsIds(here, account, own)) return null;
  const found: Found = { commits: [], byGit: new Map(), beside: [] };
  for (const id of eachOf(account.commitPatchIds)) {
    const left = without(candidates, found.commits);
    const mine = own.filter((oid) => here.patchIdOf(oid) === id);
    const byId = findOne(here, left, id, own);
    const ahead = byId ? [] : left.filter((oid) => isAhead(here, account.commit, oid));
    const [pick] = mine.flatMap((each) =>
      ahead.filter((oid) => isLastingPick(here, each, oid)).map((oid) => ({ each, oid })),
    );
    if (byId) found.commits.push(byId);
    else if (pick) {
      found.commits.push(pick.oid);
      found.byGit.set(pick.oid, codeIn(changedIn(here, pick.each)));
    } else if (!mine.some((each) => isInHead(here, each))) return null;
  }
  return found;
}

/** By the same author, and not of something of which B has taken back since what was there. */
function isLastingPick(here: Here, each: Oid, oid: Oid): boolean {
  if (!hasAuthorOf(here, each, oid) || !isPickOf(here, each, oid)) return false;
  const [parent] = here.objects.commit(oid)!.parents;
  return isLeftAlone(here, parent!, codeIn(changedIn(here, each))) || isInHead(here, each);
}

/** Its parent has behind it all merge bases of the thought's commit and B. */
function isAhead({ objects, base }: Here, commit: Oid, oid: Oid): boolean {
  const { parents } = objects.commit(oid)!;
  if (!objects.commit(commit) || parents.length === 0) return false;
  const behind = ancestorsOf(objects, parents[0]!);
  const shared = mergeBases(objects, commit, base);
  return shared.length > 0 && shared.every((each) => behind.has(each));
}

function hasAuthorOf({ objects }: Here, a: Oid, b: Oid): boolean {
  return objects.commit(a)!.author === objects.commit(b)!.author;
}

function isInHead(here: Here, commit: Oid): boolean {
  const { tree } = here.objects.commit(here.head)!;
  return isTree(here, here.code.pick(commit, tree, tree));
}

/** Step 4: which of what is left a thought that B has covers. */
function coveredByBase(here: Here, left: readonly Oid[], account: Account): Oid[] {
  const { patchIdOf, arriving } = here;
  const behind = ancestorsOf(here.objects, arriving.includes(account.commit) ? account.commit : here.base);
  const ids = [account.wholePatchId, ...account.commitPatchIds.keys()];
  const counts = left.filter((oid) => behind.has(oid) || ids.includes(patchIdOf(oid) ?? 'none'));
  const paths = new Set([...account.files, ...counts.flatMap((oid) => [...changedIn(here, oid).keys()])]);
  const wasNeverThere = counts.some((oid) => behind.has(oid)) && !isTouched(here, account.commit, paths);
  return counts.filter((oid) => isInBase(here, oid) || (behind.has(oid) && wasNeverThere));
}

/** Its commit is to be had and is nowhere in H, and B has never had what it is about. */
function isStillToCome(here: Here, open: readonly Oid[], account: Account): boolean {
  const { objects, behindHead, behindBase, patchIdOf } = here;
  const { commit, wholePatchId, commitPatchIds, files } = account;
  if (!objects.commit(commit) || behindHead.has(commit) || behindBase.has(commit)) return false;
  const named = open.filter((oid) => [wholePatchId, ...commitPatchIds.keys()].includes(patchIdOf(oid) ?? 'none'));
  const paths = new Set([...files, ...named.flatMap((oid) => [...changedIn(here, oid).keys()])]);
  return named.length > 0 && isLeftAlone(here, commit, paths);
}

function isWaivedByBase(here: Here, oid: Oid): boolean {
  if (!here.baseWaived.has(oid)) return false;
  return isInBase(here, oid) || !isTouched(here, oid, new Set(changedIn(here, oid).keys()));
}

/** The change is there, and comes once more: by itself, or as part of what a thought that B has names. */
function isInBase(here: Here, oid: Oid): boolean {
  const { objects, code, base, baseAccounts, arriving } = here;
  const { tree } = objects.commit(base)!;
  const isMergedInBase = (commit: Oid) => isTree(here, code.merge([base, commit], tree));
  const named = baseAccounts.map(({ commit }) => commit).filter((commit) => arriving.includes(commit));
  const isSame = isPlain(objects.commit(oid)!) ? isTree(here, code.pick(oid, tree, tree)) : isMergedInBase(oid);
  return isSame || named.some((commit) => ancestorsOf(objects, commit).has(oid) && isMergedInBase(commit));
}

/** Whether a commit that B has and another has not touches one of these paths. */
function isTouched(here: Here, commit: Oid, paths: ReadonlySet<string>): boolean {
  const behind = ancestorsOf(here.objects, commit);
  const others = [...here.behindBase].filter((oid) => !behind.has(oid));
  return others.some((oid) =>
    fromParents(here, oid).every((changed) => [...changed.keys()].some((path) => paths.has(path))),
  );
}

/** In what a commit differs from each of its parents. */
function fromParents(here: Here, oid: Oid): Changed[] {
  const filesOf = (commit: Oid): Files => here.objects.files(here.objects.commit(commit)!.tree);
  const { parents } = here.objects.commit(oid)!;
  if (parents.length === 0) return [differing(here, new Map(), filesOf(oid))];
  return parents.map((parent) => differing(here, filesOf(parent), filesOf(oid)));
}

interface Covered {
  /** Those that cover something, or are anchored. */
  accounts: readonly Account[];
  waived: ReadonlySet<Oid>;
  byGit: readonly [Oid, ReadonlySet<string>][];
}

/** Step 6. */
function unclaimedPaths(here: Here, { accounts, waived, byGit }: Covered): string[] {
  const { objects, base, head, isMerged, arriving, behindHead } = here;
  const filesOf = (oid: Oid) => objects.files(objects.commit(oid)!.tree);
  const differingFrom = (oid: Oid) => codeIn(differing(here, filesOf(oid), filesOf(head)));
  const from = isMerged ? mergeBases(objects, base, head) : [base];
  const fromBase = differingFrom(base);
  const differs = [...fromBase].filter((path) => from.every((oid) => differingFrom(oid).has(path)));
  const claimed = new Set(accounts.flatMap(({ files }) => files));
  const changedBy = (oids: Iterable<Oid>) => union([...oids].map((oid) => new Set(changedIn(here, oid).keys())));
  const moved = byGit.map(([oid]) => oid);
  const before = new Map(
    moved.map((oid) => [oid, union(byGit.filter(([other]) => other === oid).map(([, own]) => own))]),
  );
  const byMove = moved.flatMap((oid) => [...changedBy([oid])].filter((path) => !before.get(oid)!.has(path)));
  const excused = new Set([...changedBy([...waived].filter((oid) => arriving.includes(oid))), ...byMove]);
  const byItself = changedBy(arriving);
  const byGitAlone = (path: string) => (isMerged || behindHead.has(base)) && !byItself.has(path);
  return differs.filter((path) => !claimed.has(path) && !excused.has(path) && !byGitAlone(path)).sort();
}

function anchoredAmong({ accounts, behindHead }: Here, found: readonly Account[]): Set<Account> {
  const anchored = accounts.filter((account) => behindHead.has(account.commit) || found.includes(account));
  const ids = new Set(anchored.flatMap(({ commitPatchIds }) => [...commitPatchIds.keys()]));
  const inside = accounts.filter(
    ({ commitPatchIds: own }) => own.size > 0 && [...own.keys()].every((id) => ids.has(id)),
  );
  return new Set([...anchored, ...inside]);
}

/** M72: every commit of one parent that B has and H has not, and that changes code, has one of the same patch id in H; and merging B into H is H. */
function undoneBy(here: Here): Oid[] {
  const { isMerged, objects, behindBase, behindHead, base, arriving, patchIdOf } = here;
  if (isMerged || behindHead.has(base)) return [];
  const again = new Set(arriving.map(patchIdOf));
  const dropped = [...behindBase].filter((oid) => !behindHead.has(oid) && isPlain(objects.commit(oid)!));
  const lost = dropped.filter((oid) => codeIn(changedIn(here, oid)).size > 0 && !again.has(patchIdOf(oid)));
  const isKept = isTree(here, here.code.merge([here.head, base], objects.commit(here.head)!.tree));
  return lost.length > 0 || isKept ? lost : [base];
}

/** Where H is to be merged: git makes a merge of all files that is clean, and its code is not what merging code alone gives. */
function isMergedUnlike(here: Here): boolean {
  const { isMerged, objects, behindHead, base, head, merging, code } = here;
  if (!isMerged || behindHead.has(base) || mergeBases(objects, base, head).length === 0) return false;
  const merge = merging.merge([base, head]);
  if (merge && merge.conflicts.size > 0) return false;
  return !merge || !isTree(here, code.merge([base, head], merge.tree));
}

/** The same of a rebase: what has one parent is picked, commit by commit, with what B has too and without it. */
function isRebasedUnlike(here: Here): boolean {
  const { isMerged, objects, behindHead, base, head, arriving, merging } = here;
  if (!isMerged || behindHead.has(base) || mergeBases(objects, base, head).length === 0) return false;
  const single = arriving.filter((oid) => isPlain(objects.commit(oid)!));
  const args = ['-C', merging.dir, 'rev-list', '--cherry-pick', '--right-only', '--no-merges', `${base}...${head}`];
  const kept = spawnSync('git', args, { env: isolatedEnv, encoding: 'utf8' }).stdout.split('\n');
  const left = single.filter((oid) => kept.includes(oid));
  if (arriving.length === 1) return arePickedUnlike(here, single);
  return [single, left].some((commits) => arePickedUnlike(here, commits)) || isMissed(here, single, left);
}

/** Without what B has too, a rebase ends neither as the merge does nor as a rebase of everything. */
function isMissed(here: Here, single: readonly Oid[], left: readonly Oid[]): boolean {
  const { merging, base, head } = here;
  const merge = merging.merge([base, head]);
  const end = endOf(here, left);
  if (!merge || merge.conflicts.size > 0 || end === null) return false;
  const isEnd = (tree: Oid | null) =>
    tree !== null && codeIn(differing(here, merging.objects.files(tree), merging.objects.files(end))).size === 0;
  return ![merge.tree, endOf(here, []), endOf(here, single)].some(isEnd);
}

function endOf({ base, objects, merging }: Here, commits: readonly Oid[]): Oid | null {
  const treeOf = (oid: Oid | undefined): Oid => (oid ? objects.commit(oid)!.tree : merging.objects.write('tree', ''));
  let onto = treeOf(base);
  for (const oid of commits) {
    const merge = merging.mergeTrees(treeOf(objects.commit(oid)!.parents[0]), onto, treeOf(oid));
    if (!merge || merge.conflicts.size > 0) return null;
    onto = merge.tree;
  }
  return onto;
}

function arePickedUnlike(here: Here, commits: readonly Oid[]): boolean {
  const { objects, base, merging, code } = here;
  const treeOf = (oid: Oid | undefined): Oid => (oid ? objects.commit(oid)!.tree : merging.objects.write('tree', ''));
  let onto = treeOf(base);
  for (const oid of commits) {
    const merge = merging.mergeTrees(treeOf(objects.commit(oid)!.parents[0]), onto, treeOf(oid));
    if (merge && merge.conflicts.size > 0) return false;
    if (!merge || !isTree(here, code.pick(oid, onto, merge.tree))) return true;
    onto = merge.tree;
  }
  return false;
}
