import { type Git, readGit } from './run.ts';
import { assertOid, type Oid } from './store.ts';

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

/** What `head` brings that none of `known` has. */
export async function readRange(git: Git, head: Oid, known: readonly Oid[]): Promise<Range> {
  for (const oid of [head, ...known]) assertOid(oid);
  const args = ['rev-list', '--topo-order', '--parents', '--boundary', head, '--not', ...known, '--'];
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

/** Of a range's commits those that one of them descends from, itself included; none when it is not in the range. */
export function ancestorsIn(commits: ReadonlyMap<Oid, RangeCommit>, from: Oid): Set<Oid> {
  const found = new Set<Oid>();
  const open = [from];
  for (let oid = open.pop(); oid !== undefined; oid = open.pop()) {
    const commit = found.has(oid) ? undefined : commits.get(oid);
    if (!commit) continue;
    found.add(oid);
    open.push(...commit.parents);
  }
  return found;
}
