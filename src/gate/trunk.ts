import type { Report } from '../audit/finding.ts';
import { openMerged } from '../audit/source/merged-source.ts';
import { type Entry, FOLDER, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import type { Finding } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Identity, Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';

/** A protected branch, and what is to take its place. */
interface Branch {
  base: Oid;
  head: Oid;
  before: Source;
  trust: Trust;
}

/** What the trunk has decided since a branch left it. */
export interface TrunkTrust {
  before: Source;
  trust: Trust;
  /** A tree of the change, with the policies and identities that it would have on the trunk. */
  withTrust(result: Source, report: Report): Promise<Source>;
}

/**
 * SPEC §10.9: a branch that has not got yet what the trunk has revoked or asked for since would take what the trunk refuses. Null where
 * the trunk decides nothing else than the branch itself.
 */
export async function openTrunkTrust({ store }: GitAccess, trunk: Oid, branch: Branch): Promise<TrunkTrust | null> {
  const { base, head, trust: own } = branch;
  if (await store.isAncestor(trunk, base)) return null;
  if (await store.isAncestor(head, trunk)) return null; // it has what the trunk has, and nothing else
  const ours = await openTree(store, trunk);
  if ((await loadTrust(ours, nodeSuite, ignore))?.repoId !== own.repoId) return null;
  const onTrunk = async (theirs: Source, commit: Oid, report: Report): Promise<Source> => {
    const bases = await Promise.all((await store.mergeBases(trunk, commit)).map((oid) => openTree(store, oid)));
    const [mine, other, ...old] = [ours, theirs, ...bases].map(onlyTrust);
    const merged = await openMerged({ ours: mine!, theirs: other!, bases: old }, ROOT, report);
    return joined(theirs, merged);
  };
  const before = await onTrunk(branch.before, base, ignore);
  const trust = await loadTrust(before, nodeSuite, ignore);
  if (!trust || decidesAlike(trust, own)) return null;
  const withTrust = async (result: Source, report: Report): Promise<Source> => {
    const conflicts: Finding[] = [];
    const source = await onTrunk(result, head, (found) => conflicts.push(found));
    for (const found of conflicts)
      if (await differs(found.path!, branch.before, result)) report({ ...found, hint: takeFrom(trunk, found.path!) });
    return source;
  };
  return { before, trust, withTrust };
}

function ignore(): void {}

/** Whether both have the same policy, and every identity of the branch is the same on the trunk. */
function decidesAlike(joint: Trust, own: Trust): boolean {
  const isAlike = (a: ReadonlyMap<string, Identity>, b: ReadonlyMap<string, Identity>): boolean =>
    [...b].every(([name, { id }]) => a.get(name)?.id === id);
  return (
    joint.policy.id === own.policy.id &&
    isAlike(joint.identities, own.identities) &&
    isAlike(joint.distrusted, own.distrusted)
  );
}

function takeFrom(trunk: Oid, path: string): string {
  const command = `git checkout ${trunk.slice(0, 12)} -- ${quoteWord(path)}`;
  return `The trunk has decided otherwise since. Fetch it, take what it has: ${command}, then git commit`;
}

/** Whether this change altered the path: a conflict that was there before is not its doing. */
async function differs(path: string, before: Source, now: Source): Promise<boolean> {
  const [old, entry] = await Promise.all([find(before, path), find(now, path)]);
  return old?.oid !== entry?.oid || old?.mode !== entry?.mode;
}

const TRUST = ['policy', 'identities'];

function isOfTrust({ name }: Entry): boolean {
  return TRUST.includes(name);
}

/** The same tree, but its `.handoff` lists only policies and identities. */
function onlyTrust(source: Source): Source {
  const list = async (folder: Entry): Promise<Entry[]> =>
    isTop(folder) ? (await source.list(folder)).filter(isOfTrust) : source.list(folder);
  return { ...source, list };
}

/** A tree with the policies and identities of another one. Its `.handoff` has no object id, because git has never stored this folder. */
function joined(source: Source, trusting: Source): Source {
  const isBelow = ({ path }: Entry): boolean => TRUST.some((name) => path.startsWith(`${ROOT}/${name}`));
  return {
    ...source,
    oid: null,
    root: async () => (await source.root()).map((entry) => (isTop(entry) ? { ...entry, oid: null } : entry)),
    list: async (folder) => {
      if (isBelow(folder)) return trusting.list(folder);
      if (!isTop(folder)) return source.list(folder);
      return [...(await topOf(source)).filter((entry) => !isOfTrust(entry)), ...(await topOf(trusting))];
    },
  };
}

function isTop({ path, mode }: Entry): boolean {
  return path === ROOT && mode === FOLDER;
}

/** What stands in `.handoff`. */
async function topOf(source: Source): Promise<Entry[]> {
  const top = (await source.root()).find(isTop);
  return top ? source.list(top) : [];
}
