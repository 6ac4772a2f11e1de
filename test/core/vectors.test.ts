import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fromHex, toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { parseCheckpoint } from '../../src/core/ledger/checkpoint.ts';
import { planGrowth } from '../../src/core/ledger/log-growth.ts';
import { openNote, parseNote, parseVerifierKey } from '../../src/core/ledger/note.ts';
import { checkProof } from '../../src/core/ledger/proof.ts';
import { formatProof, parseProof } from '../../src/core/ledger/proof-text.ts';
import {
  formatEntries,
  parseEntries,
  parseTilePath,
  rootFromTiles,
  type Tile,
  tilePath,
} from '../../src/core/ledger/tiles.ts';
import { chainFaults, toLink } from '../../src/core/record/chain.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import { DOCUMENT_KINDS, isOfKind, type Kind, namespaceOf, RECORD_KINDS } from '../../src/core/record/kinds.ts';
import { parseAs, parseRecord } from '../../src/core/record/record.ts';
import { signedMessage } from '../../src/core/record/signed-message.ts';
import { recordId, type Suite, verifyRecord } from '../../src/core/record/verify.ts';
import {
  inclusionProof,
  leafHash,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from '../../src/core/seal/merkle.ts';
import { parseSeal, sealFaults, toSeal } from '../../src/core/seal/seal.ts';
import { armourSshsig, fingerprint, formatPublicKey } from '../../src/core/trust/sshsig.ts';
import {
  assertMaintainer,
  assertSignedByMaintainer,
  assertSucceeds,
  readIdentity,
  readPolicy,
} from '../../src/core/trust/trust.ts';
import { temporaryDirectory } from '../temporary.ts';
import {
  bytesOf,
  type DocumentCase,
  type FileCase,
  nodeSuite,
  readVectors,
  resultOf,
  SUITES,
  testKey,
} from './examples.ts';

interface SignatureCase {
  name: string;
  rule: string[];
  kind: Kind;
  signed_bytes: string;
  id: string;
  sha512: string;
  public_key: string;
  message: string;
  signature: string;
  namespace?: string;
  fingerprint?: string;
  sshsig?: string;
  result: string;
}
type RecordCase = FileCase & { key: string };
interface ChainCase {
  name: string;
  rule: string[];
  key: string;
  files: string[];
  faults: { code: string; seq: number }[];
}

interface CheckpointCase {
  name: string;
  rule: string[];
  note: string;
  vkeys: string[];
  result: string;
  origin?: string;
  size?: number;
  root?: string;
  extensions?: string[];
  verified?: string[];
  time?: number;
}
interface ProofCase {
  name: string;
  rule: string[];
  file: string;
  vkeys: string[];
  witnesses: string[];
  given?: string;
  result: string;
  record?: string;
  checked?: string[];
  trusted?: boolean;
}
interface TileCase {
  name: string;
  rule: string[];
  check: 'path' | 'log' | 'growth' | 'bundle';
  result?: string;
  path?: string;
  tile?: Tile;
  size?: number;
  root?: string;
  count?: number;
  listing?: string;
  files?: Record<string, string>;
  from?: number;
  to?: number;
  written?: string[];
  removed?: string[];
  width?: number;
  bundle?: string;
  entries?: string[];
}

/** What test/audit and test/gate judge. */
interface Judged {
  name: string;
  rule: string[];
}

const ROOT = resolve(import.meta.dirname, '../..');
const signatures = readVectors<SignatureCase>('signatures');
const records = readVectors<RecordCase>('records');
const documents = readVectors<DocumentCase>('documents');
const chains = readVectors<ChainCase>('chains');
const seals = readVectors<ChainCase>('seals');
const checkpoints = readVectors<CheckpointCase>('checkpoints');
const proofs = readVectors<ProofCase>('proofs');
const tiles = readVectors<TileCase>('tiles');
const trees = readVectors<Judged>('trees');
const histories = readVectors<Judged>('histories');
const suites = Object.entries(SUITES);

describe('the published vectors', () => {
  test('are what the script writes, byte for byte', () => {
    const dir = temporaryDirectory();
    execFileSync(process.execPath, [join(ROOT, 'scripts/generate-vectors.mjs'), '--out', dir]);
    const names = readdirSync(dir).sort();
    expect([...names, 'README.md'].sort()).toEqual(readdirSync(join(ROOT, 'protocol/vectors')).sort());
    for (const name of names) {
      expect(readFileSync(join(dir, name)).equals(readFileSync(join(ROOT, 'protocol/vectors', name))), name).toBe(true);
    }
  });

  test('are small, and each names its rule or its section', () => {
    const size = (name: string) => statSync(join(ROOT, 'protocol/vectors', name)).size;
    const total = readdirSync(join(ROOT, 'protocol/vectors')).reduce((sum, name) => sum + size(name), 0);
    expect(total).toBeLessThan(1_000_000); // half of it are the bundles, whose objects are not compressed
    const spec = readFileSync(join(ROOT, 'SPEC.md'), 'utf8');
    for (const { name, rule } of [
      ...signatures,
      ...records,
      ...documents,
      ...chains,
      ...seals,
      ...checkpoints,
      ...tiles,
      ...proofs,
      ...trees,
      ...histories,
    ]) {
      expect(rule.length, name).toBeGreaterThan(0);
      expect(
        rule.filter((number) => !spec.includes(`**${number}**`) && !spec.includes(`\n### ${number.slice(1)} `)),
        name,
      ).toEqual([]);
    }
  });

  test('have names of their own', () => {
    for (const cases of [trees, histories]) {
      const names = cases.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('have a valid file of every kind', () => {
    const kinds = new Set(
      [...records, ...documents].filter(({ result }) => result === 'valid').map(({ kind }) => kind),
    );
    expect([...kinds].sort()).toEqual([...RECORD_KINDS, ...DOCUMENT_KINDS].sort());
  });
});

describe.each(suites)('signatures with %s', (_, suite) => {
  test.each(signatures)('$name: $result', async (vector) => {
    const signedBytes = utf8(vector.signed_bytes);
    const key = fromHex(vector.public_key)!;
    const signature = fromHex(vector.signature)!;
    expect(recordId(signedBytes, suite)).toBe(vector.id);
    expect(toHex(suite.sha512(signedBytes))).toBe(vector.sha512);
    expect(await suite.verify(key, fromHex(vector.message)!, signature)).toBe(vector.result === 'valid');
    if (vector.result !== 'valid') return;
    expect(toHex(signedMessage({ kind: vector.kind, signedBytes }, suite))).toBe(vector.message);
    expect(namespaceOf(vector.kind)).toBe(vector.namespace);
    expect(fingerprint(key, suite)).toBe(vector.fingerprint);
    expect(armourSshsig(key, vector.namespace!, signature)).toBe(vector.sshsig);
  });
});

const noKeygen = spawnSync('ssh-keygen', ['-?']).error !== undefined;

test.skipIf(noKeygen)('ssh-keygen accepts the published signatures for the signed bytes', () => {
  const valid = signatures.filter(({ result }) => result === 'valid');
  expect(valid.length).toBeGreaterThan(2);
  for (const { sshsig, namespace, public_key, signed_bytes } of valid) {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'signature'), sshsig!);
    writeFileSync(join(dir, 'signers'), `someone ${formatPublicKey(fromHex(public_key)!)}\n`);
    const args = ['-Y', 'verify', '-f', 'signers', '-I', 'someone', '-n', namespace!, '-s', 'signature'];
    expect(spawnSync('ssh-keygen', args, { cwd: dir, input: signed_bytes }).status).toBe(0);
  }
});

describe.each(suites)('records with %s', (_, suite) => {
  test.each(records)('$name: $result', async (vector) => {
    const key = testKey(vector.key);
    expect(await resultOf(() => verifyRecord(parseRecord(bytesOf(vector)), [key], suite))).toBe(vector.result);
    if (vector.result !== 'valid') return;
    const record = await verifyRecord(parseRecord(bytesOf(vector)), [key], suite);
    expect(record).toMatchObject({ kind: vector.kind, id: vector.id, body: vector.body, fingerprint: key.fingerprint });
    expect(plain(record.fields)).toEqual(vector.fields);
  });
});

describe.each(suites)('documents with %s', (_, suite) => {
  test.each(documents)('$name: $result', async (vector) => {
    expect(await resultOf(() => checkDocument(vector, suite))).toBe(vector.result);
    if (vector.result !== 'valid') return;
    const document = parseRecord(bytesOf(vector));
    expect(recordId(document.signedBytes, suite)).toBe(vector.id);
    expect(document.signatures.map(({ identity }) => identity)).toEqual(vector.signers);
    expect(plain(document.fields)).toEqual(vector.fields);
  });
});

test.each(chains)('chain: $name', async ({ key, files, faults }) => {
  const links = [];
  for (const file of files) {
    const record = await verifyRecord(parseRecord(utf8(file)), [testKey(key)], nodeSuite);
    links.push(toLink(record, record.id, record.fingerprint));
  }
  expect(chainFaults(links, new Set()).map(({ code, seq }) => ({ code, seq }))).toEqual(faults);
});

test.each(seals)('seals: $name', async ({ key, files, faults }) => {
  const links = [];
  for (const file of files) {
    const record = await verifyRecord(parseRecord(utf8(file)), [testKey(key)], nodeSuite);
    links.push({ record, link: toLink(record, record.id, record.fingerprint) });
  }
  expect(
    chainFaults(
      links.map(({ link }) => link),
      new Set(),
    ),
  ).toEqual([]);
  const made = links.filter(isOfKind('seal')).map(({ record }) => toSeal(record));
  const leaves = files.map((file) => leafHash(utf8(file)));
  expect(sealFaults(made, leaves).map(({ code, seq }) => ({ code, seq }))).toEqual(faults);
});

describe.each(suites)('checkpoints with %s', (_, suite) => {
  test.each(checkpoints)('$name: $result', async (vector) => {
    const verifiers = vector.vkeys.map((vkey) => parseVerifierKey(vkey, suite));
    const open = async () => {
      const note = parseNote(utf8(vector.note));
      const { verified } = await openNote(note, verifiers, suite);
      return { verified, checkpoint: parseCheckpoint(note.text) };
    };
    expect(await resultOf(open)).toBe(vector.result);
    if (vector.result !== 'valid') return;
    const { verified, checkpoint } = await open();
    const { origin, size, root, extensions } = vector;
    expect({ ...checkpoint, root: toHex(checkpoint.root) }).toEqual({ origin, size, root, extensions });
    expect(verified.map(({ verifier }) => verifier.name)).toEqual(vector.verified);
    expect(verified.find(({ time }) => time !== undefined)?.time).toBe(vector.time);
  });
});

describe.each(suites)('proofs with %s', (_, suite) => {
  test.each(proofs)('$name: $result', async ({ file, vkeys, witnesses, given, result, record, checked, trusted }) => {
    const keys = { vkeys, witnesses };
    const check = async () =>
      await checkProof(parseProof(utf8(file)), keys, suite, given === undefined ? given : utf8(given));
    expect(await resultOf(check)).toBe(result);
    if (result !== 'valid') return;
    expect(await check()).toMatchObject({ record, checked, trusted });
    expect(trusted).toBe(vkeys.length > 0);
    const proof = parseProof(utf8(file));
    expect(parseProof(formatProof(proof))).toEqual(proof);
  });
});

test('a checkpoint or a proof that is refused differs from a valid one', () => {
  for (const cases of [checkpoints.map(({ note, ...rest }) => ({ ...rest, file: note })), proofs]) {
    const key = ({ file, vkeys, ...rest }: { file: string; vkeys: string[]; witnesses?: string[]; given?: string }) =>
      JSON.stringify([file, vkeys, rest.witnesses, rest.given]);
    expect(new Set(cases.map(key)).size).toBe(cases.length);
  }
});

test('the writer writes the valid files byte for byte', () => {
  const valid = [...records, ...documents].filter(
    ({ result, name }) => result === 'valid' && !name.startsWith('scalars'),
  );
  for (const vector of valid) {
    const { signature, signatures, fields, body, kind } = parseRecord(bytesOf(vector));
    const unsigned = formatRecord(plain(fields) as YamlMap & { kind: Kind }, body);
    const signers = signature ? [{ identity: '', fingerprint: '', bytes: signature }] : signatures;
    expect(Buffer.from(attachSignatures(unsigned, signers)).toString(), kind).toBe(vector.file);
  }
});

test('the seals hold, and the last proves each file before it', () => {
  const story = records.filter(({ kind, name }) => (kind === name && kind !== 'pickup') || name === 'the first seal');
  const files = story.map(bytesOf);
  const made = files.flatMap((file) => parseSeal(file) ?? []);
  expect(
    sealFaults(
      made.map(toSeal),
      files.map((file) => leafHash(file)),
    ),
  ).toEqual([]);
  const seal = parseRecord(files.pop()!).fields as {
    root: string;
    tree_size: number;
    previous: { tree_size: number; proof: string[]; root: string };
  };
  const root = fromHex(seal.root)!;
  expect(seal.tree_size).toBe(files.length);
  expect(toHex(merkleRoot(files))).toBe(seal.root);
  for (const [index, file] of files.entries()) {
    expect(verifyInclusion(leafHash(file), index, files.length, inclusionProof(files, index), root)).toBe(true);
  }
  const proof = seal.previous.proof.map((hex) => fromHex(hex)!);
  const { tree_size, root: old } = seal.previous;
  expect(verifyConsistency(tree_size, files.length, proof, fromHex(old)!, root)).toBe(true);
});

describe('tiles', () => {
  const entries = Array.from({ length: 66_000 }, (_, i) => utf8(`entry ${i}\n`));
  const { sha256 } = nodeSuite;
  const grow = (from: number, to: number, files: Map<string, Uint8Array>) =>
    planGrowth(
      { size: from, root: merkleRoot(entries.slice(0, from), sha256) },
      entries.slice(from, to),
      async (tile) => files.get(tilePath(tile))!,
      sha256,
    );
  const filesOf = async (size: number) =>
    new Map((await grow(0, size, new Map())).written.map(({ path, bytes }) => [path, bytes]));

  test.each(tiles.filter(({ check }) => check === 'path'))('path: $name', ({ path, tile }) => {
    expect(parseTilePath(path!)).toEqual(tile ?? null);
    if (tile) expect(tilePath(tile)).toBe(path);
  });

  test.each(tiles.filter(({ check }) => check === 'log'))('$name', async ({ size, root, count, listing, files }) => {
    const written = await filesOf(size!);
    const digests = [...written].map(([path, bytes]) => [path, toHex(sha256(bytes))]).sort();
    expect(toHex(await rootFromTiles(size!, async (tile) => written.get(tilePath(tile))!, sha256))).toBe(root);
    expect(digests).toHaveLength(count!);
    expect(toHex(sha256(utf8(digests.map(([path, digest]) => `${path} ${digest}\n`).join(''))))).toBe(listing);
    if (files) expect(Object.fromEntries(digests)).toEqual(files);
  });

  test.each(tiles.filter(({ check }) => check === 'growth'))('$name', async ({ from, to, written, removed }) => {
    const growth = await grow(from!, to!, await filesOf(from!));
    expect(growth.written.map(({ path }) => path).sort()).toEqual(written);
    expect(growth.removed.sort()).toEqual(removed);
  });

  test.each(tiles.filter(({ check }) => check === 'bundle'))('bundle: $name', async (vector) => {
    const bytes = fromHex(vector.bundle!)!;
    expect(await resultOf(async () => parseEntries(bytes, vector.width!))).toBe(vector.result);
    if (vector.result !== 'valid') return;
    expect(parseEntries(bytes, vector.width!).map(toHex)).toEqual(vector.entries);
    expect(toHex(formatEntries(vector.entries!.map((hex) => fromHex(hex)!)))).toBe(vector.bundle);
  });
});

async function checkDocument(vector: DocumentCase, suite: Suite): Promise<void> {
  const document = parseRecord(bytesOf(vector));
  const { check } = vector;
  if (check.as === 'policy') {
    const prior = check.prior === null ? null : readPolicy(parseAs(named(check.prior), 'policy'), suite);
    const repoId = prior && recordId(parseRecord(named('policy 1')).signedBytes, suite).slice('sha256:'.length);
    return assertSucceeds(readPolicy(parseAs(bytesOf(vector), 'policy'), suite), prior, repoId, suite);
  }
  if (check.as === 'maintainer') {
    return assertMaintainer(
      readIdentity(parseAs(bytesOf(vector), 'identity'), suite),
      readPolicy(parseAs(named(check.policy), 'policy'), suite),
      suite,
    );
  }
  const maintainers = check.maintainers.map((name) => readIdentity(parseAs(named(name), 'identity'), suite));
  return assertSignedByMaintainer(document, new Map(maintainers.map((identity) => [identity.name, identity])), suite);
}

function named(name: string): Uint8Array {
  return bytesOf(documents.find((vector) => vector.name === name)!);
}

/** The maps of the reader inherit nothing; JSON's do. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
