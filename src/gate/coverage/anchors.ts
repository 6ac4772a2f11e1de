import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { RangeCommit } from '../../git/refs/range.ts';
import type { Covers } from './ancestry.ts';
import type { AnchorCase, Found, Rule } from './candidates.ts';
import { eachByPatch, wholeByPatch } from './found-by-patch.ts';
import { eachByTree, someByTree, wholeByTree } from './found-by-tree.ts';
import type { OwnChanges } from './own-changes.ts';

/** How thoughts are tied to the commits of a change. */
interface Anchors {
  covers: Covers<Account>;
  /** Also those that cover nothing here, because what they are about is there already. */
  anchored: Set<Account>;
  /** Commits that are what git made of a thought's commit elsewhere, and which paths that changed: the others are git's choice. */
  moved: Map<Oid, ReadonlySet<string>>;
  /** Other thoughts, whose files came along with what was found. */
  beside: Set<Account>;
  /** Those whose commits git has squashed into one, with everything that is behind that one. */
  squashed: Set<Account>;
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
 * SPEC §10.4.4: after squash, rebase or cherry-pick the commits are others, and what they do is the same. All of what a
 * thought is about must be there: half of it is something else, which nobody has accounted for.
 */
export function openAnchoring(input: AnchorCase): Anchoring {
  const { range, own } = input;
  const free = range.commits.filter(({ oid, parents }) => parents.length < 2 && own.get(oid)?.patchId).reverse();
  const alike = groupByPatch(free, own);
  const found: Anchors = {
    covers: new Map(),
    anchored: new Set(),
    moved: new Map(),
    beside: new Set(),
    squashed: new Set(),
  };
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

// what was done, taken back and done again is as a whole what its first commit is: each commit goes before the whole
const BY_PATCH: readonly Rule[] = [eachByPatch, wholeByPatch];
const BY_TREE: readonly Rule[] = [someByTree, wholeByTree, eachByTree];

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

function note({ covers, anchored, moved, beside, squashed }: Anchors, account: Account, found: Found | null): boolean {
  if (!found) return false;
  anchored.add(account);
  if (found.commits.size > 0) covers.set(account, new Set(found.commits.keys()));
  for (const [oid, how] of found.commits) if (how) moved.set(oid, new Set([...(moved.get(oid) ?? []), ...how.changed]));
  if (found.beside) squashed.add(account);
  for (const other of found.beside ?? []) beside.add(other);
  return true;
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
