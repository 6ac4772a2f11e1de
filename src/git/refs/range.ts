import { hinting } from '../../core/error.ts';
import { assertOid } from '../objects/asked-name.ts';
import { MAX_COMMIT_BYTES } from '../objects/commit-object.ts';
import type { Commit, GitStore, Oid } from '../objects/store.ts';
import { nullIfTooLarge } from '../objects/store-error.ts';
import { malformed } from '../objects/tree-object.ts';
import { type Git, readGit } from '../run.ts';

export interface RangeCommit {
  oid: Oid;
  parents: Oid[];
}

/** The commits that some have and others have not. */
export interface Range {
  /** Descendants before their ancestors. */
  commits: RangeCommit[];
  /** Parents of these that are not among them. */
  boundary: Set<Oid>;
}

/** The commits that `head` has and none of `knownCommits` has. */
export async function readRange(git: Git, head: Oid, knownCommits: readonly Oid[]): Promise<Range> {
  for (const oid of [head, ...knownCommits]) assertOid(oid);
  const args = ['rev-list', '--topo-order', '--parents', '--boundary', head, '--not', ...knownCommits, '--'];
  const lines = (await readGit(git, args)).toString('latin1').split('\n').slice(0, -1);
  const boundary = new Set(lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1).split(' ', 1)[0]!));
  const commits = lines
    .filter((line) => !line.startsWith('-'))
    .map((line) => {
      const [oid = '', ...parents] = line.split(' ');
      return { oid, parents };
    });
  return { commits, boundary };
}

/**
 * Throws for a commit that readers take for different things, as one with a parent where git does not look for any, and for one that
 * is too large. Few are held at once: there may be a hundred thousand.
 */
export async function assertReadAlike(store: GitStore, commits: readonly RangeCommit[]): Promise<void> {
  for (let from = 0; from < commits.length; from += AT_ONCE) {
    const some = commits.slice(from, from + AT_ONCE);
    const read = await Promise.all(some.map(({ oid }) => readArriving(store, oid)));
    for (const [at, { oid, parents }] of read.entries())
      if (parents.join() !== some[at]!.parents.join()) throw malformed('commit', oid);
  }
}

const AT_ONCE = 64;

/** A message that says one thing a million times is small in a push. */
function readArriving(store: GitStore, oid: Oid): Promise<Commit> {
  return store.readCommit(oid, MAX_COMMIT_BYTES).catch(hinting('too_large', LARGE));
}

const LARGE = `A commit that arrives, with its message, has at most ${MAX_COMMIT_BYTES} bytes. Make it anew with a shorter message: git rebase -i, or git commit --amend.`;

/** More commits than this and a process that knows all of history is faster. */
const NEAR = 128;

/**
 * The same without a process, where every way back from head leads through base and is short: then none of the commits on it is
 * in base's past. Null where that is not so, and where one of them is too large: it may have been there before.
 */
export async function readNearRange(store: GitStore, head: Oid, base: Oid): Promise<Range | null> {
  const commits = new Map<Oid, RangeCommit>();
  const line = new Map((await store.readLine(head, base)).map((commit) => [commit.oid, commit]));
  for (let open = [head].filter((oid) => oid !== base); open.length > 0; ) {
    if (commits.size + open.length > NEAR) return null;
    const asked = open.map((oid) => line.get(oid) ?? store.readCommit(oid, MAX_COMMIT_BYTES).catch(nullIfTooLarge));
    const found = await Promise.all(asked);
    const read = found.filter((commit) => commit !== null);
    if (read.length < found.length) return null;
    for (const { oid, parents } of read) commits.set(oid, { oid, parents });
    if (read.some(({ parents }) => parents.length === 0)) return null;
    const before = new Set(read.flatMap(({ parents }) => parents));
    open = [...before].filter((oid) => oid !== base && !commits.has(oid));
  }
  return { commits: inOrder(commits, head), boundary: new Set(commits.size > 0 ? [base] : []) };
}

/** Descendants first: the order in which a walk leaves them, turned round. */
function inOrder(commits: ReadonlyMap<Oid, RangeCommit>, head: Oid): RangeCommit[] {
  const left: RangeCommit[] = [];
  const seen = new Set<Oid>();
  const path = [{ oid: head, next: 0 }];
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const commit = seen.has(at.oid) && at.next === 0 ? undefined : commits.get(at.oid);
    seen.add(at.oid);
    const parent = commit?.parents[at.next++];
    if (parent !== undefined) path.push({ oid: parent, next: 0 });
    else {
      if (commit) left.push(commit);
      path.pop();
    }
  }
  return left.reverse();
}

/** The commits of a range that one commit descends from, itself included; none if it is not in the range. */
export function ancestorsIn(commits: ReadonlyMap<Oid, RangeCommit>, from: Oid): Set<Oid> {
  const found = new Set<Oid>();
  const open = [from];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    const commit = found.has(oid) ? undefined : commits.get(oid);
    if (!commit) continue;
    found.add(oid);
    for (const parent of commit.parents) open.push(parent);
  }
  return found;
}
