import { HandoffError } from '../error.ts';

// Which nodes of an RFC 6962 tree a proof is made of, and on which side each of them is.

/** A node by its height over the leaves and its place among the nodes of that height. The last of them may be ragged. */
export interface TreeNode {
  height: number;
  index: number;
}

/** The nodes of an inclusion proof, in its order. */
export function inclusionNodes(index: number, size: number): TreeNode[] {
  assertRange('index', index, 0, size - 1);
  return siblings({ height: 0, index }, size);
}

/** The nodes of a consistency proof, in its order. */
export function consistencyNodes(size1: number, size2: number): TreeNode[] {
  assertRange('size', size1, 1, size2);
  if (size1 === size2) return [];
  const start = lastSubtree(size1);
  // It is left out where it is all of the old tree: who asks has that root.
  return start.index === 0 ? siblings(start, size2) : [start, ...siblings(start, size2)];
}

/** The siblings on the way from a node to the root. */
export function siblings({ height, index }: TreeNode, size: number): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let last = Math.floor((size - 1) / 2 ** height); last > 0; last = half(last)) {
    const sibling = isOdd(index) ? index - 1 : index + 1;
    if (sibling <= last) nodes.push({ height, index: sibling });
    index = half(index);
    height++;
  }
  return nodes;
}

/** The last complete subtree of a tree of this size, as large as it can be. */
export function lastSubtree(size: number): TreeNode {
  let [height, index] = [0, size - 1];
  for (; isOdd(index); height++) index = half(index);
  return { height, index };
}

export function isLeft({ index }: TreeNode): boolean {
  return !isOdd(index);
}

// Sizes go up to 2^53 - 1, so no shifts: they work on 32 bits.
export function half(value: number): number {
  return Math.floor(value / 2);
}

export function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function assertRange(what: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new HandoffError('usage', `expected ${what} from ${min} to ${max}, got ${String(value)}`);
}
