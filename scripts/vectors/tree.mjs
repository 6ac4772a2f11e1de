import { hash } from './signing.mjs';

// RFC 6962 §2.1, as it is written there. Trees are arrays of the hashes of their leaves.

export function leafOf(file) {
  return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(file)]));
}

export function rootOf(leaves) {
  if (leaves.length === 0) return hash('sha256', '');
  if (leaves.length === 1) return leaves[0];
  const k = split(leaves.length);
  return nodeOf(rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

export function nodeOf(left, right) {
  return hash('sha256', Buffer.concat([Buffer.of(1), left, right]));
}

/** §2.1.1: the hashes beside the way from a leaf to the root. */
export function inclusion(leaves, index) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return index < k
    ? [...inclusion(leaves.slice(0, k), index), rootOf(leaves.slice(k))]
    : [...inclusion(leaves.slice(k), index - k), rootOf(leaves.slice(0, k))];
}

/** §2.1.2: that the tree begins with the tree of its first leaves. */
export function consistency(leaves, size, whole = true) {
  if (size === leaves.length) return whole ? [] : [rootOf(leaves)];
  const k = split(leaves.length);
  return size <= k
    ? [...consistency(leaves.slice(0, k), size, whole), rootOf(leaves.slice(k))]
    : [...consistency(leaves.slice(k), size - k, false), rootOf(leaves.slice(0, k))];
}

/** The largest power of two that is less than the size. */
export function split(size) {
  return 2 ** Math.floor(Math.log2(size - 1));
}
