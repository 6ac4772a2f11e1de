import { type KeyObject, sign } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIdentityName, isTaskId } from '../../src/core/names.ts';
import { attachSignatures } from '../../src/core/record/format.ts';
import { type Kind, RECORD_KINDS } from '../../src/core/record/kinds.ts';
import { parseRecord } from '../../src/core/record/record.ts';
import { signedMessage } from '../../src/core/record/signed-message.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { commitAll, newKey, type Place, privateKey, STORY, signRecord, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { blob, codes, commitAndFind, findings, identityOf, reopen, signDocument, template } from './forge.ts';

const fresh = template();
const SESSION = '7c1f09aa-1111-4111-8111-111111111111';
const TWIN = '7c1f09aa-2222-4222-8222-222222222222';
const OTHER = '0d0d0d0d-3333-4333-8333-333333333333';
const AT = '2026-02-20T14:30:25.123Z';

async function codesAfter(place: Place): Promise<string[]> {
  commitAll(place);
  return codes(place);
}

describe('THREATS 12: a record proves nothing outside its place', () => {
  it('another repository with the same names and the same keys', async () => {
    const [source, target] = [fresh(), fresh()];
    const keys = { donna: privateKey(source, 'donna') };
    rmSync(join(target.dir, '.handoff'), { recursive: true });
    git(target.dir, 'config', '--unset', 'handoff.root');
    commitAll(target, 'empty again');
    const { root } = await reopen(target).handoff.init();
    expect(root).not.toBe(source.root);
    const identity = signDocument(identityOf({ ...target, root }, 'donna', keys.donna), [
      ['maintainer', privateKey({ ...target, root }, 'maintainer')],
    ]);
    writeBytes(target.dir, '.handoff/identities/donna/identity.yaml', identity);
    for (const { path, bytes } of writeSession(source, STORY.slice(0, 1))) writeBytes(target.dir, path, bytes);
    expect(await codesAfter(target)).toEqual(['repo_mismatch 0001-start.yaml']);
  });

  it('an identity of another repository', async () => {
    const place = fresh();
    const identity = identityOf({ ...place, root: '0'.repeat(64) }, 'mallory', newKey());
    const bytes = signDocument(identity, [['maintainer', privateKey(place, 'maintainer')]]);
    writeBytes(place.dir, '.handoff/identities/mallory/identity.yaml', bytes);
    expect(await codesAfter(place)).toEqual(['repo_mismatch identity.yaml']);
  });

  it('another session, and one whose id begins alike', async () => {
    const place = fresh();
    const [, note] = writeSession(place, STORY.slice(0, 2), { sessionId: SESSION });
    rmSync(join(place.dir, dirname(note!.path)), { recursive: true });
    const [start] = writeSession(place, STORY.slice(0, 1), { sessionId: OTHER });
    writeBytes(place.dir, join(dirname(start!.path), '0002-note.yaml'), note!.bytes);
    expect(await codesAfter(place)).toEqual(['path_mismatch 0002-note.yaml']);

    rmSync(join(place.dir, dirname(start!.path)), { recursive: true });
    const [twin] = writeSession(place, STORY.slice(0, 1), { sessionId: TWIN });
    writeBytes(place.dir, join(dirname(twin!.path), '0002-note.yaml'), note!.bytes);
    expect(new Set(await codesAfter(place))).toEqual(new Set(['chain_broken 0002-note.yaml']));
  });

  it('another number in the same session', async () => {
    const place = fresh();
    const [, note] = writeSession(place, STORY.slice(0, 2));
    writeBytes(place.dir, note!.path.replace('/0002-', '/0003-'), note!.bytes);
    expect(await codesAfter(place)).toEqual(['path_mismatch 0003-note.yaml']);
  });

  it("another identity's folder", async () => {
    const place = fresh();
    for (const { path, bytes } of writeSession(place, STORY)) {
      rmSync(join(place.dir, path));
      writeBytes(place.dir, path.replace('/donna/', '/erin/'), bytes);
    }
    expect(new Set((await codesAfter(place)).map((line) => line.split(' ')[0]))).toEqual(new Set(['path_mismatch']));
  });

  it.each(['other', 'mallory'])("%s signs in donna's name", async (name) => {
    const place = fresh();
    const key = name === 'other' ? privateKey(place, 'erin') : newKey();
    writeSession(place, STORY.slice(0, 1), { identity: 'donna', key });
    expect(await codesAfter(place)).toEqual(['signature_invalid 0001-start.yaml']);
  });

  it('a signature made for any other kind', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1));
    const { signedBytes } = parseRecord(start!.bytes);
    const others: Kind[] = [...RECORD_KINDS.filter((kind) => kind !== 'start'), 'policy', 'identity'];
    for (const kind of others) {
      const bytes = signatureFor(kind, signedBytes, privateKey(place, 'donna'));
      const unsigned = { kind: 'start' as const, signedBytes, offset: signedBytes.length };
      writeBytes(place.dir, start!.path, attachSignatures(unsigned, [{ identity: '', fingerprint: '', bytes }]));
      expect(await codesAfter(place), kind).toEqual(['signature_invalid 0001-start.yaml']);
    }
  });

  it('each bound field, swapped after signing', async () => {
    const place = fresh();
    const lock = { lock: { task: 'P0.1.1', token: 3 } };
    const thought = {
      kind: 'thought' as const,
      ...{ task_id: 'P0.1.1', branch: 'main', commit_sha: 'a'.repeat(40), tests_run: [], summary: 'done' },
      ...{ blockers: [], files_changed: ['src/a.ts'], related_thought_records: [] },
      ...lock,
    };
    const written = writeSession(place, [STORY[0]!, thought], { sessionId: SESSION });
    expect(await codesAfter(place)).toEqual([]);
    const { path, bytes } = written[1]!;
    const text = new TextDecoder().decode(bytes);
    const swaps: [string, string][] = [
      [`repo: ${place.root}`, `repo: ${'0'.repeat(64)}`],
      [`session_id: ${SESSION}`, `session_id: ${TWIN}`],
      ['identity: donna', 'identity: erin'],
      ['seq: 2', 'seq: 3'],
      [`prev: ${written[0]!.id}`, `prev: sha256:${'0'.repeat(64)}`],
      ['clock: 2', 'clock: 9'],
      [`at: ${AT}`, 'at: 2026-02-20T14:30:25.124Z'],
      ['task_id: P0.1.1', 'task_id: P0.1.2'],
      ['task: P0.1.1', 'task: P0.1.2'],
      ['token: 3', 'token: 4'],
      ['branch: main', 'branch: next'],
      [`commit_sha: ${'a'.repeat(40)}`, `commit_sha: ${'b'.repeat(40)}`],
      ['src/a.ts', 'src/b.ts'],
      ['kind: thought', 'kind: task'],
      ['at: ', `inherited_from: ${OTHER}\nat: `],
    ];
    for (const [from, to] of swaps) {
      expect(text).toContain(from);
      writeBytes(place.dir, path, text.replace(from, to));
      expect(await codesAfter(place), `${from} → ${to}`).toEqual([
        expect.stringMatching(
          /^(signature_invalid|path_mismatch|repo_mismatch|schema_invalid|yaml_invalid) 0002-thought.yaml$/,
        ),
      ]);
    }
  });

  it('each bound field, wrong and honestly signed by the identity itself', async () => {
    const place = fresh();
    const wrong: Record<string, unknown>[] = [
      { repo: '0'.repeat(64) },
      { session_id: OTHER },
      { session_id: TWIN },
      { identity: 'erin' },
      { seq: 3 },
      { prev: `sha256:${'0'.repeat(64)}` },
      { prev: null },
      { clock: 1 },
      { inherited_from: OTHER },
    ];
    for (const fields of wrong) {
      const [start] = writeSession(place, [STORY[0]!, { kind: 'note', text: 'hm', ...fields }], { sessionId: SESSION });
      const found = await codesAfter(place);
      expect(new Set(found), JSON.stringify(fields)).toEqual(
        new Set([expect.stringMatching(/^(path_mismatch|repo_mismatch|chain_broken) 0002-note.yaml$/)]),
      );
      rmSync(join(place.dir, dirname(start!.path)), { recursive: true });
    }
  });

  it('a lock token that goes down, and one that two sessions of an identity hold', async () => {
    const place = fresh();
    const lock = (token: number) => ({ lock: { task: 'P0.1.1', token } });
    writeSession(place, [
      { ...STORY[0]!, ...lock(5) },
      { ...STORY[1]!, ...lock(4) },
    ]);
    expect(await codesAfter(place)).toEqual(['stale_token 0002-note.yaml']);
    rmSync(join(place.dir, '.handoff/sessions'), { recursive: true });
    for (const identity of ['donna', 'erin']) writeSession(place, [{ ...STORY[0]!, ...lock(5) }], { identity });
    expect(await codesAfter(place)).toEqual([]); // or a stranger could spoil what is theirs for others
    writeSession(place, [{ ...STORY[0]!, ...lock(5) }]);
    expect((await codesAfter(place)).map((line) => line.split(' ')[0])).toEqual(['stale_token']);
  });
});

