import { assertOid } from '../objects/asked-name.ts';
import type { GitStore, Oid } from '../objects/store.ts';
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

/** Throws for a commit that readers take for different things, as one with a parent where git does not look for any. */
export async function assertReadAlike(store: GitStore, commits: readonly RangeCommit[]): Promise<void> {
  const read = await Promise.all(commits.map(({ oid }) => store.readCommit(oid)));
  for (const [at, { oid, parents }] of read.entries())
    if (parents.join() !== commits[at]!.parents.join()) throw malformed('commit', oid);
}

/** More commits than this and a process that knows all of history is faster. */
const NEAR = 128;

/**
 * The same without a process, where every way back from head leads through base and is short: then none of the commits on it is
 * in base's past. Null where that is not so.
 */
export async function readNearRange(store: GitStore, head: Oid, base: Oid): Promise<Range | null> {
  const commits = new Map<Oid, RangeCommit>();
  const line = new Map((await store.readLine(head, base)).map((commit) => [commit.oid, commit]));
  for (let open = [head].filter((oid) => oid !== base); open.length > 0; ) {
    const read = await Promise.all(open.map((oid) => line.get(oid) ?? store.readCommit(oid)));
    for (const { oid, parents } of read) commits.set(oid, { oid, parents });
    if (commits.size > NEAR || read.some(({ parents }) => parents.length === 0)) return null;
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
