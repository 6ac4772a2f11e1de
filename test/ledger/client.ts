// A client of a tiled transparency log, written from the specifications and nothing else: c2sp.org/tlog-tiles,
// c2sp.org/tlog-checkpoint, c2sp.org/signed-note, c2sp.org/tlog-cosignature, RFC 6962 §2.1 and RFC 9162 §2.1. It imports
// nothing of src, so that what it accepts is what those documents say, not what our code does.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

interface Checkpoint {
  origin: string;
  size: number;
  root: Buffer;
  extensions: string[];
  /** The names of the keys whose signatures were checked. */
  signers: string[];
}

export interface Client {
  /** Verified by the log's key. */
  checkpoint(): Promise<Checkpoint>;
  /** Fetches and verifies every file of the log, and returns the entries. */
  audit(checkpoint: Checkpoint): Promise<Buffer[]>;
  /** One entry, proved to be in the log by its tiles. */
  entry(index: number, checkpoint: Checkpoint): Promise<Buffer>;
  /** Fetches the newest checkpoint and verifies that it extends one that was seen before. */
  update(seen: Checkpoint): Promise<Checkpoint>;
}

export function openLog(base: string, vkey: string, witnesses: readonly string[] = []): Client {
  const logKey = parseVkey(vkey);
  const keys = [logKey, ...witnesses.map(parseVkey)];

  return {
    checkpoint: newest,
    async audit(checkpoint) {
      const log = tiles(base, checkpoint.size);
      const entries = await verifyFiles(log, checkpoint.size);
      assertSame('the root', await rangeHash(log, 0, checkpoint.size), checkpoint.root);
      return entries;
    },
    async entry(index, checkpoint) {
      const log = tiles(base, checkpoint.size);
      const entry = (await log.bundle(Math.floor(index / WIDTH)))[index % WIDTH]!;
      const proof = await inclusionProof(log, index, 0, checkpoint.size);
      verifyInclusion(leafHash(entry), index, checkpoint.size, proof, checkpoint.root);
      return entry;
    },
    async update(seen) {
      const checkpoint = await newest();
      if (checkpoint.size < seen.size) throw new Error(`rolled back: ${seen.size} entries became ${checkpoint.size}`);
      const log = tiles(base, checkpoint.size);
      const proof = seen.size === 0 ? [] : await consistencyProof(log, seen.size, 0, checkpoint.size, true);
      verifyConsistency(seen, checkpoint, proof);
      return checkpoint;
    },
  };

  async function newest(): Promise<Checkpoint> {
    const note = await get(`${base}/checkpoint`);
    if (note === null) throw new Error('no checkpoint');
    const { text, signers } = openNote(note, keys);
    if (!signers.includes(logKey.name)) throw new Error(`not signed by ${logKey.name}`);
    const checkpoint = parseCheckpoint(text);
    if (checkpoint.origin !== logKey.name) throw new Error(`origin ${checkpoint.origin}, expected ${logKey.name}`);
    return { ...checkpoint, signers };
  }
}

// c2sp.org/signed-note

interface Vkey {
  name: string;
  id: string;
  type: number;
  key: KeyObject;
}

const ED25519 = 0x01;
const COSIGNATURE = 0x04;

/** `<name>+<key ID in hex>+<base64 of type and key>` */
function parseVkey(vkey: string): Vkey {
  const [, name, id, base64] = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/u.exec(vkey) ?? [];
  if (!name || !id || !base64) throw new Error(`not a verifier key: ${vkey}`);
  const bytes = fromBase64(base64);
  const type = bytes[0]!;
  if (bytes.length !== 33 || (type !== ED25519 && type !== COSIGNATURE)) throw new Error('unknown type of key');
  const expected = sha256(Buffer.from(`${name}\n`), bytes)
    .subarray(0, 4)
    .toString('hex');
  if (expected !== id) throw new Error(`key ID ${id}, expected ${expected}`);
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.subarray(1).toString('base64url') };
  return { name, id, type, key: createPublicKey({ key: jwk, format: 'jwk' }) };
}

function openNote(note: Buffer, keys: Vkey[]): { text: string; signers: string[] } {
  const whole = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(note);
  if (/[\0-\x09\x0b-\x1f]/.test(whole)) throw new Error('control characters in the note');
  const end = whole.lastIndexOf('\n\n');
  if (end < 0 || !whole.endsWith('\n')) throw new Error('no signatures');
  const text = whole.slice(0, end + 1);
  const lines = whole.slice(end + 2, -1).split('\n');
  const signers: string[] = [];
  for (const line of lines) {
    const [, name, base64] = /^— ([^+\s]+) (\S+)$/u.exec(line) ?? [];
    if (!name || !base64) throw new Error(`not a signature: ${line}`);
    const bytes = fromBase64(base64);
    const known = keys.find((key) => key.name === name && key.id === bytes.subarray(0, 4).toString('hex'));
    if (!known) continue;
    if (!isSigned(known, text, bytes.subarray(4))) throw new Error(`wrong signature of ${name}`);
    signers.push(name);
  }
  return { text, signers };
}