function signatureFor(kind: Kind, signedBytes: Uint8Array, key: KeyObject): Uint8Array {
  return new Uint8Array(sign(null, signedMessage({ kind, signedBytes }, nodeHashes), key));
}

describe('THREATS 13: duplicates and equivocation', () => {
  it('the same record under a second name', async () => {
    const place = fresh();
    const [, note] = writeSession(place, STORY.slice(0, 2));
    for (const name of ['0003-note.yaml', '0002-checkpoint.yaml'])
      writeBytes(place.dir, join(dirname(note!.path), name), note!.bytes);
    expect((await codesAfter(place)).sort()).toEqual([
      'path_mismatch 0002-checkpoint.yaml',
      'path_mismatch 0003-note.yaml',
    ]);
  });

  it('two records at the same number, both signed: at the end of the chain', async () => {
    const place = fresh();
    const [start, note] = writeSession(place, STORY.slice(0, 2), { sessionId: SESSION });
    writeBytes(place.dir, join(dirname(note!.path), '0002-checkpoint.yaml'), checkpoint(place, 2, start!.id));
    expect((await codesAfter(place)).map((line) => line.split(' ')[0])).toContain('chain_broken');
  });

  it('two records at the same number, both signed: in the middle', async () => {
    const place = fresh();
    const [start, note] = writeSession(place, STORY, { sessionId: SESSION });
    writeBytes(place.dir, join(dirname(note!.path), '0002-checkpoint.yaml'), checkpoint(place, 2, start!.id));
    expect((await codesAfter(place)).map((line) => line.split(' ')[0])).toContain('chain_broken');
  });

  it('two openings', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1), { sessionId: SESSION });
    const pickup = {
      ...{
        handoff: 1,
        kind: 'pickup' as const,
        repo: place.root,
        session_id: SESSION,
        identity: 'donna',
        seq: 1,
        prev: null,
      },
      ...{ clock: 1, at: AT, inherited_from: OTHER, predecessor_session_id: OTHER, baton: null },
    };
    const { bytes } = signRecord(pickup, privateKey(place, 'donna'));
    writeBytes(place.dir, join(dirname(start!.path), '0001-pickup.yaml'), bytes);
    expect((await codesAfter(place)).map((line) => line.split(' ')[0])).not.toEqual([]);
  });

  it('a session folder copied to another time', async () => {
    const place = fresh();
    for (const { path, bytes } of writeSession(place, STORY, { sessionId: SESSION })) {
      writeBytes(place.dir, path.replace('20260220T143025', '20260221T143025'), bytes);
    }
    expect((await commitAndFind(place))[0]).toMatch(/^(chain_broken|path_mismatch) sessions\/donna\/20260221/);
  });

  it('a record missing from the middle, from the start, and a chain that goes on after its baton', async () => {
    const place = fresh();
    const written = writeSession(place, STORY);
    rmSync(join(place.dir, written[1]!.path));
    expect(await codesAfter(place)).toEqual(['chain_broken 0003-decision.md']);
    rmSync(join(place.dir, written[0]!.path));
    writeBytes(place.dir, written[1]!.path, written[1]!.bytes);
    expect(await codesAfter(place)).toContain('chain_broken 0002-note.yaml');
    rmSync(join(place.dir, '.handoff/sessions'), { recursive: true });
    writeSession(place, [...STORY, { kind: 'note', text: 'one more thing' }]);
    expect(await codesAfter(place)).toEqual(['chain_broken 0005-note.yaml']);
  });

  function checkpoint(place: Place, seq: number, prev: string): Uint8Array {
    const fields = {
      ...{ handoff: 1, kind: 'checkpoint' as const, repo: place.root, session_id: SESSION, identity: 'donna' },
      ...{ seq, prev, clock: seq, at: AT, text: 'the other story' },
    };
    return signRecord(fields, privateKey(place, 'donna')).bytes;
  }
});

