import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { matchHead } from '../../src/core/record/front-matter.ts';
import { parseAs, parseRecord } from '../../src/core/record/record.ts';
import { cutSignature } from '../../src/core/record/signed-parts.ts';
import { growingTree } from '../../src/core/seal/growing-tree.ts';
import { leafHash } from '../../src/core/seal/merkle.ts';
import { type Seal, type SealClaim, sealFaults, toSeal } from '../../src/core/seal/seal.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { errorOf, example, resultOf, signedFile } from './examples.ts';

// The reference is RFC 6962 §2.1 as it is written there: recursive, and with no code of ours.

const hash = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
const half = (size: number): number => 2 ** Math.floor(Math.log2(size - 1));

function referenceRoot(data: readonly Uint8Array[]): Buffer {
  if (data.length === 0) return hash();
  if (data.length === 1) return hash(Buffer.of(0), data[0]!);
  const k = half(data.length);
  return hash(Buffer.of(1), referenceRoot(data.slice(0, k)), referenceRoot(data.slice(k)));
}

function referenceProof(size: number, data: readonly Uint8Array[], isWhole = true): Buffer[] {
  if (size === data.length) return isWhole ? [] : [referenceRoot(data)];
  const k = half(data.length);
  if (size <= k) return [...referenceProof(size, data.slice(0, k), isWhole), referenceRoot(data.slice(k))];
  return [...referenceProof(size - k, data.slice(k), false), referenceRoot(data.slice(0, k))];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const file = (seq: number): Uint8Array => utf8(`the file of record ${seq}\n`);
const files = (size: number): Uint8Array[] => Array.from({ length: size }, (_, index) => file(index + 1));
const leavesOf = (data: readonly Uint8Array[]): Uint8Array[] => data.map((bytes) => leafHash(bytes));

/** What honest seals at these numbers say. */
function sealsAt(numbers: readonly number[], data: readonly Uint8Array[]): Seal[] {
  return numbers.map((seq, index) => {
    const below = data.slice(0, seq - 1);
    const old = index === 0 ? null : numbers[index - 1]! - 1;
    const previous =
      old === null ? null : { ...headOf(data.slice(0, old)), proof: referenceProof(old, below).map(hex) };
    return { seq, claim: { ...headOf(below), previous } };
  });
}

function headOf(data: readonly Uint8Array[]): { treeSize: number; root: string } {
  return { treeSize: data.length, root: hex(referenceRoot(data)) };
}

/** The same numbers in every run. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const told = (seals: readonly Seal[], data: readonly Uint8Array[]) =>
  sealFaults(seals, leavesOf(data)).map(
    ({ code, seq, expected, found }) => `${code} ${seq}: ${expected}, not ${found}`,
  );

describe('a tree that grows', () => {
  test('has the root of the reference at every size up to 300', () => {
    const data = files(300);
    const tree = growingTree(nodeHashes.sha256);
    expect(hex(tree.root())).toBe(hex(hash()));
    for (const [index, bytes] of data.entries()) {
      tree.add(leafHash(bytes));
      expect([tree.size, hex(tree.root())]).toEqual([index + 1, hex(referenceRoot(data.slice(0, index + 1)))]);
    }
  });
});

describe('M76 M77: honest seals have no fault', () => {
  test('at every size up to 40, with seals at random places', () => {
    const roll = dice(1);
    for (let size = 1; size <= 40; size++) {
      for (let round = 0; round < 8; round++) {
        const numbers = files(size).flatMap((_, index) => (index > 0 && roll() < 0.3 ? [index + 1] : []));
        const data = files(size);
        expect([size, numbers, told(sealsAt(numbers, data), data)]).toEqual([size, numbers, []]);
      }
    }
  });

  test('with a seal after every record, and with either hash library', () => {
    const data = files(40);
    const seals = sealsAt(
      data.slice(1).map((_, index) => index + 2),
      data,
    );
    expect(told(seals, data)).toEqual([]);
    expect(sealFaults(seals, leavesOf(data), nodeHashes.sha256)).toEqual([]);
  });

  test('whatever comes after the last seal', () => {
    expect(told(sealsAt([3], files(3)), files(9))).toEqual([]);
  });
});

describe('M76 M77: every mutation of a field is a fault of that seal', () => {
  const flip = (text: string, at: number): string => {
    const digit = (Number.parseInt(text[at]!, 16) ^ 1).toString(16);
    return text.slice(0, at) + digit + text.slice(at + 1);
  };
  const withProof = (claim: SealClaim, change: (proof: readonly string[]) => readonly string[]): SealClaim => ({
    ...claim,
    previous: claim.previous && { ...claim.previous, proof: change(claim.previous.proof) },
  });
  const previous = (claim: SealClaim, change: object): SealClaim => ({
    ...claim,
    previous: { ...claim.previous!, ...change },
  });

  /** Every claim that differs from an honest one in one thing. */
  function* mutations(claim: SealClaim): Generator<[string, SealClaim]> {
    const { treeSize, root, previous: before } = claim;
    for (const size of [0, treeSize - 1, treeSize + 1, treeSize + 2 ** 32, -1])
      yield ['tree_size', { ...claim, treeSize: size }];
    for (let at = 0; at < 64; at++) yield [`root ${at}`, { ...claim, root: flip(root, at) }];
    yield ['root of nothing', { ...claim, root: hex(hash()) }];
    if (!before) {
      yield ['a previous that is not there', { ...claim, previous: { ...headOf(files(1)), proof: [] } }];
      return;
    }
    yield ['previous missing', { ...claim, previous: null }];
    for (const size of [0, before.treeSize - 1, before.treeSize + 1, treeSize])
      yield ['previous size', previous(claim, { treeSize: size })];
    for (let at = 0; at < 64; at++) yield [`previous root ${at}`, previous(claim, { root: flip(before.root, at) })];
    if (before.treeSize > 1)
      yield [
        'another tree that is consistent',
        previous(claim, { ...headOf(files(1)), proof: referenceProof(1, files(treeSize)).map(hex) }),
      ];
    yield ['prolonged', withProof(claim, (proof) => [...proof, root])];
    yield ['prolonged in front', withProof(claim, (proof) => [root, ...proof])];
    for (const at of before.proof.keys()) {
      yield [`proof without ${at}`, withProof(claim, (proof) => proof.filter((_, index) => index !== at))];
      yield [`proof ${at} twice`, withProof(claim, (proof) => proof.toSpliced(at, 0, proof[at]!))];
      yield [`no hash at ${at}`, withProof(claim, (proof) => proof.with(at, 'x'))];
      for (const digit of [0, 31, 63])
        yield [`proof ${at} ${digit}`, withProof(claim, (proof) => proof.with(at, flip(proof[at]!, digit)))];
    }
  }

  test.each([[[4]], [[3, 9]], [[2, 3]], [[9, 10, 24]], [[5, 6, 7, 33]]])('the last of seals at %j', (numbers) => {
    const data = files(numbers.at(-1)!);
    const seals = sealsAt(numbers, data);
    const last = seals.at(-1)!;
    let count = 0;
    for (const [what, claim] of mutations(last.claim!)) {
      const faults = sealFaults([...seals.slice(0, -1), { ...last, claim }], leavesOf(data));
      expect([what, faults.map(({ code, seq }) => `${code} ${seq}`)]).toEqual([what, [`chain_broken ${last.seq}`]]);
      count++;
    }
    expect(count).toBeGreaterThan(70);
  });

  test('any file below it, changed, swapped with another, or there a second time', () => {
    const data = files(12);
    const seals = sealsAt([5, 12], data);
    for (let at = 0; at < 11; at++) {
      const changed = data.with(at, utf8('other'));
      const hit = at < 4 ? [5, 12] : [12];
      expect(sealFaults(seals, leavesOf(changed)).map(({ seq }) => seq)).toEqual(hit);
      const swapped = data.with(at, data[(at + 1) % 11]!).with((at + 1) % 11, data[at]!);
      expect(sealFaults(seals, leavesOf(swapped)).map(({ seq }) => seq)).toContain(12);
      if (at === 10) continue; // then it stands above the seal
      expect(sealFaults(seals, leavesOf(data).toSpliced(at, 0, leafHash(data[at]!))).map(({ seq }) => seq)).toContain(
        12,
      );
    }
  });
});

