import { randomUUID, sign } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHistory } from '../src/audit/history/history.ts';
import { openTree } from '../src/audit/source/tree-source.ts';
import { loadTrust } from '../src/audit/trust/trust.ts';
import { utf8 } from '../src/core/bytes/bytes.ts';
import { HandoffError } from '../src/core/error.ts';
import { formatNote, noteSignature, parseNote } from '../src/core/ledger/note.ts';
import { isIdentityName, isLookalike, isTaskId } from '../src/core/names.ts';
import { attachSignatures, formatRecord } from '../src/core/record/format.ts';
import { parseRecord } from '../src/core/record/record.ts';
import { signedMessage } from '../src/core/record/signed-message.ts';
import { recordId } from '../src/core/record/verify.ts';
import { taskStatus } from '../src/core/session/history-queries.ts';
import { fenceText, makeFence } from '../src/core/text/fence.ts';
import { nodeHashes, nodeSuite, verifyEd25519 } from '../src/crypto.ts';
import { heartbeatAge } from '../src/disk/moment.ts';
import { openNativeStore } from '../src/git/objects/native-store.ts';
import { toSigner } from '../src/journal/keys/keys.ts';
import { readHold, takeHold } from '../src/journal/locks/local-locks.ts';
import { takeRemoteHold } from '../src/journal/locks/remote-locks.ts';
import { stateDirs } from '../src/journal/sessions/registry.ts';
import { ran } from './gate/runs.ts';
import {
  BATON,
  branch,
  code,
  commitRecords,
  DONE,
  defined,
  verdict as gateVerdict,
  honestBranch,
  IN_PROGRESS,
  START as SESSION_START,
  session,
  thoughtSince,
  waiting,
} from './gate/scenario.ts';
import {
  commitAll,
  type Draft,
  emptyPlace,
  initialised,
  newKey,
  type Place,
  privateKey,
  STORY,
  signRecord,
  writeBytes,
  writeSession,
} from './handoff.ts';
import { trusting } from './journal/remote-fixture.ts';
import { writeLedgerOf } from './ledger/forge-ledger.ts';
import { entriesOf } from './ledger/sealed.ts';
import { type Step, seal, writeSealed } from './sealing.ts';
import { git, temporaryDirectory } from './temporary.ts';
import { findings, reopen, template } from './threats/forge.ts';

// One test for each numbered rule of SPEC.md; other files go deeper. test/spec.test.ts counts them.

const REPO = 'ab'.repeat(32);
const SESSION = '7c1f09aa-51cf-4c61-9a39-2b7fd2f9a1de';
const NOTE = {
  handoff: 1,
  kind: 'note',
  repo: REPO,
  session_id: SESSION,
  identity: 'donna',
  seq: 1,
  prev: null,
  clock: 1,
  at: '2026-02-20T14:30:25.123Z',
  text: 'hello',
} as const;
const key = newKey();
const note = Buffer.from(signRecord(NOTE, key).bytes).toString('utf8');
const baton = Buffer.from(signRecord({ ...NOTE, kind: 'baton', text: undefined }, key, 'body\n').bytes).toString(
  'utf8',
);

