import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { planGrowth } from '../../src/core/ledger/log-growth.ts';
import { tilePath } from '../../src/core/ledger/tiles.ts';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { temporaryDirectory } from '../temporary.ts';
import { openLog } from './client.ts';
import { makeKey, signLine } from './note-key.ts';
import { serveFolder } from './static-server.ts';

const { sha256 } = nodeHashes;
const ORIGIN = `git-handoff/${'5e'.repeat(32)}`;
const log = makeKey(ORIGIN, 1);
const witness = makeKey('witness.example/w1', 4);

describe.each([1, 2, 255, 256, 257, 70_000])('a log of %d', (size) => {
  test('is accepted, and each entry is proved by the tiles', async () => {
    const { folder } = await writeLog(size);
    const { url } = await serveFolder(folder);
    const client = openLog(url, log.vkey);
    const checkpoint = await client.checkpoint();
    expect(checkpoint).toMatchObject({ origin: ORIGIN, size, extensions: ['sessions 0123'], signers: [ORIGIN] });
    const entries = await client.audit(checkpoint);
    expect(entries.map(String)).toEqual(Array.from({ length: size }, (_, i) => String(entryAt(i))));
    for (const index of [0, size >> 1, size - 1])
      expect(String(await client.entry(index, checkpoint))).toBe(String(entryAt(index)));
  });
});

test('a log that grows is consistent with every checkpoint seen before', async () => {
  const place = await writeLog(0);
  const { url, requests } = await serveFolder(place.folder);
  const client = openLog(url, log.vkey);
  const seen = [await client.checkpoint()];
  for (const size of [1, 2, 255, 256, 257, 300, 511, 512, 513, 70_000]) {
    await grow(place, size);
    for (const checkpoint of seen) await client.update(checkpoint);
    seen.push(await client.update(seen.at(-1)!));
  }
  expect(seen.at(-1)!.size).toBe(70_000);
  requests.length = 0;
  await client.update(seen[5]!);
  expect(new Set(requests).size).toBeLessThan(8);
});

describe('a flipped bit is refused', () => {
  const size = 600;
  const FILES = [
    'tile/entries/000',
    'tile/entries/002.p/88',
    'tile/0/000',
    'tile/0/002.p/88',
    'tile/1/000.p/2',
  ] as const;

  test.each(FILES)('%s', async (path) => {
    const { folder } = await writeLog(size);
    const { url } = await serveFolder(folder);
    const client = openLog(url, log.vkey);
    const checkpoint = await client.checkpoint();
    const good = readFileSync(join(folder, path));
    for (const at of [0, 1, good.length >> 1, good.length - 1]) {
      writeFileSync(join(folder, path), flip(good, at));
      await expect(client.audit(checkpoint), `byte ${at}`).rejects.toThrow();
    }
  });

  test('tiles of level 1 and 2 of a large log', async () => {
    const { folder } = await writeLog(70_000);
    const { url } = await serveFolder(folder);
    const client = openLog(url, log.vkey);
    const checkpoint = await client.checkpoint();
    expect(String(await client.entry(66_000, checkpoint))).toBe(String(entryAt(66_000)));
    for (const path of ['tile/2/000.p/1', 'tile/1/001.p/17']) {
      const good = readFileSync(join(folder, path));
      writeFileSync(join(folder, path), flip(good, 7));
      await expect(client.entry(66_000, checkpoint), path).rejects.toThrow('the root of the inclusion proof');
      writeFileSync(join(folder, path), good);
    }
  });

  test('checkpoint, in any byte', async () => {
    const { folder } = await writeLog(3);
    const { url } = await serveFolder(folder);
    const client = openLog(url, log.vkey);
    const path = join(folder, 'checkpoint');
    const good = readFileSync(path);
    await client.checkpoint();
    for (let at = 0; at < good.length; at++) {
      writeFileSync(path, flip(good, at, 1 << (at % 8)));
      await expect(client.checkpoint(), `byte ${at}`).rejects.toThrow();
    }
  });
});