describe('what a fault says', () => {
  const data = files(6);
  const [first, second] = sealsAt([3, 6], data) as [Seal, Seal];
  const claim = (seal: Seal, change: Partial<SealClaim>): Seal => ({ ...seal, claim: { ...seal.claim!, ...change } });
  const head = ({ claim }: Seal) => `tree_size ${claim!.treeSize}, root ${claim!.root}`;
  const zeros = '0'.repeat(64);

  test.each<[string, Seal[], string[]]>([
    ['another size', [claim(first, { treeSize: 1 })], ['chain_broken 3: tree_size 2, not 1']],
    ['another root', [claim(first, { root: zeros })], [`chain_broken 3: root ${first.claim!.root}, not ${zeros}`]],
    [
      'a previous in the first seal',
      [claim(first, { previous: { treeSize: 1, root: zeros, proof: [] } })],
      [`chain_broken 3: no previous in the first seal, not tree_size 1, root ${zeros}`],
    ],
    [
      'no previous in the second',
      [first, claim(second, { previous: null })],
      [`chain_broken 6: previous: ${head(first)}, not none`],
    ],
    [
      'another previous',
      [first, claim(second, { previous: { ...second.claim!.previous!, root: zeros } })],
      [`chain_broken 6: previous: ${head(first)}, not tree_size 2, root ${zeros}`],
    ],
    [
      'the same root under another size',
      [first, claim(second, { previous: { ...second.claim!.previous!, treeSize: 3 } })],
      [`chain_broken 6: previous: ${head(first)}, not tree_size 3, root ${first.claim!.root}`],
    ],
    [
      'another proof',
      [first, claim(second, { previous: { ...second.claim!.previous!, proof: [zeros] } })],
      ['chain_broken 6: a proof that the tree of 5 records extends that of 2, not 1 hashes that do not show it'],
    ],
  ])('%s', (_, seals, expected) => expect(told(seals, data)).toEqual(expected));

  test('a record that is missing leaves no root to compare, and no seal above it passes', () => {
    const leaves = leavesOf(data);
    for (const gap of [null, undefined]) {
      const faults = sealFaults([first, second], leaves.with(3, gap as unknown as Uint8Array));
      expect(faults).toEqual([
        { code: 'chain_broken', seq: 6, expected: 'a root over records 1 to 5', found: 'no one record 4' },
      ]);
    }
    expect(sealFaults([first, second], []).map(({ seq }) => seq)).toEqual([3, 6]);
  });

  test('a seal that is no valid record has its own finding, and the next one must go on from what it sealed', () => {
    expect(told([{ seq: 3, claim: null }, second], data)).toEqual([]);
    expect(told([{ seq: 3, claim: null }, claim(second, { previous: null })], data)).toHaveLength(1);
    expect(told([second], data)).toEqual([`chain_broken 6: no previous in the first seal, not ${head(first)}`]);
  });

  test('a wrong seal makes every later one wrong: none can name it and prove it', () => {
    const forged = claim(first, { root: zeros });
    const honest = second;
    const naming = claim(second, { previous: { ...second.claim!.previous!, root: zeros } });
    for (const next of [honest, naming])
      expect(sealFaults([forged, next], leavesOf(data)).map(({ seq }) => seq)).toEqual([3, 6]);
  });
});

