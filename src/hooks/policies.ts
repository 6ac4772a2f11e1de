import { basename } from 'node:path';
import { limiter } from '../audit/source/limit.ts';
import { metered } from '../audit/source/metered-source.ts';
import { type Entry, FILE, FOLDER, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { hasPolicy, type KnownPolicies, readPolicies, rootOf } from '../audit/trust/trust.ts';
import { type Budget, isOverBudget, partOf } from '../core/budget.ts';
import { asHandoffError } from '../core/error.ts';
import { policyPath, ROOT } from '../core/paths.ts';
import type { Policy } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { NativeGitStore } from '../git/objects/native-store.ts';
import type { Oid } from '../git/objects/store.ts';
import type { GitAccess } from '../repository/parts.ts';

/** What the policies of a commit say, as far as they hold. */
export interface PolicyAt {
  /** The repository that the policies belong to; null if not even the first policy is valid. */
  root: string | null;
  version: number;
  /** The ids of all versions, the oldest first. */
  policyIds: readonly string[];
  /** 'all' if no policy is valid: then nobody knows which refs are free. */
  protected: readonly string[] | 'all';
}

/** Null where a commit has no policy. */
export interface Policies {
  /** The policies of a commit that the push brings. The time counts against the pusher's budget; a file that cannot be read is an error. */
  arriving(commit: Oid): Promise<PolicyAt | null>;
  /** The policies of the commit at HEAD. It is judged whenever it changes, so all of it is read, however much it is. */
  atHead(commit: Oid): Promise<PolicyAt | null | 'unreadable'>;
  /**
   * The policies of a branch that anybody may have filled. Later pushes must not fail because of it: a branch that is broken, or too
   * large and without valid policies, counts as unreadable. If a root is given and the branch has another, only its first policy is read.
   */
  standing(commit: Oid, root?: string): Promise<PolicyAt | null | 'unreadable'>;
}

/** Bytes of one folder, and of all that is read of one branch: far above what people have, far below what a server notices. */
const MOST_TREE = 4 * 1024 * 1024;
const MOST_BYTES = 16 * 1024 * 1024;

/** A push names thousands of refs, whose commits have the same policies, or all but one: each file is judged once. */
export function openPolicies({ store }: GitAccess, budget: Budget): Policies {
  const byTree = new Map<string, Promise<PolicyAt | null>>();
  const knownPolicies: KnownPolicies = new Map();
  const oneByOne = limiter(1); // so that each knows what the one before has read
  const readOf = async (source: Source, root?: string): Promise<PolicyAt | null> => {
    budget.assertTime();
    const folder = await find(source, `${ROOT}/policy`);
    if (folder?.mode !== FOLDER) return null;
    const key = `${folder.oid} ${root ?? ''}`;
    const found =
      byTree.get(key) ?? oneByOne(1, () => readAt(source, { knownPolicies, root, named: byName(store, folder) }));
    byTree.set(key, found);
    return found;
  };
  return {
    arriving: async (commit) => readOf(metered(await openTree(store, commit), budget)),
    atHead: (commit) => unlessUnreadable(budget, async () => readOf(await openTree(store, commit))),
    standing: (commit, root) =>
      unlessUnreadable(budget, async () => {
        const tree = await openRecords(store, commit);
        return readOf(metered(tree, partOf(budget, MOST_BYTES)), root);
      }),
  };
}

/**
 * `.handoff/` of a commit alone: git finds it, however much stands beside it. So nobody makes a protected branch too large to look at by
 * files that ask for no account; what stands in `.handoff/` there is judged. Where there is none, all of it is looked at.
 */
async function openRecords(store: NativeGitStore, commit: Oid): Promise<Source> {
  const name = `${commit}:${ROOT}`;
  const oid = (await store.has(name)) ? await store.resolve(name) : null;
  const tree = oid === null ? null : await openTree(store, oid, MOST_TREE).catch(nullIfNoFolder);
  if (!tree) return openTree(store, commit, MOST_TREE);
  return { ...tree, oid: null, root: async () => [{ path: ROOT, name: ROOT, mode: FOLDER, oid }] };
}

function nullIfNoFolder(error: unknown): null {
  if (asHandoffError(error).code === 'mode_invalid') return null;
  throw error;
}

/** A fault of the server itself, and the end of the time, are no reason to go on without what could not be read. */
async function unlessUnreadable<T>(budget: Budget, read: () => Promise<T>): Promise<T | 'unreadable'> {
  try {
    return await read();
  } catch (error) {
    budget.assertTime();
    const failure = asHandoffError(error);
    if (failure.exitCode === 4) throw failure;
    return 'unreadable';
  }
}

interface Reading {
  knownPolicies: KnownPolicies;
  root: string | undefined;
  named: AsyncIterable<Entry>;
}

/**
 * A folder that is too large to be listed may still have policies in force: a branch that they protect does not become free by what
 * somebody puts beside them. So they are asked for by their names, each once the one before it holds.
 */
async function readAt(source: Source, { knownPolicies, root, named }: Reading): Promise<PolicyAt | null> {
  const report = () => {};
  try {
    if (!(await hasPolicy(source))) return null;
    return toPolicyAt(await readPolicies(source, nodeSuite, report, { knownPolicies, root }));
  } catch (error) {
    const problem = asHandoffError(error);
    if (problem.code !== 'too_large' || isOverBudget(problem)) throw problem;
    const policies = await readPolicies(source, nodeSuite, report, { knownPolicies, root, named });
    if (policies.length === 0) throw problem;
    return toPolicyAt(policies);
  }
}

async function* byName(store: NativeGitStore, folder: Entry): AsyncGenerator<Entry> {
  for (let version = 1; ; version++) {
    const path = policyPath(version);
    const name = basename(path);
    const asked = `${folder.oid}:${name}`;
    const oid = (await store.has(asked)) ? await store.resolve(asked) : null;
    if (oid === null) return;
    yield { path, name, mode: FILE, oid };
  }
}

function toPolicyAt(policies: readonly Policy[]): PolicyAt {
  const [genesis, newest] = [policies[0], policies.at(-1)];
  if (!genesis || !newest) return { root: null, version: 0, policyIds: [], protected: 'all' };
  const policyIds = policies.map(({ id }) => id);
  return { root: rootOf(genesis), version: newest.version, policyIds, protected: newest.rules.protected };
}

export function lists({ protected: refs }: PolicyAt, ref: string): boolean {
  return refs === 'all' || refs.includes(ref);
}