describe('THREATS 14: a second signature for the same bytes', () => {
  it('S + L is refused, and the id never covered the signature', async () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1));
    const text = new TextDecoder().decode(start!.bytes);
    const signature = Buffer.from(/signature: (.*)\n$/.exec(text)![1]!, 'base64');
    const L = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + L;
    const forged = Buffer.concat([
      signature.subarray(0, 32),
      Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
    ]);
    writeBytes(place.dir, start!.path, text.replace(/signature: .*\n$/, `signature: ${forged.toString('base64')}\n`));
    expect(await codesAfter(place)).toEqual(['signature_invalid 0001-start.yaml']);
    expect((await reopen(place).handoff.log()).records[0]!.id).toBe(start!.id);
  });

  it('a second spelling of the same base64 is refused', () => {
    const place = fresh();
    const [start] = writeSession(place, STORY.slice(0, 1));
    const text = new TextDecoder().decode(start!.bytes);
    const other = text.replace(/(.)==\n$/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==\n`);
    expect(other).not.toBe(text);
    expect(() => parseRecord(new TextEncoder().encode(other))).toThrowError(
      expect.objectContaining({ code: 'signature_invalid' }),
    );
  });
});

describe('THREATS 15: names that pass for others', () => {
  const BAD = [
    ...['аgent', 'dоnna', 'dᴏnna', 'donna\u200b', 'don\u00adna', 'ｄｏｎｎａ', 'Donna', 'DONNA', 'donnä', 'ﬁ'],
    ...[
      '',
      '.',
      '..',
      'a..b',
      'donna.',
      '.donna',
      '-donna',
      '_donna',
      'a/b',
      'a\\b',
      'a:b',
      'a b',
      'a\nb',
      'a\0b',
      'a*',
      '~',
    ],
    ...['con', 'nul', 'prn', 'aux', 'com1', 'lpt9', 'con.txt', 'nul.yaml', 'x'.repeat(65)],
  ];

  it('identity.add and keygen refuse them and write nothing', async () => {
    const place = fresh();
    for (const name of BAD) {
      await expect(place.handoff.identity.add({ name }), name).rejects.toMatchObject({ code: 'bad_name' });
      await expect(place.handoff.identity.keygen({ name }), name).rejects.toMatchObject({ code: 'bad_name' });
      await expect(place.handoff.init({ as: name }), name).rejects.toMatchObject({ code: 'bad_name' });
    }
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it('task ids follow the same rule, with capitals', () => {
    for (const name of BAD.filter((bad) => !/^donna$/i.test(bad))) expect(isTaskId(name), name).toBe(false);
    for (const id of ['CON', 'Nul', 'com1', 'LPT1.x', 'аgent', 'a..b']) expect(isTaskId(id), id).toBe(false);
    for (const id of ['P0.1.1', 'Donna', 'a_b-c']) expect(isTaskId(id), id).toBe(true);
    for (const name of ['donna', 'a', '0', 'con-1', 'console', 'a.b', 'x'.repeat(64)])
      expect(isIdentityName(name), name).toBe(true);
  });

  it('a tree with such folders is refused', async () => {
    const place = fresh();
    const text = blob(place.dir, readFileSync(join(place.dir, '.handoff/identities/donna/identity.yaml')));
    for (const name of ['аgent', 'Donna', 'donna\u200b', 'donna.', 'con']) {
      git(
        place.dir,
        'update-index',
        '--add',
        '--cacheinfo',
        `100644,${text},.handoff/identities/${name}/identity.yaml`,
      );
      git(place.dir, 'update-index', '--add', '--cacheinfo', `100644,${text},.handoff/sessions/${name}/x.yaml`);
    }
    git(place.dir, 'commit', '--quiet', '-m', 'names');
    const found = await findings(place);
    for (const name of ['аgent', 'Donna', 'donna\u200b', 'donna.', 'con']) {
      expect(found).toContain(`path_mismatch identities/${name}`);
      expect(found).toContain(`path_mismatch sessions/${name}`);
    }
  });
});
