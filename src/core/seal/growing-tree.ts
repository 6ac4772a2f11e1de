import { type Hash, sha256 as nobleSha256 } from '../bytes/hash.ts';
import { nodeHash } from './merkle.ts';
import { half, isOdd } from './tree-nodes.ts';

/** An RFC 6962 tree that grows by one leaf at a time and knows its root at every size. */
export interface GrowingTree {
  readonly size: number;
  /** The hash of a leaf, not its data. */
  add(leaf: Uint8Array): void;
  root(): Uint8Array;
}

/** Keeps one hash for each complete subtree, the largest first: as many as the size has ones in binary. */
export function growingTree(sha256: Hash = nobleSha256): GrowingTree {
  const peaks: Uint8Array[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(leaf) {
      let peak = leaf;
      for (let rest = size; isOdd(rest); rest = half(rest)) peak = nodeHash(peaks.pop()!, peak, sha256);
      peaks.push(peak);
      size++;
    },
    root: () =>
      peaks.length === 0
        ? sha256(new Uint8Array(0))
        : peaks.reduceRight((right, left) => nodeHash(left, right, sha256)),
  };
}