describe('M78: a seal of', () => {
  const { fields } = example('seal');
  const seal = (length: number): Uint8Array => {
    const file = (text: string) => signedFile({ ...fields, signature: undefined, x_pad: text });
    return file('x'.repeat(1 + length - file('x').length));
  };

  test('65,535 bytes is read, one of 65,536 is too large, and no other kind has that limit', async () => {
    expect(await resultOf(() => parseRecord(seal(65_535)))).toBe('valid');
    expect(errorOf(() => parseRecord(seal(65_536)))).toMatchObject({
      code: 'too_large',
      data: { expected: 'at most 65535 bytes' },
    });
    const note = signedFile({ ...example('note').fields, signature: undefined, text: 'x'.repeat(65_536) });
    expect(await resultOf(() => parseRecord(note))).toBe('valid');
  });

  test('65,536 bytes is not taken for well-formed by its head either', () => {
    const make = (hashes: number, task: string): Uint8Array => {
      const proof = new Array<string>(hashes).fill('a'.repeat(64));
      const previous = { ...(fields.previous as object), proof };
      return signedFile({ ...fields, signature: undefined, lock: { task, token: 3 }, previous } as YamlMap);
    };
    const line = make(2, 'a').length - make(1, 'a').length;
    const isMatched = (length: number): boolean => {
      const rest = length - make(1, 'a').length;
      const bytes = make(1 + Math.floor(rest / line), 'a'.repeat(1 + (rest % line)));
      expect(bytes.length).toBe(length);
      return matchHead(bytes, cutSignature(bytes), 'seal') !== null;
    };
    expect([isMatched(65_535), isMatched(65_536)]).toEqual([true, false]);
  });

  test('any length says what it seals', () => {
    const { seq, tree_size, root, previous } = fields as unknown as {
      seq: number;
      tree_size: number;
      root: string;
      previous: { tree_size: number; root: string; proof: string[] };
    };
    const before = { treeSize: previous.tree_size, root: previous.root, proof: previous.proof };
    expect(toSeal(parseAs(example('seal').bytes, 'seal'))).toEqual({
      seq,
      claim: { treeSize: tree_size, root, previous: before },
    });
  });
});
