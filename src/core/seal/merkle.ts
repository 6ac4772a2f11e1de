import { equalBytes } from '../bytes/bytes.ts';
import { type Hash, type HashInto, hashInto, sha256 as nobleSha256 } from '../bytes/hash.ts';
import { HandoffError } from '../error.ts';
import {
  consistencyNodes,
  half,
  inclusionNodes,
  isLeft,
  isOdd,
  lastSubtree,
  siblings,
  type TreeNode,
} from './tree-nodes.ts';

// RFC 6962 §2.1. A level is paired from the left and an odd last node moves up unchanged, which is the same tree as the
// RFC's split at the largest power of two. `leaves` are leaf data, D[n] in the RFC; each is hashed once.

const LEAF = 0;
const NODE = 1;
const SIZE = 32;
const PAIR = 1 + 2 * SIZE;

export function leafHash(data: Uint8Array, sha256: Hash = nobleSha256): Uint8Array {
  if (!(data instanceof Uint8Array)) throw notLeaves('a leaf as Uint8Array');
  const bytes = new Uint8Array(1 + data.length);
  bytes[0] = LEAF;
  bytes.set(data, 1);
  return sha256(bytes);
}

export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Hash = nobleSha256): Uint8Array {
  const bytes = new Uint8Array(PAIR);
  bytes[0] = NODE;
  bytes.set(left, 1);
  bytes.set(right, 1 + SIZE);
  return sha256(bytes);
}

/** `leaves` are leaf data, not hashes. */
export function merkleRoot(leaves: readonly Uint8Array[], sha256: Hash = nobleSha256): Uint8Array {
  assertLeaves(leaves);
  return leaves.length === 0 ? sha256(new Uint8Array(0)) : climb(leafLevel(leaves, sha256), sha256, () => {});
}

/** RFC 6962 §2.1.1. `leaves` are leaf data, not hashes. */
export function inclusionProof(leaves: readonly Uint8Array[], index: number, sha256: Hash = nobleSha256): Uint8Array[] {
  assertLeaves(leaves);
  return pick(inclusionNodes(index, leaves.length), leaves, sha256);
}

/** RFC 6962 §2.1.2: that the tree of all `leaves` extends the tree of the first `size1`. */
export function consistencyProof(
  leaves: readonly Uint8Array[],
  size1: number,
  sha256: Hash = nobleSha256,
): Uint8Array[] {
  assertLeaves(leaves);
  return pick(consistencyNodes(size1, leaves.length), leaves, sha256);
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
  const nodes = siblings({ height: 0, index }, size);
  return nodes.length === proof.length && equalBytes(fold(leaf, proof, nodes, sha256), root);
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
  const subtree = lastSubtree(size1);
  const nodes = siblings(subtree, size2);
  const [start, ...path] = subtree.index === 0 ? [root1, ...proof] : proof;
  if (!isHash(start) || nodes.length !== path.length) return false;
  // What lies to the right of the path was not in the old tree.
  const oldPath = path.filter((_, i) => isLeft(nodes[i]!));
  const oldNodes = nodes.filter(isLeft);
  return (
    equalBytes(fold(start, oldPath, oldNodes, sha256), root1) && equalBytes(fold(start, path, nodes, sha256), root2)
  );
}

/** The root over nodes of one height, whose hashes are given one after another. */
export function rootOfHashes(hashes: Uint8Array, sha256: Hash): Uint8Array {
  const level = newLevel(hashes.length / SIZE);
  level.set(hashes);
  return climb(level, sha256, () => {});
}

/** Leaf hashes one after another. */
export function leafHashes(leaves: readonly Uint8Array[], sha256: Hash): Uint8Array {
  return leafLevel(leaves, sha256).subarray(0, leaves.length * SIZE);
}

function leafLevel(leaves: readonly Uint8Array[], sha256: Hash): Uint8Array {
  const into = hashInto(sha256);
  const level = newLevel(leaves.length);
  // One input for all of them, and one view of it for each length: an array for each leaf takes as long as its hash.
  const input = new Uint8Array(1 + leaves.reduce((longest, { length }) => Math.max(longest, length), 0));
  const views = new Array<Uint8Array | undefined>(input.length);
  input[0] = LEAF;
  for (let i = 0; i < leaves.length; i++) {
    const { length } = leaves[i]!;
    const view = views[length] ?? input.subarray(0, 1 + length);
    views[length] = view;
    view.set(leaves[i]!, 1);
    into(view, level, i * SIZE);
  }
  return level;
}

function pick(nodes: readonly TreeNode[], leaves: readonly Uint8Array[], sha256: Hash): Uint8Array[] {
  const proof: Uint8Array[] = [];
  climb(leafLevel(leaves, sha256), sha256, (level, height) => {
    while (nodes[proof.length]?.height === height) proof.push(nodeAt(level, nodes[proof.length]!.index));
  });
  return proof;
}

/** From one level to the root, each level in the place of the one below; `visit` sees each level that has siblings. */
function climb(level: Uint8Array, sha256: Hash, visit: (level: Uint8Array, height: number) => void): Uint8Array {
  const into = hashInto(sha256);
  let count = Math.floor((level.length - PAIR) / SIZE);
  for (let height = 0; count > 1; height++) {
    visit(level, height);
    count = pairUp(level, count, into);
  }
  return nodeAt(level, 0);
}

function pairUp(level: Uint8Array, count: number, into: HashInto): number {
  const pairs = half(count);
  const input = level.subarray(-PAIR);
  const end = level.length - 2 * SIZE;
  input[0] = NODE;
  for (let i = 0; i < pairs; i++) {
    level.copyWithin(end, 2 * i * SIZE, 2 * (i + 1) * SIZE);
    into(input, level, i * SIZE);
  }
  if (isOdd(count)) level.copyWithin(pairs * SIZE, (count - 1) * SIZE, count * SIZE);
  return pairs + (count % 2);
}

/** Hashes one after another, and room for the pair that is being hashed: in the same buffer no view is made for each. */
function newLevel(count: number): Uint8Array {
  return new Uint8Array(count * SIZE + PAIR);
}

function nodeAt(level: Uint8Array, index: number): Uint8Array {
  return level.slice(index * SIZE, (index + 1) * SIZE);
}

function fold(start: Uint8Array, path: readonly Uint8Array[], nodes: readonly TreeNode[], sha256: Hash): Uint8Array {
  return path.reduce(
    (hash, sibling, i) => (isLeft(nodes[i]!) ? nodeHash(sibling, hash, sha256) : nodeHash(hash, sibling, sha256)),
    start,
  );
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
