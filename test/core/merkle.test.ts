import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromBase64, fromHex, toHex } from '../../src/core/bytes/bytes.ts';
import {
  consistencyProof,
  inclusionProof,
  leafHash,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../src/core/seal/merkle.ts';
import { consistencyNodes, inclusionNodes, type TreeNode } from '../../src/core/seal/tree-nodes.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { vectors } from '../vectors.ts';

const { sha256 } = nodeHashes;
const probesPath = vectors('merkle/probes.json');
const referencePath = vectors('merkle/rfc6962-reference.json');

type Range = (start: number, end: number) => Uint8Array;

describe.skipIf(!probesPath)('published probes', () => {
  type Probe = Record<'root' | 'leafHash' | 'root1' | 'root2', string> &
    Record<'leafIdx' | 'treeSize' | 'size1' | 'size2' | 'start' | 'end' | 'size', number> & {
      path: string;
      proof: string[] | null;
      wantErr: boolean;
    };
  const probes = (folder: string): Probe[] =>
    JSON.parse(readFileSync(probesPath!, 'utf8')).filter((p: Probe) => p.path.startsWith(`${folder}/`));
  const wrong = (cases: Probe[], verify: (p: Probe, proof: Uint8Array[]) => boolean) =>
    cases.filter((p) => verify(p, (p.proof ?? []).map(base64)) === p.wantErr).map((p) => p.path);

  test('inclusion: 6 good, 92 bad', () => {
    const cases = probes('inclusion');
    expect(count(cases)).toEqual([6, 92]);
    expect(
      wrong(cases, (p, proof) => verifyInclusion(base64(p.leafHash), p.leafIdx, p.treeSize, proof, base64(p.root))),
    ).toEqual([]);
  });

  test('consistency: 6 good, 92 bad', () => {
    const cases = probes('consistency');
    expect(count(cases)).toEqual([6, 92]);
    expect(
      wrong(cases, (p, proof) => verifyConsistency(p.size1, p.size2, proof, base64(p.root1), base64(p.root2))),
    ).toEqual([]);
  });

  test('inclusion in an aligned subtree is inclusion in a tree', () => {
    const all = probes('subtreeinclusion');
    const cases = all.filter((p) => p.start < p.end && p.start % powerOfTwoFrom(p.end - p.start) === 0);
    console.info(`skipped: ${all.length - cases.length} of ${all.length} subtree inclusions, empty or unaligned`);
    expect(count(cases)).toEqual([12, 173]);
    expect(
      wrong(cases, (p, proof) =>
        verifyInclusion(base64(p.leafHash), p.leafIdx - p.start, p.end - p.start, proof, base64(p.root)),
      ),
    ).toEqual([]);
  });

  test('consistency of a subtree that starts at 0 is consistency of a tree', () => {
    const all = probes('subtreeconsistency');
    const cases = all.filter((p) => p.start === 0 && p.end > 0);
    console.info(`skipped: ${all.length - cases.length} of ${all.length} subtree consistencies, empty or not from 0`);
    expect(count(cases)).toEqual([6, 85]);
    expect(
      wrong(cases, (p, proof) => verifyConsistency(p.end, p.size, proof, base64(p.root1), base64(p.root2))),
    ).toEqual([]);
  });

  function count(cases: Probe[]): [number, number] {
    return [cases.filter((p) => !p.wantErr).length, cases.filter((p) => p.wantErr).length];
  }
});

describe.skipIf(!referencePath)('published reference tree', () => {
  test('leaf hashes and the roots of sizes 0 to 8', () => {
    const reference = JSON.parse(readFileSync(referencePath!, 'utf8'));
    const leaves: Uint8Array[] = reference.leaves.map((hex: string) => fromHex(hex)!);
    const roots = Array.from({ length: 9 }, (_, size) => toHex(merkleRoot(leaves.slice(0, size))));
    expect(leaves.map((leaf) => toHex(leafHash(leaf)))).toEqual(reference.node_hashes[0]);
    expect(roots).toEqual(reference.roots_by_size);
    expect(roots[0]).toBe(reference.empty_root);
    console.info('skipped: accumulated_subtree_vectors, which need subtree functions that a ledger has no use for');
  });
});

describe('against the recursion of RFC 6962 §2.1, every size up to 300', () => {
  const data = Array.from({ length: 300 }, (_, i) => Uint8Array.of(i, i >> 8));
  const sizes = Array.from({ length: 300 }, (_, i) => i + 1);
  const reference = memo(
    (start, end) => rangeHash(data, start, end, reference),
    (start, end) => `${start}-${end}`,
  );
  const ends: Range = (start, end) => Uint8Array.of(start, start >> 8, end, end >> 8);

  test('every root, with either hash library', () => {
    for (const size of [0, ...sizes]) {
      const leaves = data.slice(0, size);
      expect(toHex(merkleRoot(leaves, sha256))).toBe(toHex(reference(0, size)));
      expect(toHex(merkleRoot(leaves))).toBe(toHex(reference(0, size)));
    }
  });

  test('the nodes of every inclusion and every consistency proof', () => {
    const wrong: string[] = [];
    for (const size of sizes) {
      const range = ({ height, index }: TreeNode) =>
        ends(index * 2 ** height, Math.min(size, (index + 1) * 2 ** height));
      for (let at = 0; at < size; at++) {
        if (hexes(inclusionNodes(at, size).map(range)) !== hexes(pathOf(at, 0, size, ends)))
          wrong.push(`inclusion of ${at} in ${size}`);
        if (hexes(consistencyNodes(at + 1, size).map(range)) !== hexes(subproof(at + 1, 0, size, true, ends)))
          wrong.push(`consistency of ${at + 1} and ${size}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('inclusion proofs', () => {
    for (const size of sizes) {
      const leaves = data.slice(0, size);
      for (const index of places(size)) {
        const proof = inclusionProof(leaves, index, sha256);
        expect(hexes(proof)).toEqual(hexes(pathOf(index, 0, size, reference)));
        expect(verifyInclusion(leafHash(data[index]!), index, size, proof, reference(0, size), sha256)).toBe(true);
      }
    }
  });

  test('consistency proofs', () => {
    for (const size of sizes) {
      const leaves = data.slice(0, size);
      for (const size1 of places(size).map((at) => at + 1)) {
        const proof = consistencyProof(leaves, size1, sha256);
        expect(hexes(proof)).toEqual(hexes(subproof(size1, 0, size, true, reference)));
        expect(verifyConsistency(size1, size, proof, reference(0, size1), reference(0, size), sha256)).toBe(true);
      }
    }
  });

  /** All places of small trees; of others both ends and every 67th place, each time from another. */
  function places(size: number): number[] {
    const all = Array.from({ length: size }, (_, at) => at);
    return all.filter((at) => size <= 20 || at < 2 || at > size - 3 || (at + size) % 67 === 0);
  }
});

describe('any change is refused', () => {
  const tree = fc
    .integer({ min: 2, max: 70 })
    .chain((size) => fc.record({ size: fc.constant(size), at: fc.integer({ min: 0, max: size - 1 }), bit: fc.nat() }));
  const leavesOf = (size: number) => Array.from({ length: size }, (_, i) => Uint8Array.of(i, i + 1));

  test('one bit of leaf, proof or root; a longer or shorter proof; another index or size: inclusion', () => {
    const property = fc.property(tree, ({ size, at, bit }) => {
      const leaves = leavesOf(size);
      const [leaf, proof, root] = [leafHash(leaves[at]!), inclusionProof(leaves, at), merkleRoot(leaves)];
      const flipped = flip([leaf, ...proof, root], bit);
      expect(verifyInclusion(leaf, at, size, proof, root)).toBe(true);
      expect(verifyInclusion(flipped[0]!, at, size, flipped.slice(1, -1), flipped.at(-1)!)).toBe(false);
      for (const other of resized(proof)) expect(verifyInclusion(leaf, at, size, other, root)).toBe(false);
      for (let i = 0; i < size; i++) expect(verifyInclusion(leaf, i, size, proof, root)).toBe(i === at);
    });
    fc.assert(property);
  });

  test('one bit of proof or roots; a longer or shorter proof; swapped roots: consistency', () => {
    const property = fc.property(tree, ({ size, at, bit }) => {
      const leaves = leavesOf(size);
      const size1 = Math.max(1, at);
      const [root1, root2] = [merkleRoot(leaves.slice(0, size1)), merkleRoot(leaves)];
      const proof = consistencyProof(leaves, size1);
      const flipped = flip([root1, ...proof, root2], bit);
      expect(verifyConsistency(size1, size, proof, root1, root2)).toBe(true);
      expect(verifyConsistency(size1, size, flipped.slice(1, -1), flipped[0]!, flipped.at(-1)!)).toBe(false);
      for (const other of resized(proof)) expect(verifyConsistency(size1, size, other, root1, root2)).toBe(false);
      expect(verifyConsistency(size1, size, proof, root2, root1)).toBe(false);
    });
    fc.assert(property);
  });

  function resized(proof: Uint8Array[]): Uint8Array[][] {
    const extra = [new Uint8Array(32), new Uint8Array(0), proof[0]!];
    return [
      proof.slice(1),
      proof.slice(0, -1),
      ...extra.flatMap((node) => [
        [node, ...proof],
        [...proof, node],
      ]),
    ];
  }
});

describe('sizes beyond 32 bits', () => {
  // All leaves alike: a subtree's hash depends on its width alone, so trees of any size can be computed.
  const alike = memo(
    (start, end) => (end - start === 1 ? leafHash(new Uint8Array(0)) : splitHash(start, end, alike)),
    (start, end) => String(end - start),
  );
  const sizes = [2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 3, 2 ** 52 + 1, Number.MAX_SAFE_INTEGER];

  test.each(sizes)('%d: inclusion', (size) => {
    for (const index of [0, 1, 2 ** 31 - 1, size - 2 ** 30, size - 2, size - 1]) {
      const proof = pathOf(index, 0, size, alike);
      expect(verifyInclusion(alike(0, 1), index, size, proof, alike(0, size))).toBe(true);
      expect(verifyInclusion(alike(0, 1), index, size, proof.slice(1), alike(0, size))).toBe(false);
    }
  });

  test.each(sizes)('%d: consistency', (size) => {
    for (const size1 of [1, 2, 3, 2 ** 30, 2 ** 31 - 1, size - 2 ** 29, size - 1]) {
      const proof = subproof(size1, 0, size, true, alike);
      expect(verifyConsistency(size1, size, proof, alike(0, size1), alike(0, size))).toBe(true);
      expect(verifyConsistency(size1, size, proof.slice(1), alike(0, size1), alike(0, size))).toBe(false);
    }
  });
});

describe('malformed input', () => {
  const leaves = [0, 1, 2, 3, 4].map((i) => Uint8Array.of(i));
  const root = merkleRoot(leaves);
  const numbers = [-1, -0.5, 0.5, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 53, 2 ** 64, '1', null, undefined, 1n, {}];
  const notHashes = [
    new Uint8Array(0),
    new Uint8Array(31),
    new Uint8Array(33),
    'a'.repeat(32),
    Array(32),
    null,
    undefined,
  ];
  const notProofs = [null, undefined, 'x', {}, 3, new Uint8Array(32), new Array(3), new Array(1e9), [null], [[]]];

  test('is false and no exception: inclusion', () => {
    const good = [leafHash(leaves[1]!), 1, 5, inclusionProof(leaves, 1), root] as const;
    const bad = [notHashes, numbers, numbers, notProofs, notHashes];
    expect(verifyInclusion(...good)).toBe(true);
    expect(accepted(verifyInclusion, good, bad)).toEqual([]);
    expect(verifyInclusion(good[0], 5, 5, good[3], root)).toBe(false);
    expect(verifyInclusion(new Uint8Array(0), 0, 1, [], new Uint8Array(0))).toBe(false);
  });

  test('is false and no exception: consistency', () => {
    const good = [3, 5, consistencyProof(leaves, 3), merkleRoot(leaves.slice(0, 3)), root] as const;
    const bad = [numbers, numbers, notProofs, notHashes, notHashes];
    expect(verifyConsistency(...good)).toBe(true);
    expect(accepted(verifyConsistency, good, bad)).toEqual([]);
    expect(verifyConsistency(5, 3, good[2], good[4], good[3])).toBe(false);
    expect(verifyConsistency(0, 5, [], merkleRoot([]), root)).toBe(false);
    expect(verifyConsistency(5, 5, [], new Uint8Array(0), new Uint8Array(0))).toBe(false);
  });

  test('of a proof that cannot exist is an error of usage', () => {
    for (const index of [-1, 5, 0.5, Number.NaN]) {
      expect(() => inclusionProof(leaves, index)).toThrow(expect.objectContaining({ code: 'usage' }));
    }
    for (const size of [-1, 0, 6, 1.5]) {
      expect(() => consistencyProof(leaves, size)).toThrow(expect.objectContaining({ code: 'usage' }));
    }
    expect(() => inclusionProof([], 0)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  function accepted(verify: (...args: never[]) => boolean, good: readonly unknown[], bad: unknown[][]): unknown[] {
    return bad.flatMap((values, i) => values.filter((value) => verify(...(good.with(i, value) as never[]))));
  }
});

test('a hundred thousand leaves need no stack', () => {
  const leaves = Array.from({ length: 100_000 }, (_, i) => Uint8Array.of(i, i >> 8, i >> 16));
  const proof = inclusionProof(leaves, 77_777, sha256);
  expect(verifyInclusion(leafHash(leaves[77_777]!), 77_777, 100_000, proof, merkleRoot(leaves, sha256))).toBe(true);
});

function rangeHash(data: Uint8Array[], start: number, end: number, hashOf: Range): Uint8Array {
  if (end === start) return sha256(new Uint8Array(0));
  return end - start === 1 ? sha256(new Uint8Array([0, ...data[start]!])) : splitHash(start, end, hashOf);
}

function splitHash(start: number, end: number, hashOf: Range): Uint8Array {
  const middle = start + split(end - start);
  return sha256(new Uint8Array([1, ...hashOf(start, middle), ...hashOf(middle, end)]));
}

/** PATH(m, D[n]) */
function pathOf(index: number, start: number, end: number, hashOf: Range): Uint8Array[] {
  if (end - start === 1) return [];
  const middle = start + split(end - start);
  return index < middle
    ? [...pathOf(index, start, middle, hashOf), hashOf(middle, end)]
    : [...pathOf(index, middle, end, hashOf), hashOf(start, middle)];
}

/** SUBPROOF(m, D[n], b); m counts from the start of the whole tree. */
function subproof(m: number, start: number, end: number, complete: boolean, hashOf: Range): Uint8Array[] {
  if (m === end) return complete ? [] : [hashOf(start, end)];
  const middle = start + split(end - start);
  return m <= middle
    ? [...subproof(m, start, middle, complete, hashOf), hashOf(middle, end)]
    : [...subproof(m, middle, end, false, hashOf), hashOf(start, middle)];
}

/** The largest power of two smaller than n. */
function split(n: number): number {
  return powerOfTwoFrom(n) / 2;
}

function powerOfTwoFrom(n: number): number {
  let power = 1;
  while (power < n) power *= 2;
  return power;
}

function memo(compute: Range, keyOf: (start: number, end: number) => string): Range {
  const known = new Map<string, Uint8Array>();
  return (start, end) => {
    const key = keyOf(start, end);
    const value = known.get(key) ?? compute(start, end);
    known.set(key, value);
    return value;
  };
}

function flip(hashes: Uint8Array[], bit: number): Uint8Array[] {
  const copies = hashes.map((hash) => hash.slice());
  copies[bit % copies.length]![(bit >> 3) % 32]! ^= 1 << (bit & 7);
  return copies;
}

function hexes(proof: Uint8Array[]): string {
  return proof.map(toHex).join();
}

function base64(text: string): Uint8Array {
  const bytes = fromBase64(text);
  if (bytes === null) throw new Error(`bad base64 in a vector: ${text}`);
  return bytes;
}
