import { equalBytes } from './bytes.ts';
import { HandoffError } from './error.ts';
import { type Hash, sha256 as nobleSha256 } from './hash.ts';

// RFC 6962 §2.1. A level is paired from the left and an odd last node moves up unchanged, which is the same tree as the
// RFC's split at the largest power of two. `leaves` are leaf data, D[n] in the RFC; each is hashed once.

const LEAF = 0;
const NODE = 1;
const SIZE = 32;

export function leafHash(data: Uint8Array, sha256: Hash = nobleSha256): Uint8Array {
  if (!(data instanceof Uint8Array)) throw notLeaves('a leaf as Uint8Array');
  const bytes = new Uint8Array(1 + data.length);
  bytes[0] = LEAF;
  bytes.set(data, 1);
  return sha256(bytes);
}

/** `leaves` are leaf data, not hashes. */
export function merkleRoot(leaves: readonly Uint8Array[], sha256: Hash = nobleSha256): Uint8Array {
  assertLeaves(leaves);
  return leaves.length === 0 ? sha256(new Uint8Array(0)) : climb(leaves, sha256, () => {});
}

/** RFC 6962 §2.1.1. `leaves` are leaf data, not hashes. */
export function inclusionProof(leaves: readonly Uint8Array[], index: number, sha256: Hash = nobleSha256): Uint8Array[] {
  assertLeaves(leaves);
  assertRange('index', index, 0, leaves.length - 1);
  const proof: Uint8Array[] = [];
  let node = index;
  climb(leaves, sha256, (level, count) => {
    const sibling = isOdd(node) ? node - 1 : node + 1;
    if (sibling < count) proof.push(nodeAt(level, sibling));
    node = half(node);
  });
  return proof;
}

/** RFC 6962 §2.1.2: that the tree of all `leaves` extends the tree of the first `size1`. */
export function consistencyProof(
  leaves: readonly Uint8Array[],
  size1: number,
  sha256: Hash = nobleSha256,
): Uint8Array[] {
  assertLeaves(leaves);
  assertRange('size', size1, 1, leaves.length);
  const proof: Uint8Array[] = [];
  if (size1 === leaves.length) return proof;
  let node = size1 - 1;
  let inOldTree = true;
  climb(leaves, sha256, (level, count) => {
    // The last complete subtree of the old tree comes first, unless it is all of the old tree.
    if (inOldTree && !isOdd(node)) {
      inOldTree = false;
      if (node > 0) proof.push(nodeAt(level, node));
    }
    const sibling = isOdd(node) ? node - 1 : node + 1;
    if (!inOldTree && sibling < count) proof.push(nodeAt(level, sibling));
    node = half(node);
  });
  return proof;
}

/** RFC 9162 §2.1.3.2. False for anything malformed; never throws. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
  sha256: Hash = nobleSha256,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size) return false;
  if (!isHash(leaf) || !isHash(root) || !isProof(proof)) return false;
  const sides = siblingSides(index, size - 1);
  return sides.length === proof.length && equalBytes(fold(leaf, proof, sides, sha256), root);
}

/** RFC 9162 §2.1.4.2. False for anything malformed, and for size1 = 0: every tree extends the empty one. */
export function verifyConsistency(
  size1: number,
  size2: number,
  proof: readonly Uint8Array[],
  root1: Uint8Array,
  root2: Uint8Array,
  sha256: Hash = nobleSha256,
): boolean {
  if (!isSize(size1) || !isSize(size2) || size1 === 0 || size1 > size2) return false;
  if (!isBytes(root1) || !isBytes(root2) || !isProof(proof)) return false;
  if (size1 === size2) return proof.length === 0 && equalBytes(root1, root2);
  let [node, last] = [size1 - 1, size2 - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  const [start, ...path] = node === 0 ? [root1, ...proof] : proof;
  const sides = siblingSides(node, last);
  if (!isHash(start) || sides.length !== path.length) return false;
  // What lies to the right of the path was not in the old tree.
  const oldPath = path.filter((_, i) => sides[i] === 'left');
  const oldSides = sides.filter((side) => side === 'left');
  return (
    equalBytes(fold(start, oldPath, oldSides, sha256), root1) && equalBytes(fold(start, path, sides, sha256), root2)
  );
}

type Side = 'left' | 'right';

/** From the leaves to the root, all levels in one buffer; `visit` sees each level that has siblings. */
function climb(
  leaves: readonly Uint8Array[],
  sha256: Hash,
  visit: (level: Uint8Array, count: number) => void,
): Uint8Array {
  const level = new Uint8Array(leaves.length * SIZE);
  for (let i = 0; i < leaves.length; i++) level.set(leafHash(leaves[i]!, sha256), i * SIZE);
  for (let count = leaves.length; count > 1; count = pairUp(level, count, sha256)) visit(level, count);
  return nodeAt(level, 0);
}

function pairUp(level: Uint8Array, count: number, sha256: Hash): number {
  const pairs = half(count);
  const input = new Uint8Array(1 + 2 * SIZE);
  input[0] = NODE;
  for (let i = 0; i < pairs; i++) {
    input.set(level.subarray(2 * i * SIZE, 2 * (i + 1) * SIZE), 1);
    level.set(sha256(input), i * SIZE);
  }
  if (isOdd(count)) level.copyWithin(pairs * SIZE, (count - 1) * SIZE, count * SIZE);
  return pairs + (count % 2);
}

function nodeAt(level: Uint8Array, index: number): Uint8Array {
  return level.slice(index * SIZE, (index + 1) * SIZE);
}

/** On which side each sibling lies on the way from a node to the root; `last` is the last node of the node's level. */
export function siblingSides(node: number, last: number): Side[] {
  const sides: Side[] = [];
  for (; last > 0; node = half(node), last = half(last)) {
    if (isOdd(node)) sides.push('left');
    else if (node < last) sides.push('right');
  }
  return sides;
}

function fold(start: Uint8Array, path: readonly Uint8Array[], sides: readonly Side[], sha256: Hash): Uint8Array {
  const input = new Uint8Array(1 + 2 * SIZE);
  input[0] = NODE;
  return path.reduce((hash, sibling, i) => {
    input.set(sibling, sides[i] === 'left' ? 1 : 1 + SIZE);
    input.set(hash, sides[i] === 'left' ? 1 + SIZE : 1);
    return sha256(input);
  }, start);
}

// Sizes go up to 2^53 - 1, so no shifts: they work on 32 bits.
function half(value: number): number {
  return Math.floor(value / 2);
}

function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function isSize(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length > 0;
}

function isHash(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === SIZE;
}

/** No path is longer than the 53 levels of the largest tree, plus the node that a consistency proof starts from. */
function isProof(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 54 && Array.from(value).every(isHash);
}

function assertLeaves(leaves: readonly Uint8Array[]): void {
  if (!Array.isArray(leaves) || !leaves.every((leaf) => leaf instanceof Uint8Array))
    throw notLeaves('leaves as an array of Uint8Array');
}

function notLeaves(expected: string): HandoffError {
  return new HandoffError('usage', `Expected ${expected}.`, {
    hint: 'Leaves are the data of the tree, not their hashes.',
  });
}

function assertRange(what: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new HandoffError('usage', `expected ${what} from ${min} to ${max}, got ${String(value)}`);
}