describe('refused', () => {
  test.each(['tile/entries/000', 'tile/entries/001.p/44', 'tile/0/000', 'tile/0/001.p/44', 'tile/1/000.p/1'])(
    'a log without %s',
    async (path) => {
      const { folder } = await writeLog(300);
      const { url } = await serveFolder(folder);
      const client = openLog(url, log.vkey);
      rmSync(join(folder, path));
      await expect(client.audit(await client.checkpoint())).rejects.toThrow(`missing: ${path}`);
    },
  );

  test('a log without a checkpoint', async () => {
    const { url } = await serveFolder(temporaryDirectory());
    await expect(openLog(url, log.vkey).checkpoint()).rejects.toThrow('no checkpoint');
  });

  test('a checkpoint of another key, whatever its name and ID', async () => {
    const place = await writeLog(3);
    const { url } = await serveFolder(place.folder);
    const eve = makeKey(ORIGIN, 1);
    const client = openLog(url, log.vkey);
    writeCheckpoint(place, [signLine(eve, textOf(place))]);
    await expect(client.checkpoint()).rejects.toThrow('not signed by');
    writeCheckpoint(place, [signLine({ ...eve, id: log.id }, textOf(place))]);
    await expect(client.checkpoint()).rejects.toThrow('wrong signature');
    writeCheckpoint(place, [signLine({ ...eve, id: log.id }, textOf(place)), signLine(log, textOf(place))]);
    await expect(client.checkpoint()).rejects.toThrow('wrong signature');
  });

  test('a checkpoint of another log with the same key', async () => {
    const place = await writeLog(3);
    const { url } = await serveFolder(place.folder);
    const text = textOf(place).replace(ORIGIN, 'elsewhere.example/log');
    writeFileSync(join(place.folder, 'checkpoint'), `${text}\n${signLine(log, text)}`);
    await expect(openLog(url, log.vkey).checkpoint()).rejects.toThrow('origin');
  });

  test('a log that was rolled back', async () => {
    const place = await writeLog(300);
    const { url } = await serveFolder(place.folder);
    const client = openLog(url, log.vkey);
    const seen = await client.checkpoint();
    rmSync(place.folder, { recursive: true });
    cpSync((await writeLog(299)).folder, place.folder, { recursive: true });
    expect((await client.checkpoint()).size).toBe(299);
    await expect(client.update(seen)).rejects.toThrow('rolled back: 300 entries became 299');
  });

  test.each([300, 301, 600])('a fork with %d entries', async (size) => {
    const place = await writeLog(300);
    const { url } = await serveFolder(place.folder);
    const client = openLog(url, log.vkey);
    const seen = await client.checkpoint();
    const fork = await writeLog(size, (i) => (i === 299 ? Buffer.from('another entry') : entryAt(i)));
    rmSync(place.folder, { recursive: true });
    cpSync(fork.folder, place.folder, { recursive: true });
    await client.audit(await client.checkpoint());
    await expect(client.update(seen)).rejects.toThrow(/the root of the (?:same size|first 300 entries)/);
  });

  test('a verifier key whose ID is not its own', () => {
    expect(() => openLog('http://127.0.0.1', log.vkey.replace(/\+[0-9a-f]{8}\+/, '+00000000+'))).toThrow('key ID');
  });
});

describe('signatures of others', () => {
  test('are ignored where the key is unknown', async () => {
    const place = await writeLog(3);
    const { url } = await serveFolder(place.folder);
    const text = textOf(place);
    const others = Array.from({ length: 15 }, (_, i) => signLine(makeKey(`witness.example/${i}`, 4), text));
    writeCheckpoint(place, [...others, signLine(log, text)]);
    expect(await openLog(url, log.vkey).checkpoint()).toMatchObject({ size: 3, signers: [ORIGIN] });
  });

  test('are checked where it is known', async () => {
    const place = await writeLog(3);
    const { url } = await serveFolder(place.folder);
    const client = openLog(url, log.vkey, [witness.vkey]);
    writeCheckpoint(place, [signLine(log, textOf(place)), signLine(witness, textOf(place))]);
    expect((await client.checkpoint()).signers).toEqual([ORIGIN, witness.name]);
    writeCheckpoint(place, [signLine(log, textOf(place)), signLine(witness, 'another text\n')]);
    await expect(client.checkpoint()).rejects.toThrow(`wrong signature of ${witness.name}`);
  });
});

test('who holds an older checkpoint updates it first: of its partial tiles only those that became full are there', async () => {
  const place = await writeLog(200);
  const { url } = await serveFolder(place.folder);
  const client = openLog(url, log.vkey);
  const seen = await client.checkpoint();
  await grow(place, 220);
  await expect(client.entry(199, seen)).rejects.toThrow('missing: tile/entries/000.p/200');
  expect(String(await client.entry(199, await client.update(seen)))).toBe(String(entryAt(199)));
  await grow(place, 256);
  expect(String(await client.entry(199, seen))).toBe(String(entryAt(199)));
});

interface Place {
  folder: string;
  size: number;
  root: Uint8Array;
}

function entryAt(index: number): Buffer {
  return Buffer.from(`kind: seal\nnumber: ${index}\n`);
}

async function writeLog(size: number, entry = entryAt): Promise<Place> {
  const place = { folder: temporaryDirectory(), size: 0, root: merkleRoot([]) };
  await grow(place, size, entry);
  return place;
}

async function grow(place: Place, size: number, entry = entryAt): Promise<void> {
  const entries = Array.from({ length: size - place.size }, (_, i) => entry(place.size + i));
  const read = async (tile: Parameters<typeof tilePath>[0]) => readFileSync(join(place.folder, tilePath(tile)));
  const growth = await planGrowth(place, entries, read, sha256);
  for (const { path, bytes } of growth.written) {
    mkdirSync(dirname(join(place.folder, path)), { recursive: true });
    writeFileSync(join(place.folder, path), bytes);
  }
  for (const path of growth.removed) rmSync(join(place.folder, path));
  Object.assign(place, { size: growth.size, root: growth.root });
  writeCheckpoint(place, [signLine(log, textOf(place))]);
}

function textOf({ size, root }: Place): string {
  return `${ORIGIN}\n${size}\n${Buffer.from(root).toString('base64')}\nsessions 0123\n`;
}

function writeCheckpoint(place: Place, signatures: string[]): void {
  writeFileSync(join(place.folder, 'checkpoint'), `${textOf(place)}\n${signatures.join('')}`);
}

function flip(bytes: Buffer, at: number, bit = 1): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[at]! ^= bit;
  return flipped;
}
