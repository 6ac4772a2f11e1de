import { HandoffError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/store.ts';
import { ancestorsIn, type Range, type RangeCommit } from '../../git/refs/range.ts';

/** Which thought covers which commits of a change. */
export type Covers<A> = Map<A, CommitSet>;

/** Some commits of a change. Many thoughts may share one. */
export type CommitSet = Pick<ReadonlySet<Oid>, 'has' | 'size'> & Iterable<Oid>;

/** SPEC §10.4.3, step 2: a thought covers the commit that it names, and what of the change that commit descends from. */
export function coverByAncestry<A extends { commit: Oid }>({ commits }: Range, accounts: readonly A[]): Covers<A> {
  const byOid = new Map<Oid, RangeCommit>(commits.map((commit) => [commit.oid, commit]));
  const named = new Set(accounts.map(({ commit }) => commit).filter((oid) => byOid.has(oid)));
  const setOf = named.size <= FEW ? walking(byOid) : counting(commits, named);
  const sets = new Map([...named].map((oid) => [oid, setOf(oid)]));
  return new Map(
    accounts.filter(({ commit }) => named.has(commit)).map((account) => [account, sets.get(account.commit)!]),
  );
}

/** Walking back from each of more commits than this takes longer than one walk that keeps a bit for each. */
const FEW = 16;

/** The bits of so many commits take 32 MiB. */
const MOST = 16_384;

function walking(byOid: ReadonlyMap<Oid, RangeCommit>): (oid: Oid) => CommitSet {
  return (oid) => ancestorsIn(byOid, oid);
}

/** Each commit has the bits of its parents, and its own: time and memory grow with commits, however many thoughts there are. */
function counting(commits: readonly RangeCommit[], named: ReadonlySet<Oid>): (oid: Oid) => CommitSet {
  if (commits.length > MOST) throw tooMany(commits.length);
  const order = [...commits].reverse(); // ancestors first
  const numbers = new Map(order.map(({ oid }, at) => [oid, at]));
  const rows = order.map(() => new Uint32Array(0));
  for (const [at, { parents }] of order.entries()) {
    const row = new Uint32Array((at >> 5) + 1);
    for (const parent of parents) {
      const from = rows[numbers.get(parent) ?? -1] ?? [];
      for (let word = 0; word < from.length; word++) row[word]! |= from[word]!;
    }
    row[at >> 5]! |= 1 << (at & 31);
    rows[at] = row;
  }
  const table = { oids: order.map(({ oid }) => oid), numbers };
  return (oid) => (named.has(oid) ? new BitSet(rows[numbers.get(oid)!]!, table) : new Set());
}

/** The commits of a change, and the bit of each. */
interface Table {
  oids: readonly Oid[];
  numbers: ReadonlyMap<Oid, number>;
}

class BitSet implements CommitSet {
  constructor(
    readonly row: Uint32Array,
    readonly table: Table,
  ) {}

  has(oid: Oid): boolean {
    return hasBit(this.row, this.table.numbers.get(oid) ?? this.table.oids.length);
  }

  get size(): number {
    return this.row.reduce((sum, word) => sum + bitsIn(word), 0);
  }

  *[Symbol.iterator](): Generator<Oid> {
    for (let at = 0; at < this.row.length * 32; at++) if (hasBit(this.row, at)) yield this.table.oids[at]!;
  }
}

function hasBit(row: Uint32Array, at: number): boolean {
  return ((row[at >> 5] ?? 0) & (1 << (at & 31))) !== 0;
}

function bitsIn(word: number): number {
  let count = 0;
  for (let left = word; left !== 0; left &= left - 1) count++;
  return count;
}

/** All commits that some of these sets have. Bits are put together first: thousands of thoughts may have thousands each. */
export function union(sets: Iterable<CommitSet>): Set<Oid> {
  const all = new Set<Oid>();
  const sums = new Map<Table, Uint32Array>();
  for (const set of new Set(sets)) {
    if (set instanceof BitSet) addBits(sums, set);
    else for (const oid of set) all.add(oid);
  }
  for (const [table, row] of sums) for (const oid of new BitSet(row, table)) all.add(oid);
  return all;
}

function addBits(sums: Map<Table, Uint32Array>, { row, table }: BitSet): void {
  const sum = sums.get(table) ?? new Uint32Array((table.oids.length >> 5) + 1);
  sums.set(table, sum);
  for (let word = 0; word < row.length; word++) sum[word]! |= row[word]!;
}

function tooMany(found: number): HandoffError {
  return new HandoffError(
    'too_large',
    `A change has ${found} commits, and thoughts about many of them; at most ${MOST}.`,
    {
      hint: 'Push it in smaller pieces, one after the other.',
      data: { expected: MOST, found },
    },
  );
}