function isSigned({ type, key }: Vkey, text: string, signature: Buffer): boolean {
  if (type === ED25519) return signature.length === 64 && verify(null, Buffer.from(text), key, signature);
  if (signature.length !== 72) return false;
  const time = signature.readBigUInt64BE(0);
  return verify(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), key, signature.subarray(8));
}

// c2sp.org/tlog-checkpoint

function parseCheckpoint(text: string): Omit<Checkpoint, 'signers'> {
  const [origin, size, root, ...extensions] = text.slice(0, -1).split('\n');
  if (!origin || !size || !root || extensions.includes('')) throw new Error('not the lines of a checkpoint');
  if (!/^(?:0|[1-9][0-9]*)$/.test(size) || !Number.isSafeInteger(Number(size))) throw new Error(`tree size ${size}`);
  const hash = fromBase64(root);
  if (hash.length !== 32) throw new Error('the root is no SHA-256');
  return { origin, size: Number(size), root: hash, extensions };
}

// c2sp.org/tlog-tiles

interface Tiles {
  hashes(level: number, index: number): Promise<Buffer[]>;
  bundle(index: number): Promise<Buffer[]>;
}

const WIDTH = 256;

/** The files of a log of this size, each fetched once. */
function tiles(base: string, size: number): Tiles {
  const fetched = new Map<string, Promise<Buffer[]>>();
  const once = (path: string, fetch: () => Promise<Buffer[]>) => {
    if (!fetched.has(path)) fetched.set(path, fetch());
    return fetched.get(path)!;
  };
  return {
    hashes: (level, index) => {
      const width = Math.min(WIDTH, Math.floor(size / WIDTH ** level) - index * WIDTH);
      return once(`${level}/${index}`, async () =>
        splitHashes(await fetchTile(base, String(level), index, width), width),
      );
    },
    bundle: (index) => {
      const width = Math.min(WIDTH, size - index * WIDTH);
      return once(`entries/${index}`, async () => splitEntries(await fetchTile(base, 'entries', index, width), width));
    },
  };
}

interface Fetched {
  path: string;
  bytes: Buffer;
  width: number;
}

/** A partial tile may have been replaced by the full one, which begins with it. */
async function fetchTile(base: string, level: string, index: number, width: number): Promise<Fetched> {
  const full = `tile/${level}/${pathOf(index)}`;
  const path = width === WIDTH ? full : `${full}.p/${width}`;
  const bytes = await get(`${base}/${path}`);
  if (bytes) return { path, bytes, width };
  const whole = width === WIDTH ? null : await get(`${base}/${full}`);
  if (whole) return { path: full, bytes: whole, width: WIDTH };
  throw new Error(`missing: ${path}`);
}

/** Three digits an element, all but the last after an x. */
function pathOf(index: number): string {
  const last = String(index % 1000).padStart(3, '0');
  let path = last;
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000))
    path = `x${String(rest % 1000).padStart(3, '0')}/${path}`;
  return path;
}

function splitHashes({ path, bytes, width }: Fetched, wanted: number): Buffer[] {
  if (bytes.length !== width * 32) throw new Error(`${path} has ${bytes.length} bytes`);
  return Array.from({ length: wanted }, (_, i) => bytes.subarray(32 * i, 32 * (i + 1)));
}

function splitEntries({ path, bytes, width }: Fetched, wanted: number): Buffer[] {
  const entries: Buffer[] = [];
  let at = 0;
  for (let i = 0; i < width; i++) {
    if (at + 2 > bytes.length) throw new Error(`${path} is too short`);
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) throw new Error(`${path} is too short`);
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  if (at !== bytes.length) throw new Error(`${path} is too long`);
  return entries.slice(0, wanted);
}

/** Entries against level 0, and each level against the full tiles below it. */
async function verifyFiles(log: Tiles, size: number): Promise<Buffer[]> {
  const entries: Buffer[] = [];
  for (let from = 0; from < size; from += WIDTH) {
    const [bundle, hashes] = await Promise.all([log.bundle(from / WIDTH), log.hashes(0, from / WIDTH)]);
    for (const [i, entry] of bundle.entries()) assertSame(`entry ${from + i}`, leafHash(entry), hashes[i]!);
    entries.push(...bundle);
  }
  for (let level = 1; size >= WIDTH ** level; level++) {
    for (let i = 0; i < Math.floor(size / WIDTH ** level); i++) {
      const above = (await log.hashes(level, Math.floor(i / WIDTH)))[i % WIDTH]!;
      assertSame(`hash ${i} of level ${level}`, above, subtreeHash(await log.hashes(level - 1, i)));
    }
  }
  return entries;
}

