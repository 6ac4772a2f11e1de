import { fromHex, toHex } from '../bytes/bytes.ts';
import { type Hash, sha256 as nobleSha256 } from '../bytes/hash.ts';
import { asHandoffError } from '../error.ts';
import { type ParsedRecord, parseRecord } from '../record/record.ts';
import { type GrowingTree, growingTree } from './growing-tree.ts';
import { verifyConsistency } from './merkle.ts';

/** A session tree of so many records; `root` in hex. */
export interface TreeHead {
  treeSize: number;
  root: string;
}

/** What a seal says. */
export interface SealClaim extends TreeHead {
  /** The seal before it, and the proof that this tree extends that one. */
  previous: (TreeHead & { proof: readonly string[] }) | null;
}

export interface Seal {
  seq: number;
  /** Null for a file that is no valid record, which has its own finding. */
  claim: SealClaim | null;
}

export interface SealFault {
  code: 'chain_broken';
  seq: number;
  expected: string;
  found: string;
}

/** Null for a file that is none. */
export function parseSeal(bytes: Uint8Array): ParsedRecord<'seal'> | null {
  try {
    const record = parseRecord(bytes);
    return record.kind === 'seal' ? record : null;
  } catch (error) {
    asHandoffError(error);
    return null;
  }
}

export function toSeal({ fields }: Pick<ParsedRecord<'seal'>, 'fields'>): Seal {
  const { seq, tree_size, root, previous } = fields;
  const before = previous ? { treeSize: previous.tree_size, root: previous.root, proof: previous.proof } : null;
  return { seq, claim: { treeSize: tree_size, root, previous: before } };
}

/**
 * SPEC §11.1. `seals` are those of one session by number; `leaves` the hash of each record's whole file, that of record 1
 * first, and nothing where there is no such file, or more than one. Of each seal the first fault is told.
 */
export function sealFaults(
  seals: readonly Seal[],
  leaves: readonly (Uint8Array | null | undefined)[],
  sha256: Hash = nobleSha256,
): SealFault[] {
  const tree = growingTree(sha256);
  const faults: SealFault[] = [];
  let before: TreeHead | null = null;
  for (const { seq, claim } of seals) {
    const root = rootOver(seq - 1, tree, leaves);
    const wrong = claim && (wrongHead(claim, seq, root, tree) ?? wrongPrevious(claim, before, sha256));
    if (wrong) faults.push({ code: 'chain_broken', seq, ...wrong });
    // what a spoilt seal would have said, if it was honest
    before = claim ?? { treeSize: seq - 1, root: root ?? '' };
  }
  return faults;
}

type Wrong = Pick<SealFault, 'expected' | 'found'>;

/** Null when a record is missing. */
function rootOver(size: number, tree: GrowingTree, leaves: readonly (Uint8Array | null | undefined)[]): string | null {
  while (tree.size < size) {
    const leaf = leaves[tree.size];
    if (!leaf) return null;
    tree.add(leaf);
  }
  return toHex(tree.root());
}

/** M76 */
function wrongHead(claim: SealClaim, seq: number, root: string | null, { size }: GrowingTree): Wrong | null {
  if (claim.treeSize !== seq - 1) return { expected: `tree_size ${seq - 1}`, found: `${claim.treeSize}` };
  if (root === null) return { expected: `a root over records 1 to ${seq - 1}`, found: `no one record ${size + 1}` };
  return claim.root === root ? null : { expected: `root ${root}`, found: claim.root };
}

/** M77 */
function wrongPrevious({ previous, ...claimed }: SealClaim, before: TreeHead | null, sha256: Hash): Wrong | null {
  if (!before && !previous) return null;
  if (!before) return { expected: 'no previous in the first seal', found: describe(previous!) };
  if (!previous) return { expected: `previous: ${describe(before)}`, found: 'none' };
  if (previous.treeSize !== before.treeSize || previous.root !== before.root)
    return { expected: `previous: ${describe(before)}`, found: describe(previous) };
  if (isConsistent(previous, claimed, sha256)) return null;
  const expected = `a proof that the tree of ${claimed.treeSize} records extends that of ${before.treeSize}`;
  return { expected, found: `${previous.proof.length} hashes that do not show it` };
}

function isConsistent(
  { proof, ...old }: NonNullable<SealClaim['previous']>,
  { treeSize, root }: TreeHead,
  sha256: Hash,
): boolean {
  const [oldRoot, newRoot, ...path] = [old.root, root, ...proof].map((hex) => fromHex(hex));
  // a hash that is none makes a proof that is none
  return verifyConsistency(old.treeSize, treeSize, path as Uint8Array[], oldRoot!, newRoot!, sha256);
}

function describe({ treeSize, root }: TreeHead): string {
  return `tree_size ${treeSize}, root ${root}`;
}
