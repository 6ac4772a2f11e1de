import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import { type LogGrowth, planGrowth } from '../../src/core/ledger/log-growth.ts';
import {
  consistencyFromTiles,
  formatEntries,
  inclusionFromTiles,
  parseEntries,
  parseTilePath,
  type ReadTile,
  rootFromTiles,
  type Tile,
  tilePath,
  tilesOf,
} from '../../src/core/ledger/tiles.ts';
import { merkleRoot, verifyConsistency, verifyInclusion } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';

const { sha256 } = nodeHashes;
const LARGEST = 66_000;
const data = Array.from({ length: LARGEST }, (_, i) => utf8(`entry ${i} ${'.'.repeat(i % 7)}`));
const SAMPLED = [511, 512, 513, 65_535, 65_536, 65_537, 65_792, LARGEST];
const EVERY = Array.from({ length: 301 }, (_, size) => size);

describe('paths', () => {
  const PATHS: [string, Tile][] = [
    ['tile/0/000', { level: 0, index: 0, width: 256 }],
    ['tile/0/999.p/1', { level: 0, index: 999, width: 1 }],
    ['tile/1/x001/000.p/255', { level: 1, index: 1_000, width: 255 }],
    ['tile/0/x001/234.p/5', { level: 0, index: 1_234, width: 5 }],
    ['tile/0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
    ['tile/63/x999/x999/999', { level: 63, index: 999_999_999, width: 256 }],
    ['tile/entries/000', { level: 'entries', index: 0, width: 256 }],
    ['tile/entries/x070/000.p/112', { level: 'entries', index: 70_000, width: 112 }],
    ['tile/0/x009/x007/x199/x254/x740/991', { level: 0, index: Number.MAX_SAFE_INTEGER, width: 256 }],
  ];

  test.each(PATHS)('%s', (path, tile) => {
    expect(tilePath(tile)).toBe(path);
    expect(parseTilePath(path)).toEqual(tile);
  });

  test.each([
    '',
    'tile',
    'tile/0',
    'tile/0/',
    'tile/0/0',
    'tile/0/0000',
    'tile/00/000',
    'tile/01/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/data/000',
    'tile/Entries/000',
    'tile/8/0/000',
    'tile/0/x000',
    'tile/0/x000/001',
    'tile/0/001/234',
    'tile/0/x001/x234',
    'tile/0/x1/234',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/0/000.p/',
    'tile/0/000.p',
    'tile/0/000.p/1/2',
    'tile/0/000/',
    '/tile/0/000',
    './tile/0/000',
    'tile/0/../0/000',
    'tile/0/000\n',
    'tile/0/٠٠٠',
    'tile/0/x009/x007/x199/x254/x740/992',
    'tile/0/x001/x000/x000/x000/x000/x000/000',
  ])('refused: %j', (path) => {
    expect(parseTilePath(path)).toBeNull();
  });

  test('whatever is parsed is spelled so, and whatever is spelled so is parsed', () => {
    const numbers = fc.record({
      level: fc.constantFrom('entries', '0', '00', '1', '01', '9', '10', '63', '64'),
      groups: fc.array(fc.constantFrom('000', '001', '010', '999'), { minLength: 1, maxLength: 7 }),
      width: fc.constantFrom('', '0', '1', '01', '255', '256', '999'),
    });
    fc.assert(
      fc.property(numbers, ({ level, groups, width }) => {
        const folders = groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}/`));
        const path = `tile/${level}/${folders.join('')}${width === '' ? '' : `.p/${width}`}`;
        const index = Number(groups.join(''));
        const tile = {
          level: level === 'entries' ? level : Number(level),
          index,
          width: width === '' ? 256 : Number(width),
        } as Tile;
        const isOne = tilePath(tile) === path && Number.isSafeInteger(index) && level !== '64' && tile.width > 0;
        expect(parseTilePath(path)).toEqual(isOne ? tile : null);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the tiles of a log', () => {
  test('are those of the example in the specification', () => {
    expect(tilesOf(70_000).filter(({ width }) => width < 256)).toEqual([
      { level: 'entries', index: 273, width: 112 },
      { level: 0, index: 273, width: 112 },
      { level: 1, index: 1, width: 17 },
      { level: 2, index: 0, width: 1 },
    ]);
    expect(tilesOf(70_000).filter(({ level, width }) => width === 256 && level === 0)).toHaveLength(273);
    expect(tilesOf(70_000)).toHaveLength(274 + 274 + 2 + 1);
    expect(tilesOf(256).map(tilePath)).toEqual(['tile/entries/000', 'tile/0/000', 'tile/1/000.p/1']);
    expect(tilesOf(0)).toEqual([]);
  });
});

describe('against the formula of the specification', () => {
  test.each(SAMPLED)('%d: files, root and proofs', async (size) => {
    const log = reference(size);
    const files = new Map(tilesOf(size).map((tile) => [tilePath(tile), referenceTile(tile)]));
    expect(await rootFromTiles(size, reader(files), sha256)).toEqual(log.root);
    for (const index of [0, 1, 255, 256, 300, size >> 1, size - 257, size - 2, size - 1]) {
      const proof = await inclusionFromTiles(index, size, reader(files), sha256);
      expect(proof.map(toHex)).toEqual(referencePath(index, 0, size).map(toHex));
      expect(verifyInclusion(rangeHash(index, index + 1), index, size, proof, log.root, sha256)).toBe(true);
    }
    for (const size1 of [1, 2, 255, 256, 257, 300, 511, size >> 1, size - 256, size - 1, size]) {
      const proof = await consistencyFromTiles(size1, size, reader(files), sha256);
      expect(proof.map(toHex)).toEqual(referenceSubproof(size1, 0, size, true).map(toHex));
      expect(verifyConsistency(size1, size, proof, rangeHash(0, size1), log.root, sha256)).toBe(true);
    }
  });

  test('every size up to 300: root, and proofs', async () => {
    for (const size of EVERY) {
      const files = new Map(tilesOf(size).map((tile) => [tilePath(tile), referenceTile(tile)]));
      const read = reader(files);
      expect(toHex(await rootFromTiles(size, read, sha256))).toBe(toHex(rangeHash(0, size)));
      for (const at of places(size)) {
        const [inclusion, consistency] = await Promise.all([
          inclusionFromTiles(at, size, read, sha256),
          consistencyFromTiles(at + 1, size, read, sha256),
        ]);
        if (joined(inclusion) !== joined(referencePath(at, 0, size))) throw new Error(`inclusion of ${at} in ${size}`);
        if (joined(consistency) !== joined(referenceSubproof(at + 1, 0, size, true)))
          throw new Error(`consistency of ${at + 1} and ${size}`);
      }
    }
  });

  test('every size up to 300, grown one by one: the same files and no others', async () => {
    const files = new Map<string, Uint8Array>();
    let log = { size: 0, root: merkleRoot([]) };
    for (const size of EVERY.slice(1)) {
      log = apply(files, await planGrowth(log, [data[size - 1]!], reader(files), sha256));
      expect(log).toEqual(reference(size));
      assertFiles(files, size);
    }
  });

  test.each([
    [[255, 1, 1, 255, 1, 0, 65_023, 1, 255, 256]],
    [[256, 256, 65_024, 1, 463]],
    [[511, 65_024, 1, 1]],
    [randomSteps(1)],
    [randomSteps(2)],
  ])('growth in steps, as %j', async (steps) => {
    const files = new Map<string, Uint8Array>();
    let log = { size: 0, root: merkleRoot([]) };
    for (const step of steps) {
      const next = await planGrowth(log, data.slice(log.size, log.size + step), reader(files), sha256);
      log = apply(files, next);
      expect(toHex(log.root)).toBe(toHex(rangeHash(0, log.size)));
    }
    const once = new Map<string, Uint8Array>();
    const empty = { size: 0, root: merkleRoot([]) };
    apply(once, await planGrowth(empty, data.slice(0, log.size), reader(once), sha256));
    expect([...files.keys()].sort()).toEqual([...once.keys()].sort());
    for (const [path, bytes] of once) expect(Buffer.compare(files.get(path)!, bytes), path).toBe(0);
    assertFiles(files, log.size);
  });
});

describe('a plan of growth', () => {
  test('reads the right edge and nothing else, all of it at once', async () => {
    const files = await grown(65_900);
    const seen: string[] = [];
    const read: ReadTile = (tile) => {
      seen.push(tilePath(tile));
      return reader(files)(tile);
    };
    const plan = planGrowth(reference(65_900), [data[65_900]!], read, sha256);
    const asked = [...seen];
    await plan;
    expect(seen).toEqual(asked);
    expect(seen).toEqual(['tile/entries/257.p/108', 'tile/0/257.p/108', 'tile/1/001.p/1', 'tile/2/000.p/1']);
  });

  test('of nothing changes nothing', async () => {
    const files = await grown(300);
    const plan = await planGrowth(reference(300), [], reader(files), sha256);
    expect(plan).toEqual({ ...reference(300), written: [], removed: [] });
  });

  test('does not touch the partial tiles of levels that stay as they are', async () => {
    const files = await grown(300);
    const plan = await planGrowth(reference(300), [data[300]!], reader(files), sha256);
    expect(plan.written.map(({ path }) => path)).toEqual(['tile/entries/001.p/45', 'tile/0/001.p/45']);
    expect(plan.removed).toEqual(['tile/entries/001.p/44', 'tile/0/001.p/44']);
  });

  const EDGE = ['tile/entries/001.p/44', 'tile/0/001.p/44', 'tile/1/000.p/1'];

  test.each(EDGE)('is refused when a bit of %s is another', async (path) => {
    const files = await grown(300);
    for (const at of [0, 2, 31, files.get(path)!.length - 1]) {
      const bytes = files.get(path)!.slice();
      bytes[at]! ^= 1;
      const changed = new Map(files).set(path, bytes);
      await expect(planGrowth(reference(300), [data[300]!], reader(changed), sha256)).rejects.toMatchObject({
        code: 'ledger_inconsistent',
      });
    }
  });

  test.each(EDGE)('is refused when %s is too short or too long, and says which', async (path) => {
    const files = await grown(300);
    const bytes = files.get(path)!;
    for (const other of [bytes.slice(1), bytes.slice(0, -1), bytes.slice(32), new Uint8Array([...bytes, 0, 0])]) {
      const changed = new Map(files).set(path, other);
      await expect(planGrowth(reference(300), [data[300]!], reader(changed), sha256)).rejects.toMatchObject({
        code: 'ledger_inconsistent',
        message: expect.stringContaining(path),
      });
    }
  });

  test('is refused with both roots when the tiles are those of another log', async () => {
    const files = await grown(300);
    const other = { size: 300, root: rangeHash(0, 299) };
    await expect(planGrowth(other, [data[300]!], reader(files), sha256)).rejects.toMatchObject({
      code: 'ledger_inconsistent',
      data: { size: 300, expected: toHex(other.root), found: toHex(rangeHash(0, 300)) },
    });
    await expect(planGrowth({ size: 0, root: other.root }, [data[0]!], reader(files), sha256)).rejects.toMatchObject({
      code: 'ledger_inconsistent',
    });
  });

  test('passes on what the reader throws', async () => {
    const files = await grown(300);
    files.delete('tile/1/000.p/1');
    await expect(planGrowth(reference(300), [data[300]!], reader(files), sha256)).rejects.toThrow('no tile/1/000.p/1');
  });
});

describe('proofs from tiles', () => {
  test('ask for all tiles at once, and for each once', async () => {
    const files = await grown(65_900);
    const seen: string[] = [];
    const read: ReadTile = (tile) => {
      seen.push(tilePath(tile));
      return reader(files)(tile);
    };
    const ask = [
      () => inclusionFromTiles(300, 65_900, read, sha256),
      () => consistencyFromTiles(300, 65_900, read, sha256),
      () => rootFromTiles(65_900, read, sha256),
    ];
    for (const start of ask) {
      seen.length = 0;
      const answer = start();
      const asked = [...seen];
      await answer;
      expect(seen).toEqual(asked);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeLessThan(7);
    }
  });

  test('say which tile has a wrong length', async () => {
    const files = await grown(600);
    files.set('tile/0/000', files.get('tile/0/000')!.slice(0, 8_191));
    const wrong = { code: 'ledger_inconsistent', message: expect.stringContaining('tile/0/000 to have 8192 bytes') };
    await expect(inclusionFromTiles(3, 600, reader(files), sha256)).rejects.toMatchObject(wrong);
    await expect(consistencyFromTiles(3, 600, reader(files), sha256)).rejects.toMatchObject(wrong);
    expect(toHex(await rootFromTiles(600, reader(files), sha256))).toBe(toHex(rangeHash(0, 600)));
  });

  test('that cannot exist are errors of usage', async () => {
    const read = reader(await grown(5));
    for (const index of [-1, 5, 0.5, Number.NaN])
      await expect(inclusionFromTiles(index, 5, read, sha256)).rejects.toMatchObject({ code: 'usage' });
    for (const size of [-1, 0, 6, 1.5])
      await expect(consistencyFromTiles(size, 5, read, sha256)).rejects.toMatchObject({ code: 'usage' });
  });

  // All leaves alike: a complete subtree's hash depends on its height alone, so tiles of any log can be computed.
  test.each([2 ** 32 + 300, 2 ** 48 + 1, Number.MAX_SAFE_INTEGER])('of a log of %d', async (size) => {
    const heights = [sha256(Uint8Array.of(0))];
    for (let i = 0; i < 56; i++) heights.push(sha256(new Uint8Array([1, ...heights[i]!, ...heights[i]!])));
    let reads = 0;
    const read: ReadTile = async ({ level, width }) => {
      reads++;
      const hashes = new Uint8Array(32 * width);
      for (let i = 0; i < width; i++) hashes.set(heights[8 * Number(level)]!, 32 * i);
      return hashes;
    };
    const root = await rootFromTiles(size, read, sha256);
    for (const index of [0, 2 ** 31, size - 300, size - 1]) {
      const proof = await inclusionFromTiles(index, size, read, sha256);
      expect(verifyInclusion(heights[0]!, index, size, proof, root, sha256)).toBe(true);
    }
    const old = await rootFromTiles(2 ** 32 + 7, read, sha256);
    const proof = await consistencyFromTiles(2 ** 32 + 7, size, read, sha256);
    expect(verifyConsistency(2 ** 32 + 7, size, proof, old, root, sha256)).toBe(true);
    expect(reads).toBeLessThan(100);
  });
});

describe('entry bundles', () => {
  const entries = [utf8('one'), new Uint8Array(0), new Uint8Array(65_535).fill(7)];

  test('are lengths of two bytes, the larger first, and bytes', () => {
    expect(toHex(formatEntries([utf8('ab'), new Uint8Array(0), new Uint8Array(258)])).slice(0, 16)).toBe(
      '0002616200000102',
    );
    expect(parseEntries(formatEntries(entries), 3)).toEqual(entries);
  });

  test('hold no entry of 65,536 bytes', () => {
    expect(() => formatEntries([new Uint8Array(65_536)])).toThrow(expect.objectContaining({ code: 'too_large' }));
  });

  test('are exact', () => {
    const bundle = formatEntries(entries);
    const wrong: [Uint8Array, number][] = [
      [bundle, 2],
      [bundle, 4],
      [bundle.slice(0, -1), 3],
      [bundle.slice(0, 6), 3],
      [new Uint8Array([...bundle, 0]), 3],
      [new Uint8Array([...bundle, 0, 1]), 3],
      [new Uint8Array([...bundle, 0, 1]), 4],
      [Uint8Array.of(0), 0],
      [new Uint8Array(0), 1],
    ];
    for (const [bytes, width] of wrong)
      expect(() => parseEntries(bytes, width)).toThrow(expect.objectContaining({ code: 'ledger_inconsistent' }));
  });
});

function reader(files: ReadonlyMap<string, Uint8Array>): ReadTile {
  return async (tile) => {
    const bytes = files.get(tilePath(tile));
    if (bytes === undefined) throw new Error(`no ${tilePath(tile)}`);
    return bytes;
  };
}

async function grown(size: number): Promise<Map<string, Uint8Array>> {
  return new Map(tilesOf(size).map((tile) => [tilePath(tile), referenceTile(tile)]));
}

function apply(files: Map<string, Uint8Array>, { size, root, written, removed }: LogGrowth) {
  for (const path of removed) if (!files.delete(path)) throw new Error(`removed, but not there: ${path}`);
  for (const { path, bytes } of written) {
    if (files.has(path)) throw new Error(`written, but there: ${path}`);
    files.set(path, bytes);
  }
  return { size, root };
}

function assertFiles(files: ReadonlyMap<string, Uint8Array>, size: number): void {
  const tiles = tilesOf(size);
  expect([...files.keys()].sort()).toEqual(tiles.map(tilePath).sort());
  for (const tile of tiles)
    if (Buffer.compare(files.get(tilePath(tile))!, referenceTile(tile)) !== 0)
      throw new Error(`${tilePath(tile)} of ${size}`);
}

/** Both ends and every 67th place of a size, each time from another; every third around the first full tile. */
function places(size: number): number[] {
  const step = size >= 255 && size <= 257 ? 3 : 67;
  const all = Array.from({ length: size }, (_, at) => at);
  return all.filter((at) => at < 2 || at > size - 3 || (at + size) % step === 0);
}

/** Reproducible steps up to the largest size, many of them short. */
function randomSteps(seed: number): number[] {
  const steps: number[] = [];
  for (let left = LARGEST, i = 0; left > 0; i++) {
    const random = createHash('sha256').update(`${seed} ${i}`).digest().readUInt32BE(0);
    const step = Math.min(left, random % (i % 3 === 0 ? 20_000 : 400));
    steps.push(step);
    left -= step;
  }
  return steps;
}

// The reference: RFC 6962 §2.1 and the formula of tlog-tiles, by recursion and nothing of src.

const known = new Map<number, Uint8Array>();

/** MTH(D[start:end]) */
function rangeHash(start: number, end: number): Uint8Array {
  const key = start * 2 ** 20 + end;
  const value = known.get(key) ?? computeRange(start, end);
  known.set(key, value);
  return value;
}

function computeRange(start: number, end: number): Uint8Array {
  const hash = createHash('sha256');
  if (end === start) return new Uint8Array(hash.digest());
  if (end - start === 1) return new Uint8Array(hash.update(Uint8Array.of(0)).update(data[start]!).digest());
  const middle = start + split(end - start);
  return new Uint8Array(
    hash.update(Uint8Array.of(1)).update(rangeHash(start, middle)).update(rangeHash(middle, end)).digest(),
  );
}

function referencePath(index: number, start: number, end: number): Uint8Array[] {
  if (end - start === 1) return [];
  const middle = start + split(end - start);
  return index < middle
    ? [...referencePath(index, start, middle), rangeHash(middle, end)]
    : [...referencePath(index, middle, end), rangeHash(start, middle)];
}

function referenceSubproof(m: number, start: number, end: number, complete: boolean): Uint8Array[] {
  if (m === end) return complete ? [] : [rangeHash(start, end)];
  const middle = start + split(end - start);
  return m <= middle
    ? [...referenceSubproof(m, start, middle, complete), rangeHash(middle, end)]
    : [...referenceSubproof(m, middle, end, false), rangeHash(start, middle)];
}

function referenceTile({ level, index, width }: Tile): Uint8Array {
  const items = Array.from({ length: width }, (_, i) => {
    const at = index * 256 + i;
    if (level !== 'entries') return rangeHash(at * 256 ** level, (at + 1) * 256 ** level);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(data[at]!.length);
    return Buffer.concat([length, data[at]!]);
  });
  return new Uint8Array(Buffer.concat(items));
}

function reference(size: number): { size: number; root: Uint8Array } {
  return { size, root: rangeHash(0, size) };
}

function split(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}

function joined(hashes: Uint8Array[]): string {
  return hashes.map(toHex).join();
}