function codeOf(bytes: Uint8Array | string): string {
  try {
    parseRecord(typeof bytes === 'string' ? utf8(bytes) : bytes);
  } catch (error) {
    if (error instanceof HandoffError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('bytes', () => {
  it('accepts the unmutated ones', () => expect([codeOf(note), codeOf(baton)]).toEqual(['accepted', 'accepted']));
  it.each([
    ['M5', 'CRLF', note.replaceAll('\n', '\r\n'), 'bytes_invalid'],
    ['M5', 'a BOM', `\ufeff${note}`, 'bytes_invalid'],
    ['M5', 'NUL in a body', baton.replace('body', 'bo\0dy'), 'bytes_invalid'],
    ['M5', 'bad UTF-8', Buffer.from(note.replace('hello', 'hell\u00ff'), 'latin1'), 'bytes_invalid'],
    ['M6', 'too many bytes', baton + 'x'.repeat(262_144), 'too_large'],
    ['M6', 'too much front matter', baton.replace('seq:', `x_a: ${'x'.repeat(65_536)}\nseq:`), 'too_large'],
    ['M7', 'a raw zero-width space', note.replace('hello', 'he\u200bllo'), 'bytes_invalid'],
    ['M8', 'another opening line', baton.replace('---\n', '---js\n'), 'yaml_invalid'],
    ['M9', 'a note as Markdown', baton.replace('kind: baton', 'kind: note'), 'schema_invalid'],
    [
      'M10',
      'the head in another order',
      note.replace('handoff: 1\nkind: note\n', 'kind: note\nhandoff: 1\n'),
      'yaml_invalid',
    ],
    ['M11', 'version 2', note.replace('handoff: 1', 'handoff: 2'), 'schema_invalid'],
    ['M11', 'an unknown kind', note.replace('kind: note', 'kind: notes'), 'schema_invalid'],
    ['M12', 'a comment', note.replace('text: hello', 'text: hello # hi'), 'yaml_invalid'],
    ['M12', 'a flow map', note.replace('text: hello', 'text: {a: b}'), 'yaml_invalid'],
    ['M13', 'a duplicate key', note.replace('text: hello', 'text: hello\ntext: hello'), 'yaml_invalid'],
    ['M13', 'a prototype key', note.replace('text: hello', 'text: hello\nconstructor: x'), 'yaml_invalid'],
    ['M14', 'an integer with a leading zero', note.replace('clock: 1', 'clock: 01'), 'schema_invalid'],
    ['M14', 'a quoted integer', note.replace('clock: 1', 'clock: "1"'), 'schema_invalid'],
    [
      'M14',
      'an odd number where no schema speaks',
      note.replace('text: hello', 'text: hello\nx_a: 010'),
      'schema_invalid',
    ],
    ['M14', 'a number as text', note.replace('text: hello', 'text: 010'), 'accepted'],
    ['M15', 'an unknown key', note.replace('text: hello', 'text: hello\nmore: x'), 'schema_invalid'],
    ['M15', 'an x_ key', note.replace('text: hello', 'text: hello\nx_more: x'), 'accepted'],
    [
      'M16',
      'a signature that is not last',
      note.replace(/(text: hello\n)(signature: .*\n)/, '$2$1'),
      'signature_invalid',
    ],
    ['M16', 'no signature', note.replace(/signature: .*\n/, ''), 'signature_invalid'],
    ['M19', 'a document without signers', 'handoff: 1\nkind: project\nname: x\n', 'signature_invalid'],
  ])('%s: %s', (_rule, _what, bytes, expected) => expect(codeOf(bytes)).toBe(expected));
});

describe('names', () => {
  it('M1: names that a file system or an eye would mistake', () => {
    for (const bad of ['', 'A', 'a..b', 'a.', '-a', '.a', 'con', 'nul.txt', 'lpt1', 'a/b', 'аgent', 'x'.repeat(65)]) {
      expect([bad, isIdentityName(bad)]).toEqual([bad, false]);
    }
    for (const good of ['donna', 'developer-con-1', 'bot', '0', 'a.b_c-d'])
      expect([good, isIdentityName(good)]).toEqual([good, true]);
    expect([isTaskId('P0.1.1'), isTaskId('NUL'), isTaskId('P0..1')]).toEqual([true, false, false]);
  });

  it('M52: what looks like .handoff', () => {
    for (const name of [
      '.HANDOFF',
      '.handoff.',
      '.handoff ',
      '.hand\u200coff',
      'HANDOF~1',
      '.handoff\r',
      '.hаndoff',
      '．handoff',
    ]) {
      expect([name, isLookalike(name)]).toEqual([name, true]);
    }
    for (const name of ['.handoff', 'handoff', '.handoff2', 'docs'])
      expect([name, isLookalike(name)]).toEqual([name, false]);
  });
});

describe('signatures', () => {
  const unsigned = formatRecord(NOTE);
  const raw = new Uint8Array(sign(null, signedMessage(unsigned, nodeHashes), key));

  it('M3: an id does not depend on the signature', () => {
    const other = attachSignatures(unsigned, [{ identity: '', fingerprint: '', bytes: raw.map((byte) => byte ^ 1) }]);
    expect(recordId(parseRecord(other).signedBytes, nodeHashes)).toBe(signRecord(NOTE, key).id);
  });

  it('M17: a signature for one kind says nothing about another', () => {
    const publicKey = new Uint8Array(Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url'));
    expect(verifyEd25519(publicKey, signedMessage(unsigned, nodeHashes), raw)).toBe(true);
    expect(verifyEd25519(publicKey, signedMessage({ ...unsigned, kind: 'signal' }, nodeHashes), raw)).toBe(false);
  });

  it('M18: S + L is refused', () => {
    const L = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(raw.slice(32)).reverse().toString('hex')}`) + L;
    const bad = new Uint8Array([
      ...raw.slice(0, 32),
      ...Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
    ]);
    const publicKey = new Uint8Array(Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url'));
    expect(verifyEd25519(publicKey, signedMessage(unsigned, nodeHashes), bad)).toBe(false);
  });

  it('M20: the signed bytes are a cut of the file, not a rewriting', () => {
    const odd = utf8(note.replace('text: hello', 'text: "h\\u0065llo"'));
    expect(Buffer.from(parseRecord(odd).signedBytes).toString()).toBe(
      Buffer.from(odd)
        .toString()
        .replace(/signature: .*\n/, ''),
    );
  });
});

describe('chains', () => {
  const [start, text, decision, end] = STORY as [Draft, Draft, Draft, Draft];
  it.each<[string, string, Draft[], string]>([
    ['M37', 'another number', [{ ...start, seq: 2 }], 'path_mismatch'],
    ['M37', 'another identity', [{ ...start, identity: 'bot' }], 'path_mismatch'],
    ['M38', 'another repository', [{ ...start, repo: REPO }], 'repo_mismatch'],
    ['M40', 'a prev that is not the id before', [start, { ...text, prev: `sha256:${REPO}` }], 'chain_broken'],
    ['M41', 'a clock that stands still', [start, { ...text, clock: 1 }], 'chain_broken'],
    ['M42', 'a note first', [text], 'chain_broken'],
    ['M42', 'a second start', [start, start], 'chain_broken'],
    [
      'M43',
      'another session with the same first eight',
      [start, { ...text, session_id: SESSION.replace(/.$/, '0') }],
      'chain_broken',
    ],
    ['M44', 'inherited_from without a pickup', [start, { ...text, inherited_from: SESSION }], 'chain_broken'],
    ['M45', 'a note after the baton', [start, text, decision, end, text], 'chain_broken'],
    [
      'M46',
      'a token that goes down',
      [
        { ...start, lock: { task: 'T1', token: 2 } },
        { ...text, lock: { task: 'T1', token: 1 } },
      ],
      'stale_token',
    ],
    [
      'M36',
      'a waiver by an agent',
      [start, { kind: 'waiver', commit_sha: 'a'.repeat(40), reason: 'now' }],
      'signer_not_entitled',
    ],
    ['M4', 'a time in another century changes nothing', [{ ...start, at: '1999-01-01T00:00:00.000Z' }, text], 'valid'],
  ])('%s: %s', async (_rule, _what, drafts, expected) => {
    const place = await initialised();
    writeSession(place, drafts, { sessionId: SESSION });
    expect(await verdict(place)).toBe(expected);
  });

  it('M39: a gap', async () => {
    const place = await initialised();
    rmSync(join(place.dir, writeSession(place, STORY)[1]!.path));
    expect(await verdict(place)).toBe('chain_broken');
  });

  it('M47: one session in two folders', async () => {
    const place = await initialised();
    writeSession(place, [start], { sessionId: SESSION });
    writeSession(place, [start], { sessionId: SESSION, at: '2026-02-21T00:00:00.000Z' });
    expect(await verdict(place)).toBe('chain_broken');
  });

  it('M48: one token for two sessions of an identity', async () => {
    const place = await initialised();
    for (const at of ['2026-02-20T00:00:00.000Z', '2026-02-21T00:00:00.000Z'])
      writeSession(place, [{ ...start, lock: { task: 'T1', token: 1 } }], { at });
    expect(await verdict(place)).toBe('stale_token');
  });

  it('M35: signed by somebody else', async () => {
    const place = await initialised();
    writeSession(place, [start], { key: privateKey(place, 'bot') });
    expect(await verdict(place)).toBe('signature_invalid');
  });
});

describe('trees', () => {
  it.each<[string, string, (place: Place) => unknown, string]>([
    ['M2', 'a file that has no place', ({ dir }) => writeBytes(dir, '.handoff/notes.txt', 'x'), 'path_mismatch'],
    [
      'M25',
      'an identity in the folder of another',
      ({ dir }) =>
        writeBytes(
          dir,
          '.handoff/identities/eve/identity.yaml',
          readFileSync(join(dir, '.handoff/identities/donna/identity.yaml')),
        ),
      'path_mismatch',
    ],
    [
      'M31',
      'a skill that nobody named',
      ({ dir }) => writeBytes(dir, '.handoff/identities/donna/skill.md', 'x'),
      'signature_invalid',
    ],
    [
      'M28',
      'a changed identity',
      ({ dir }) => edit(dir, '.handoff/identities/donna/identity.yaml', 'role: agent', 'role: bot'),
      'signature_invalid',
    ],
    [
      'M27',
      'an identity that nobody we know signed',
      ({ dir }) => edit(dir, '.handoff/identities/donna/identity.yaml', '- maintainer', '- stranger'),
      'signer_unknown',
    ],
    [
      'M26',
      'an agent who calls herself maintainer',
      ({ dir }) => edit(dir, '.handoff/identities/maintainer/identity.yaml', '- maintainer', '- donna'),
      'signer_unknown',
    ],
    [
      'M21',
      'a threshold above the number of keys',
      ({ dir }) => edit(dir, '.handoff/policy/0001.yaml', 'threshold: 1', 'threshold: 2'),
      'policy_invalid',
    ],
    [
      'M22',
      'a genesis with a predecessor',
      ({ dir }) => edit(dir, '.handoff/policy/0001.yaml', 'prev: null', `prev: sha256:${REPO}`),
      'policy_invalid',
    ],
    [
      'M50',
      'an executable record',
      ({ dir }) => git(dir, 'update-index', '--chmod=+x', '.handoff/project.yaml'),
      'mode_invalid',
    ],
  ])('%s: %s', async (_rule, _what, spoil, expected) => {
    const place = await initialised();
    spoil(place);
    git(place.dir, 'config', 'core.fileMode', 'false');
    expect(await verdict(place)).toBe(expected);
  });

  it('M23 M24: a second policy that the first did not sign, and one after it', async () => {
    const place = await initialised();
    await place.handoff.policy.set({ key: 'stale_after', value: '900' });
    await place.handoff.policy.set({ key: 'stale_after', value: '1200' });
    edit(place.dir, '.handoff/policy/0002.yaml', 'stale_after: 900', 'stale_after: 901');
    const { findings, policy_version } = await verify(place);
    expect(findings.map(({ code }) => code)).toEqual(['signature_invalid']);
    expect(policy_version).toBe(1);
  });

  it('M28: a false line is refused wherever it stands', async () => {
    const place = await initialised();
    await place.handoff.identity.add({ name: 'olga', role: 'maintainer' });
    const path = '.handoff/identities/donna/identity.yaml';
    const good = / {2}- maintainer .*\n/.exec(readFileSync(join(place.dir, path), 'utf8'))![0];
    const { identities } = await place.handoff.identity.list();
    const print = identities.find(({ identity }) => identity === 'olga')!.keys[0]!.fingerprint;
    edit(place.dir, path, good, `${good}  - olga ${print} ${good.trim().split(' ').at(-1)}\n`);
    expect(await verdict(place)).toBe('signature_invalid');
  });

  it('M29: one key for two identities', async () => {
    const place = await initialised();
    await expect(place.handoff.identity.add({ name: 'eve', key: publicKeyFile(place, 'donna') })).rejects.toMatchObject(
      { code: 'usage' },
    );
  });

  it('M30: a revoked key: what it signed is distrusted', async () => {
    const place = await initialised();
    writeSession(place, STORY.slice(0, 1));
    commitAll(place);
    await place.handoff.identity.revoke({ name: 'donna' });
    const { valid, findings } = await place.handoff.verify();
    expect(findings).toMatchObject([{ code: 'key_revoked', severity: 'warning' }]);
    expect(valid).toBe(true);
    expect((await place.handoff.verify({ strict: true })).valid).toBe(false);
  });

  it('M32: keys in the work tree', async () => {
    const { dir, env } = await initialised();
    const { openRepository } = await import('../src/index.ts');
    const handoff = openRepository(dir, { env: { ...env, HANDOFF_KEYS: join(dir, '.handoff/keys') } });
    await expect(handoff.identity.add({ name: 'eve' })).rejects.toMatchObject({ code: 'key_in_tree' });
  });

  it('M33: another root than the pinned one', async () => {
    const place = await initialised();
    await expect(place.handoff.verify({ root: REPO })).rejects.toMatchObject({ code: 'root_mismatch', exitCode: 1 });
  });

  it('M34: a policy that went back', async () => {
    const place = await initialised();
    await place.handoff.policy.set({ key: 'stale_after', value: '900' });
    await place.handoff.verify();
    git(place.dir, 'revert', '--no-edit', 'HEAD');
    expect((await place.handoff.verify()).findings.map(({ code }) => code)).toEqual(['policy_rollback']);
  });

  it('M49: a replaced object is not seen', async () => {
    const place = await initialised();
    const [, second] = writeSession(place, STORY);
    commitAll(place);
    const blob = git(place.dir, 'rev-parse', `HEAD:${second!.path}`);
    const other = git(place.dir, 'rev-parse', 'HEAD:.gitattributes');
    git(place.dir, 'replace', blob, other);
    expect((await place.handoff.verify()).valid).toBe(true);
  });

  it('M51: a committed record that is changed, and one that is deleted', async () => {
    const place = await initialised();
    const [, second, , last] = writeSession(place, STORY);
    commitAll(place);
    edit(place.dir, second!.path, 'npm', 'yarn');
    rmSync(join(place.dir, last!.path));
    git(place.dir, 'add', '--all');
    const codes = (await place.handoff.verify({ staged: true })).findings.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(['record_changed', 'record_deleted']));
  });

  it('M53: a warm cache does not know of a later revocation, and is not asked', async () => {
    const place = await initialised();
    writeSession(place, STORY.slice(0, 1));
    commitAll(place);
    const { openRepository } = await import('../src/index.ts');
    const cached = openRepository(place.dir, { env: place.env, build: 'test' });
    expect((await cached.verify()).valid).toBe(true);
    expect(await cached.verify()).toEqual(await place.handoff.verify());
    await cached.identity.revoke({ name: 'donna' });
    expect((await cached.verify()).findings.map(({ code }) => code)).toEqual(['key_revoked']);
  });
});

describe('sessions at work', () => {
  it('M54: of three that want the same number one gets it, and what is there stays', () => {
    const locks = temporaryDirectory();
    const holder = { session_id: SESSION, identity: 'donna', at: NOTE.at, host: 'here' };
    const took = [1, 2, 3].map((n) => takeHold(locks, 'task/a', 1, { ...holder, reason: `${n}` }));
    expect(took.filter(Boolean)).toHaveLength(1);
    const { holder: first } = readHold(locks, 'task/a')!;
    expect(takeHold(locks, 'task/a', 1, { ...holder, reason: 'late' })).toBe(false);
    expect(readHold(locks, 'task/a')!.holder).toEqual(first);
  });

  it('M55: a clock that is moved ages nobody', () => {
    const beat = { boot: 'a', uptime: 100, at: '2026-01-01T00:00:00.000Z' };
    expect(heartbeatAge(beat, { boot: 'a', uptime: 107, at: '2031-01-01T00:00:00.000Z' })).toBe(7);
    expect(heartbeatAge(beat, { boot: 'b', uptime: 1, at: '2026-01-01T00:01:00.000Z' })).toBe(60);
  });

  it('M56: what a work tree loses the next verb restores', async () => {
    const place = await initialised();
    await place.handoff.start({ as: 'donna' });
    const { path } = await place.handoff.note({ text: 'kept' });
    git(place.dir, 'clean', '--quiet', '-fd');
    await place.handoff.note({ text: 'next' });
    expect(readFileSync(join(place.dir, path), 'utf8')).toContain('text: kept\n');
    expect(place.warnings.join('\n')).toContain('Restored from the journal');
  });

  it('M57: a session that was taken over writes nothing more, and keeps the words', async () => {
    const { place } = await forced();
    const failure = await place.handoff.note({ as: 'donna', text: 'too late' }).catch((error: HandoffError) => error);
    expect(failure).toMatchObject({ code: 'session_released', data: { reason: 'preempted_by_pickup' } });
    expect(readFileSync((failure as HandoffError).data!.draft as string, 'utf8')).toBe('too late');
  });

  it('M58: nobody picks up what is alive, unless by force', async () => {
    const { refused } = await forced();
    expect(refused).toBe('predecessor_active');
  });

  it('M59: a signal is received once, by whom it was sent to', async () => {
    const place = await initialised();
    await place.handoff.identity.add({ name: 'lola' });
    await place.handoff.start({ as: 'donna' });
    await place.handoff.signal.send({ name: 'lola', text: 'look' });
    await place.handoff.wrap({ as: 'donna', message: 'done' });
    const received = async (as: string) => {
      const { pending_signals } = await place.handoff.pickup({ as, force: true });
      return pending_signals.map(({ text }) => text);
    };
    expect([await received('donna'), await received('lola'), await received('lola')]).toEqual([[], ['look'], []]);
  });

  it('M60: a remote number that somebody has is lost', async () => {
    const place = await initialised();
    const name = join(temporaryDirectory(), 'remote.git');
    const remote = { git: { dir: place.dir, env: place.env }, name, ...trusting() };
    git('/', 'init', '--quiet', '--bare', remote.name);
    const holder = { session_id: SESSION, identity: 'donna', at: NOTE.at, host: 'here' };
    expect(await takeRemoteHold(remote, 'identity/donna', null, holder)).toBe('taken');
    expect(await takeRemoteHold(remote, 'identity/donna', null, { ...holder, host: 'there' })).toBe('lost');
  });

  it('M61: the words of others stay between lines they could not have guessed', () => {
    const body = 'hello\n----- END a -----\n\u001b[2J\u202e';
    const fence = makeFence(body, () => 'b'.repeat(32));
    const provenance = { identity: 'donna', session_id: SESSION, delta_id: `sha256:${REPO}`, at: NOTE.at };
    const shown = fenceText(body, provenance, fence);
    expect(shown.split(fence)).toHaveLength(4);
    expect(shown).not.toMatch(/[\u001b\u202e]/);
  });
});

describe('SPEC §8.9, §9 and §10', () => {
  const place = template();

  it('M62 M63: a claim that was taken over is no longer written with', async () => {
    const here = place();
    const { handoff } = reopen(here);
    await handoff.task.add({ id: 'P0.1', title: 'the reader' });
    await handoff.start({ as: 'donna' });
    expect((await handoff.claim({ as: 'donna', id: 'P0.1' })).token).toBe(1);
    const { locks } = stateDirs(join(here.dir, '.git/handoff'));
    takeHold(locks, 'task/P0.1', 2, { session_id: SESSION, identity: 'erin', at: NOTE.at, host: 'here' });
    await expect(handoff.task.update({ as: 'donna', id: 'P0.1', progress: 50 })).rejects.toMatchObject({
      code: 'task_claimed',
    });
    const { path } = await handoff.note({ as: 'donna', text: 'still here' });
    expect(readFileSync(join(here.dir, path), 'utf8')).not.toContain('\nlock:');
  });

  it('M64: done without a thought is in progress', async () => {
    const here = place();
    session(here, [SESSION_START, IN_PROGRESS, DONE]);
    expect((await reopen(here).handoff.verify()).valid).toBe(true);
    const { history } = await folded(here);
    expect(taskStatus(history, 'P0.1')?.status).toBe('in_progress');
  });

  it('M64: where it was never in progress, any thought before it will do, and none after it', async () => {
    const here = place();
    const base = git(here.dir, 'rev-parse', 'HEAD');
    code(here, { 'a.js': 'a\n' });
    const thought = await thoughtSince(here, base);
    const statusAfter = async (...steps: Draft[]) => {
      session(here, [SESSION_START, ...steps], { sessionId: randomUUID() });
      return taskStatus((await folded(here)).history, 'P0.1')?.status;
    };
    expect(await statusAfter(DONE, thought)).toBe('in_progress');
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(await statusAfter(thought, DONE)).toBe('done');
  });

  it('M65: attributes do not change a patch id', async () => {
    const here = place();
    const base = git(here.dir, 'rev-parse', 'HEAD');
    code(here, { 'a.bin': 'a\n' });
    const before = await thoughtSince(here, base);
    writeBytes(here.dir, '.git/info/attributes', '*.bin -diff\n');
    expect((await thoughtSince(here, base)).patch_id).toBe(before.patch_id);
    expect(before.patch_id).toMatch(/^[0-9a-f]{64}$/);
  });

  it('M66: the first policy must hold', async () => {
    const here = place();
    const zeros = '0'.repeat(40);
    expect(await gateVerdict(here, zeros)).toEqual([]);
    edit(here.dir, '.handoff/policy/0001.yaml', 'stale_after: 600', 'stale_after: 601');
    commitAll(here);
    expect(await gateVerdict(here, zeros)).toEqual(['signature_invalid policy/0001.yaml']);
  });

  it('M67: a policy that arrives does not decide about itself', async () => {
    const here = place();
    branch(here, 'feature');
    code(here, { 'a.ts': 'a\n' });
    await reopen(here).handoff.policy.set({ key: 'writeback.required', value: 'false' });
    expect(await gateVerdict(here)).toEqual(['writeback_missing a.ts', 'files_uncovered a.ts']);
  });

  it('M99: a key that the trunk has revoked accounts for nothing on a branch that lags', async () => {
    const here = place();
    await reopen(here).handoff.policy.set({ key: 'protected', value: 'refs/heads/main,refs/heads/release' });
    git(here.dir, 'branch', '--quiet', 'release');
    await reopen(here).handoff.identity.revoke({ name: 'donna' });
    git(here.dir, 'checkout', '--quiet', 'release');
    await honestBranch(here);
    expect(await gateVerdict(here, 'release')).toEqual([
      ...['start.yaml', 'task.yaml', 'thought.yaml', 'task.yaml', 'baton.md'].map(
        (name, at) => `key_revoked 000${at + 1}-${name}`,
      ),
      'writeback_missing src/a.ts',
      'files_uncovered src/a.ts',
    ]);
  });

  it('M68: a record that is gone', async () => {
    const here = place();
    session(here, [SESSION_START, BATON]);
    branch(here, 'feature');
    git(here.dir, 'rm', '--quiet', '-r', '.handoff/sessions');
    commitRecords(here);
    expect(await gateVerdict(here)).toEqual(['record_deleted 0001-start.yaml', 'record_deleted 0002-baton.md']);
  });

  it('M69: an identity that goes back', async () => {
    const here = place();
    const before = readFileSync(join(here.dir, '.handoff/identities/donna/identity.yaml'));
    await reopen(here).handoff.identity.rotate({ name: 'donna' });
    branch(here, 'feature');
    writeBytes(here.dir, '.handoff/identities/donna/identity.yaml', before);
    commitRecords(here);
    expect(await gateVerdict(here)).toEqual(['policy_rollback identities/donna/identity.yaml']);
  });

  it('M70 M71: a commit, and a path, that no thought accounts for', async () => {
    const here = place();
    const { base } = await honestBranch(here);
    expect(await gateVerdict(here)).toEqual([]);
    code(here, { 'b.ts': 'b\n' });
    expect(await gateVerdict(here)).toEqual(['writeback_missing b.ts', 'files_uncovered b.ts']);
    session(here, [SESSION_START, { ...(await thoughtSince(here, base)), files_changed: [] }, BATON], { clock: 50 });
    expect(await gateVerdict(here)).toEqual(['files_uncovered b.ts']);
  });

  it('M71: the same change under another commit is the same', async () => {
    const here = place();
    const { base } = await honestBranch(here);
    git(here.dir, 'reset', '--quiet', '--soft', base);
    git(here.dir, 'commit', '--quiet', '--message', 'squashed');
    expect(await gateVerdict(here)).toEqual([]);
  });

  it('M72: a commit of the protected branch that is dropped', async () => {
    const here = place();
    const base = git(here.dir, 'rev-parse', 'HEAD');
    code(here, { 'src/b.ts': 'fixed\n' });
    git(here.dir, 'checkout', '--quiet', base);
    await honestBranch(here);
    const dropped = await gateVerdict(here, 'main', 'HEAD', { replaces: true });
    expect(dropped).toContain('writeback_missing src/b.ts');
  });

  it('M70: a merge that leaves a side out', async () => {
    const here = place();
    const start = git(here.dir, 'rev-parse', 'HEAD');
    code(here, { 'src/a.ts': 'fixed\n' });
    git(here.dir, 'checkout', '--quiet', start);
    await honestBranch(here);
    git(here.dir, 'merge', '--quiet', '--no-edit', '--strategy=ours', 'main');
    expect(await gateVerdict(here)).toEqual(['writeback_missing src/a.ts']);
  });

  it('M73: done, and nothing says what was done', async () => {
    const here = place();
    branch(here, 'feature');
    session(here, [SESSION_START, IN_PROGRESS, DONE, BATON]);
    expect(await gateVerdict(here)).toEqual(['done_without_thought 0003-task.yaml']);
  });

  it('M74: nobody else has approved', async () => {
    const here = place();
    await reopen(here).handoff.policy.set({ key: 'writeback.review', value: 'true' });
    const { records } = await honestBranch(here);
    expect(await gateVerdict(here)).toEqual(['review_missing 0003-thought.yaml']);
    const review = { kind: 'review' as const, task_id: 'P0.1', verdict: 'approve', thought: records[2]!.id };
    session(here, [SESSION_START, review, BATON], { identity: 'erin', clock: 90 });
    expect(await gateVerdict(here)).toEqual([]);
  });

  it('M75: a shallow clone knows too little', async () => {
    const here = place();
    await honestBranch(here);
    const dir = join(temporaryDirectory(), 'shallow');
    git('/', 'clone', '--quiet', '--depth=1', '--no-single-branch', `file://${here.dir}`, dir);
    expect(await gateVerdict({ ...here, dir }, 'origin/main')).toEqual(['shallow_repository']);
  });

  it('M93: a root is given, and neither side has a policy', async () => {
    const here = emptyPlace();
    const base = code(here, { 'a.ts': 'a\n' });
    code(here, { 'b.ts': 'b\n' });
    expect(await gateVerdict(here, base)).toEqual([]);
    expect(await gateVerdict(here, base, 'HEAD', { root: REPO })).toEqual(['not_initialised policy']);
  });

  it('M94: a secret that nobody allowed', async () => {
    const here = place();
    const leak: Draft = { kind: 'note', text: `the token is ghp_${'q7Zk2Vx9Lm4Tb8Rw3Ny6'.repeat(2).slice(0, 36)}` };
    branch(here, 'feature');
    session(here, [SESSION_START, { ...leak, secret_allowed: true }, BATON]);
    expect(await gateVerdict(here)).toEqual([]);
    session(here, [SESSION_START, leak, BATON], { sessionId: SESSION, clock: 50 });
    expect(await gateVerdict(here)).toEqual(['secret_found 0002-note.yaml']);
  });

  it.each([
    ['M95', 'runs', 'error', 'run_failed 0003-thought.yaml'],
    ['M96', 'evidence', 'run', 'evidence_missing 0004-task.yaml'],
    ['M96', 'evidence', 'passed', 'evidence_missing 0004-task.yaml'],
  ])('%s: a task is done, and writeback.%s is %s', async (_rule, key, value, expected) => {
    const here = place();
    await reopen(here).handoff.policy.set({ key: `writeback.${key}`, value });
    const base = git(here.dir, 'rev-parse', 'HEAD');
    branch(here, 'feature');
    code(here, { 'a.ts': 'a\n' });
    const own = git(here.dir, 'rev-parse', 'HEAD');
    const thought = await thoughtSince(here, base);
    const verdictWith = async (evidence: ReturnType<typeof ran>[]) => {
      git(here.dir, 'reset', '--quiet', '--hard', own);
      session(here, [SESSION_START, IN_PROGRESS, { ...thought, evidence }, DONE, BATON], { sessionId: SESSION });
      return gateVerdict(here);
    };
    expect(await verdictWith([ran(0, git(here.dir, 'rev-parse', `${own}^{tree}`))])).toEqual([]);
    expect(await verdictWith(value === 'run' ? [] : [ran(1)])).toEqual([expected]);
  });

  it('M97: tasks that wait for each other', async () => {
    const here = place();
    branch(here, 'feature');
    defined(here, 'A', ['B']);
    defined(here, 'B');
    expect(await gateVerdict(here)).toEqual([]);
    waiting(here, 'B', ['A']);
    expect((await gateVerdict(here)).sort()).toEqual(['task_cycle tasks/A.yaml', 'task_cycle tasks/B.yaml']);
  });

  it('M98: a session that nobody wrapped', async () => {
    const here = place();
    await reopen(here).handoff.policy.set({ key: 'writeback.open_sessions', value: 'error' });
    branch(here, 'feature');
    const [start] = session(here, [SESSION_START], { sessionId: SESSION });
    const folder = dirname(start!.path);
    const { findings: found } = await reopen(here).handoff.gate({ base: 'main', head: 'HEAD' });
    expect(found).toMatchObject([{ code: 'session_open', severity: 'error', path: folder }]);
    session(here, [SESSION_START, BATON], { sessionId: SESSION });
    expect(await gateVerdict(here)).toEqual([]);
  });
});

describe('seals', () => {
  const place = template();
  const root = 'a'.repeat(64);
  it.each<[string, string, Step, string]>([
    ['M76', 'an honest seal', seal(), 'valid'],
    ['M76', 'another size', seal(null, (honest) => ({ ...honest, tree_size: 1 })), 'chain_broken'],
    ['M76', 'another root', seal(null, (honest) => ({ ...honest, root })), 'chain_broken'],
    ['M77', 'a previous that is not there', seal(1), 'chain_broken'],
    ['M78', 'more bytes than an entry of a log has', seal(null, pad), 'too_large'],
  ])('%s: %s', async (_rule, _what, step, expected) => {
    const here = place();
    writeSealed(here, [...STORY.slice(0, 2), step]);
    expect(await verdict(here)).toBe(expected);
  });

  it('M77: the second seal without the first', async () => {
    const here = place();
    writeSealed(here, [...STORY.slice(0, 2), seal(), seal()]);
    expect(await verdict(here)).toBe('chain_broken');
  });
});

describe('the ledger', () => {
  /** Main has one sealed session. */
  const place = template(async (here) => {
    await here.handoff.task.add({ id: 'P0.1', title: 'Set up the package' });
    writeSealed(here, [...STORY, seal()]);
    commitAll(here, 'a sealed session');
    await here.handoff.ledger.append();
  });
  const checkpoint = '.handoff/ledger/checkpoint';
  const read = (here: Place, path: string) => readFileSync(join(here.dir, path));
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => 'accepted',
      (error: HandoffError) => error.code,
    );

  it('M79: code that nobody has accounted for', async () => {
    const { handoff, dir } = place();
    await handoff.start({ as: 'donna' });
    writeBytes(dir, 'src/a.ts', 'code\n');
    git(dir, 'add', 'src');
    git(dir, 'commit', '--quiet', '--message=code');
    expect(await refusal(handoff.seal())).toBe('seal_too_early');
    await handoff.thought({ id: 'P0.1', summary: 'It is done.' });
    expect(await handoff.seal()).toMatchObject({ tree_size: 2, already_sealed: false });
    expect(await handoff.seal()).toMatchObject({ tree_size: 2, already_sealed: true });
  });

  it('M30: what the ledger had sealed stands, and nothing else', async () => {
    const here = place();
    writeSession(here, STORY.slice(0, 2), { at: '2026-02-21T14:30:25.123Z', clock: 50 });
    commitAll(here);
    await here.handoff.identity.revoke({ name: 'donna' });
    expect((await findings(here)).map((found) => found.replace(/ .*-/, ' '))).toEqual([
      'key_revoked start.yaml',
      'key_revoked note.yaml',
    ]);
  });

  it('M83: a checkpoint that no maintainer signed', async () => {
    const here = place();
    const note = parseNote(read(here, checkpoint));
    const key = privateKey(here, 'donna');
    const bytes = new Uint8Array(sign(null, utf8(note.text), key));
    const name = note.signatures[0]!.name;
    const signature = noteSignature(name, toSigner(key).publicKey.bytes, bytes, nodeHashes);
    writeBytes(here.dir, checkpoint, formatNote({ ...note, signatures: [signature] }));
    commitAll(here);
    expect(await findings(here)).toEqual(['ledger_inconsistent ledger']);
  });

  it('M84: a tile that is not of the entries, a surplus one, and a file that is no tile', async () => {
    const here = place();
    writeBytes(here.dir, '.handoff/ledger/tile/0/000.p/1', new Uint8Array(32));
    commitAll(here);
    expect(await findings(here)).toEqual(['ledger_inconsistent ledger']);
    const other = place();
    writeBytes(other.dir, '.handoff/ledger/tile/1/000', new Uint8Array(32));
    commitAll(other);
    expect(await findings(other)).toEqual(['ledger_inconsistent ledger/tile/1/000']);
    const third = place();
    writeBytes(third.dir, '.handoff/ledger/tile/x/000', new Uint8Array(32));
    commitAll(third);
    expect(await findings(third)).toEqual(['path_mismatch ledger/tile/x/000']);
  });

  it('M85 M86: it only grows, and only on the protected branch', async () => {
    const here = place();
    const before = git(here.dir, 'rev-parse', 'HEAD');
    writeSealed(here, [...STORY, seal()], { sessionId: SESSION, clock: 50 });
    commitAll(here);
    await here.handoff.ledger.append();
    const gate = (base: string, head: string) => reopen(here).handoff.gate({ base, head });
    expect(await gate(before, 'main')).toMatchObject({ pass: true, findings: [] });
    expect((await gate('main', before)).findings.map(({ code: found }) => found)).toEqual([]); // nothing is lost by merging
    git(here.dir, 'switch', '--quiet', '--create', 'feature', before);
    git(here.dir, 'restore', '--source=main', '--staged', '--worktree', '--', '.handoff');
    commitAll(here);
    expect((await gate(before, 'feature')).findings.map(({ code: found }) => found)).toEqual(['ledger_rewritten']);
    git(here.dir, 'switch', '--quiet', 'main');
    git(here.dir, 'restore', `--source=${before}`, '--staged', '--worktree', '--', '.handoff/ledger');
    commitAll(here, 'back');
    const shrunk = await gate('HEAD~1', 'main');
    expect(shrunk.findings.map(({ code: found }) => found)).toEqual(['ledger_rewritten']);
  });

  it('M83 M85: what a retired key signed stands, and it signs nothing new', async () => {
    const here = place();
    const retired = privateKey(here, 'maintainer');
    await here.handoff.identity.rotate({ name: 'maintainer' });
    expect(await findings(here)).toEqual([]);
    const base = git(here.dir, 'rev-parse', 'HEAD');
    const written = writeSealed(here, [...STORY, seal()], { sessionId: SESSION, clock: 50 });
    const entries = [...entriesOf(here), Buffer.from(written.at(-1)!.bytes).toString('utf8')];
    await writeLedgerOf(here, entries, { key: retired });
    commitAll(here);
    expect(await findings(here)).toEqual([]);
    const { findings: found } = await reopen(here).handoff.gate({ base, head: 'main' });
    expect(found.map(({ code: each }) => each)).toEqual(['ledger_rewritten']);
  });

  it('M87: a ledger that went back', async () => {
    const here = place();
    expect(await here.handoff.ledger.verify()).toMatchObject({ valid: true, size: 1, unsealed: 0 });
    git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    expect(await refusal(reopen(here).handoff.ledger.verify())).toBe('ledger_inconsistent');
    expect(await findings(here)).toEqual(['ledger_inconsistent ledger']);
    git(here.dir, 'switch', '--quiet', '--create', 'feature'); // a branch may have left before
    expect(await findings(here)).toEqual([]);
  });

  it('M80 M81 M82 M88 M89 M90 M91 M92: the published vectors show each, kept and broken', async () => {
    const cases = ['checkpoints', 'proofs'].flatMap(
      (name) =>
        JSON.parse(readFileSync(`protocol/vectors/${name}.json`, 'utf8')) as { rule: string[]; result: string }[],
    );
    for (const rule of ['M80', 'M81', 'M82', 'M88', 'M89', 'M90', 'M91', 'M92']) {
      const results = cases.filter((each) => each.rule.includes(rule)).map(({ result }) => result);
      expect([rule, results.includes('valid'), results.some((result) => result !== 'valid')]).toEqual([
        rule,
        true,
        true,
      ]);
    }
  });
});

function pad(honest: object): object {
  return { ...honest, x_pad: 'x'.repeat(65_536) };
}

/** What the records of HEAD add up to. */
async function folded(here: Place) {
  const store = openNativeStore({ dir: here.dir, env: here.env });
  const source = await openTree(store, 'HEAD');
  const trust = await loadTrust(source, nodeSuite, () => {});
  const known = await readHistory(source, trust!, { suite: nodeSuite, cacheFolder: null });
  await store.close();
  return known;
}

/** Donna is at work; lola is refused, and then takes over. */
async function forced(): Promise<{ place: Place; refused: string }> {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'lola' });
  await place.handoff.start({ as: 'donna' });
  const refused = await place.handoff.pickup({ as: 'lola' }).then(
    () => 'picked up',
    (error: HandoffError) => error.code,
  );
  await place.handoff.pickup({ as: 'lola', force: true, reason: 'it hangs' });
  return { place, refused };
}

async function verify(place: Place) {
  commitAll(place);
  return place.handoff.verify();
}

/** The one code that was found, or `valid`. */
async function verdict(place: Place): Promise<string> {
  const { findings, valid } = await verify(place);
  expect(valid).toBe(findings.length === 0);
  return [...new Set(findings.map(({ code }) => code))].join(' ') || 'valid';
}

function edit(dir: string, path: string, from: string, to: string): void {
  const text = readFileSync(join(dir, path), 'utf8');
  expect(text).toContain(from);
  writeBytes(dir, path, text.replace(from, to));
}

function publicKeyFile(place: Place, identity: string): string {
  const line = /key: (ssh-ed25519 \S+)/.exec(
    readFileSync(join(place.dir, `.handoff/identities/${identity}/identity.yaml`), 'utf8'),
  )![1]!;
  writeBytes(place.keys, `${identity}.pub`, `${line}\n`);
  return join(place.keys, `${identity}.pub`);
}