/** A missing file is null; anything else that is not success is an error. */
async function get(url: string): Promise<Buffer | null> {
  const response = await fetch(url);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${response.status} for ${url}`);
  return Buffer.from(await response.arrayBuffer());
}

// RFC 6962 §2.1, by its recursion

function leafHash(entry: Buffer): Buffer {
  return sha256(Buffer.of(0), entry);
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.of(1), left, right);
}

function subtreeHash(hashes: Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0]!;
  const middle = split(hashes.length);
  return nodeHash(subtreeHash(hashes.slice(0, middle)), subtreeHash(hashes.slice(middle)));
}

/** MTH(D[start:end]), from the highest tiles that have it. */
async function rangeHash(log: Tiles, start: number, end: number): Promise<Buffer> {
  if (start === end) return sha256();
  const level = levelOf(end - start);
  if (level !== null) {
    const place = start / WIDTH ** level;
    return (await log.hashes(level, Math.floor(place / WIDTH)))[place % WIDTH]!;
  }
  const middle = start + split(end - start);
  return nodeHash(await rangeHash(log, start, middle), await rangeHash(log, middle, end));
}

/** The level whose hashes are of so many leaves. */
function levelOf(width: number): number | null {
  for (let level = 0; WIDTH ** level <= width; level++) if (WIDTH ** level === width) return level;
  return null;
}

/** PATH(m, D[n]) */
async function inclusionProof(log: Tiles, index: number, start: number, end: number): Promise<Buffer[]> {
  if (end - start === 1) return [];
  const middle = start + split(end - start);
  return index < middle
    ? [...(await inclusionProof(log, index, start, middle)), await rangeHash(log, middle, end)]
    : [...(await inclusionProof(log, index, middle, end)), await rangeHash(log, start, middle)];
}

/** SUBPROOF(m, D[n], b); m counts from the start of the log. */
async function consistencyProof(log: Tiles, m: number, start: number, end: number, b: boolean): Promise<Buffer[]> {
  if (m === end) return b ? [] : [await rangeHash(log, start, end)];
  const middle = start + split(end - start);
  return m <= middle
    ? [...(await consistencyProof(log, m, start, middle, b)), await rangeHash(log, middle, end)]
    : [...(await consistencyProof(log, m, middle, end, false)), await rangeHash(log, start, middle)];
}

/** The largest power of two smaller than n. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

// RFC 9162 §2.1.3.2 and §2.1.4.2, step by step

function verifyInclusion(leaf: Buffer, index: number, size: number, proof: Buffer[], root: Buffer): void {
  if (index >= size) throw new Error(`entry ${index} of ${size}`);
  let [fn, sn, r] = [BigInt(index), BigInt(size - 1), leaf];
  for (const p of proof) {
    if (sn === 0n) throw new Error('the proof is too long');
    if (fn & 1n || fn === sn) {
      r = nodeHash(p, r);
      while (!(fn & 1n) && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else r = nodeHash(r, p);
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  if (sn !== 0n) throw new Error('the proof is too short');
  assertSame('the root of the inclusion proof', r, root);
}

function verifyConsistency(first: Checkpoint, second: Checkpoint, proof: Buffer[]): void {
  if (first.size === second.size) assertSame('the root of the same size', second.root, first.root);
  if (first.size === 0 || first.size === second.size) return;
  const isPowerOfTwo = split(first.size) * 2 === first.size || first.size === 1;
  const [start, ...path] = isPowerOfTwo ? [first.root, ...proof] : proof;
  let [fn, sn] = [BigInt(first.size - 1), BigInt(second.size - 1)];
  while (fn & 1n) [fn, sn] = [fn >> 1n, sn >> 1n];
  let [fr, sr] = [start!, start!];
  for (const c of path) {
    if (sn === 0n) throw new Error('the proof is too long');
    if (fn & 1n || fn === sn) {
      fr = nodeHash(c, fr);
      sr = nodeHash(c, sr);
      while (!(fn & 1n) && fn !== 0n) [fn, sn] = [fn >> 1n, sn >> 1n];
    } else sr = nodeHash(sr, c);
    [fn, sn] = [fn >> 1n, sn >> 1n];
  }
  if (sn !== 0n) throw new Error('the proof is too short');
  assertSame(`the root of the first ${first.size} entries`, fr, first.root);
  assertSame(`the root of ${second.size} entries`, sr, second.root);
}

function assertSame(what: string, found: Buffer, expected: Buffer): void {
  if (found.equals(expected)) return;
  throw new Error(`${what}: expected ${expected.toString('hex')}, got ${found.toString('hex')}`);
}

function sha256(...parts: Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** RFC 4648 §4; Node's own reader takes more. */
function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new Error(`not base64: ${text}`);
  return bytes;
}
