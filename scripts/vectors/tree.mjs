import { hash } from './signing.mjs';

// RFC 6962 §2.1, as it is written there: `leaves` are hashes of leaves.

export function leafOf(file) {
  return hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(file)]));
}

export function rootOf(leaves) {
  if (leaves.length === 1) return leaves[0];
  const k = split(leaves.length);
  return hash('sha256', Buffer.concat([Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k))]));
}

/** §2.1.2: that the tree of all leaves extends that of the first `size`. */
export function consistency(size, leaves, isWhole = true) {
  if (size === leaves.length) return isWhole ? [] : [rootOf(leaves)];
  const k = split(leaves.length);
  if (size <= k) return [...consistency(size, leaves.slice(0, k), isWhole), rootOf(leaves.slice(k))];
  return [...consistency(size - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))];
}

function split(size) {
  return 2 ** Math.floor(Math.log2(size - 1));
}
