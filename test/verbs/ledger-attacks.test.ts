import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/core/bytes/bytes.ts';
import { type Checkpoint, formatCheckpoint, parseCheckpoint } from '../../src/core/ledger/checkpoint.ts';
import { planGrowth } from '../../src/core/ledger/log-growth.ts';
import { formatNote, noteSignature, parseNote } from '../../src/core/ledger/note.ts';
import { parseAs } from '../../src/core/record/record.ts';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { nodeHost } from '../../src/host.ts';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import { writeLedger } from '../../src/sealing/ledger/write.ts';
import { commitAll, type Place, privateKey, STORY, writeBytes } from '../handoff.ts';
import { makeKey, signLine } from '../ledger/note-key.ts';
import { seal, writeSealed } from '../sealing.ts';
import { git } from '../temporary.ts';
import { findings, reopen, signDocument, template } from '../threats/forge.ts';

const CHECKPOINT = '.handoff/ledger/checkpoint';

/** Main has one sealed session, and a ledger of it. */
const fresh = template(async (here) => {
  sealed(here, 1);
  await here.handoff.ledger.append();
});

function sealed(here: Place, number: number, identity = 'donna', steps = [...STORY, seal()]): string {
  const sessionId = `${String(number).padStart(8, '0')}-51cf-4c61-9a39-2b7fd2f9a1de`;
  const written = writeSealed(here, steps, { sessionId, identity, clock: number * 20 });
  commitAll(here, `session ${number}`);
  return written.at(-1)!.path;
}

/** The checkpoint as whoever holds the key of a maintainer can make it. */
function signCheckpoint(here: Place, change: Partial<Checkpoint>, identity = 'maintainer'): void {
  const note = parseNote(readFileSync(join(here.dir, CHECKPOINT)));
  const text = formatCheckpoint({ ...parseCheckpoint(note.text), ...change });
  const signer = toSigner(privateKey(here, identity));
  const bytes = signer.signNote!(text);
  const signature = noteSignature(note.signatures[0]!.name, signer.publicKey.bytes, bytes, nodeHashes);
  writeBytes(here.dir, CHECKPOINT, formatNote({ text, signatures: [signature] }));
}

function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'accepted',
    (error: { code: string }) => error.code,
  );
}

describe('what stands in the way of an append', () => {
  it('a link among tiles is not followed', async () => {
    const here = fresh();
    sealed(here, 2);
    symlinkSync('.', join(here.dir, '.handoff/ledger/tile/0/x002'));
    expect(await reopen(here).handoff.ledger.append()).toMatchObject({ size: 2, appended: 1 });
    expect(await findings(here)).toEqual([]);
  });

  it('a link where tiles belong is refused before anything is written', async () => {
    const here = fresh();
    sealed(here, 2);
    const tiles = join(here.dir, '.handoff/ledger/tile/0');
    renameSync(tiles, join(here.dir, '.git/aside'));
    symlinkSync(join(here.dir, '.git/aside'), tiles);
    const before = git(here.dir, 'status', '--porcelain', '--untracked-files=all');
    expect(await refusal(reopen(here).handoff.ledger.append())).toBe('foreign_directory');
    expect(git(here.dir, 'status', '--porcelain', '--untracked-files=all')).toBe(before);
  });

  it('a folder where the lock belongs is named', async () => {
    const here = fresh();
    const lock = join(here.dir, '.git/handoff/appending');
    mkdirSync(lock);
    await expect(reopen(here).handoff.ledger.append()).rejects.toMatchObject({ code: 'io', data: { path: lock } });
  });
});

describe('two who append in one clone', () => {
  it('do so one after the other, and both have it all', async () => {
    const here = fresh();
    sealed(here, 2);
    sealed(here, 3);
    const answers = await Promise.all([1, 2, 3, 4].map(() => reopen(here).handoff.ledger.append()));
    expect(new Set(answers.map(({ size, root }) => `${size} ${root}`)).size).toBe(1);
    expect(answers.map(({ appended }) => appended).sort()).toEqual([0, 0, 0, 2]);
    expect(git(here.dir, 'log', '--format=%s', '-2').split('\n')[1]).toBe('session 3');
    expect(await findings(here)).toEqual([]);
  });

  interface Stale extends Partial<Parameters<typeof writeLedger>[1]['plan']> {
    /** Whose tree it was planned for. */
    rev?: string;
  }

  /** As it is between a plan and its commit: what was planned for is `HEAD`, but for what `stale` says. */
  async function writeStale(here: Place, env: NodeJS.ProcessEnv, { rev = 'HEAD', ...stale }: Stale): Promise<string> {
    const repository = openRepositoryAt(here.dir, { env: { ...here.env, ...env }, host: nodeHost });
    const [tree, sessions] = [`${rev}^{tree}`, 'HEAD:.handoff/sessions'].map((rev) => git(here.dir, 'rev-parse', rev));
    const written = ['tile/0/000.p/200', 'checkpoint'].map((path) => ({ path, bytes: Buffer.from('stale') }));
    const plan = { branch: 'main', tree: tree!, sessions: sessions!, seals: [], ...stale };
    const change = { size: 1, written, removed: [], plan };
    const answer = await refusal(writeLedger(repository, change, { identity: 'maintainer', message: 'stale' }, {}));
    await repository.close();
    return answer;
  }

  const HOOK: [string, (here: Place) => void, NodeJS.ProcessEnv] = [
    'by git, for somebody else has a hook',
    ({ dir }) => {
      mkdirSync(join(dir, '.git/hooks'), { recursive: true });
      writeFileSync(join(dir, '.git/hooks/commit-msg'), '#!/bin/sh\n', { mode: 0o755 });
    },
    {},
  ];

  describe.each<[string, (here: Place) => void, NodeJS.ProcessEnv]>([
    ['here', () => {}, {}],
    HOOK,
    ['by git, which alone knows how it writes this name', () => {}, { GIT_AUTHOR_NAME: 'Sammy Davis, Jr.' }],
    ['by git, which alone knows when this is', () => {}, { GIT_COMMITTER_DATE: '2026-01-02 03:04:05 +0100' }],
  ])('a commit that is made %s', (_, prepare, env) => {
    it.each<[string, Stale, ((here: Place) => void)?]>([
      ['another ledger', { rev: 'HEAD~1' }],
      ['another branch', { branch: 'other' }],
      ['a branch, and HEAD is detached now', {}, ({ dir }) => git(dir, 'checkout', '--quiet', '--detach')],
      ['a seal that has gone', { sessions: '1'.repeat(40), seals: [{ path: '.handoff/sessions/donna/none' }] }],
    ])('is not made of a plan for %s', async (_plan, stale, move) => {
      const here = fresh();
      prepare(here);
      move?.(here);
      const head = git(here.dir, 'rev-parse', 'HEAD');
      expect(await writeStale(here, env, stale)).toBe('io');
      expect([git(here.dir, 'rev-parse', 'HEAD'), git(here.dir, 'status', '--porcelain')]).toEqual([head, '']);
    });

    it('is made of one that still fits, although another session came', async () => {
      const here = fresh();
      prepare(here);
      const seals = [{ path: sealed(here, 2) }];
      expect(await writeStale(here, env, { sessions: '1'.repeat(40), seals })).toBe('accepted');
      expect(git(here.dir, 'log', '--format=%s', '-1')).toBe('stale');
    });
  });
});

describe('a ledger whose signer was revoked', () => {
  const withOlga = template(async (here) => {
    await here.handoff.identity.add({ name: 'olga', role: 'maintainer' });
    sealed(here, 1);
    await here.handoff.ledger.append({ as: 'olga' });
    writeSealed(here, STORY, { sessionId: '00000002-51cf-4c61-9a39-2b7fd2f9a1de', clock: 40 }); // a session without a seal
    commitAll(here);
    await here.handoff.identity.revoke({ name: 'olga' });
  });

  it('is signed anew with the same text, which the gate lets through', async () => {
    const here = withOlga();
    const before = parseNote(readFileSync(join(here.dir, CHECKPOINT)));
    expect(await here.handoff.ledger.append({ as: 'maintainer' })).toMatchObject({ appended: 0, size: 1 });
    const after = parseNote(readFileSync(join(here.dir, CHECKPOINT)));
    expect([after.text, after.signatures[0]!.hash === before.signatures[0]!.hash]).toEqual([before.text, false]);
    expect(await findings(here)).toEqual([]);
    const { handoff } = reopen(here);
    expect((await handoff.gate({ base: 'HEAD~1', head: 'HEAD', replaces: true })).findings).toEqual([]);
  });

  it('is signed anew beside what a witness has signed, whose line stays', async () => {
    const here = withOlga();
    const path = join(here.dir, CHECKPOINT);
    const text = readFileSync(path, 'utf8');
    const witness = makeKey('witness.example/w1', 4);
    writeFileSync(path, text + signLine(witness, parseNote(Buffer.from(text)).text));
    commitAll(here, 'a cosignature');
    await reopen(here).handoff.ledger.append({ as: 'maintainer' });
    const { witnesses } = await reopen(here).handoff.ledger.verify({ witness: [witness.vkey] });
    expect(witnesses).toMatchObject([{ name: witness.name }]);
    expect(await findings(here)).toEqual([]);
  });

  it('is not signed anew under the name of another, whatever root a person names', async () => {
    const here = withOlga();
    signCheckpoint(here, { origin: `git-handoff/${'0'.repeat(64)}` }, 'olga');
    commitAll(here, 'another name');
    const { root } = parseCheckpoint(parseNote(readFileSync(join(here.dir, CHECKPOINT))).text);
    const signing = reopen(here).handoff.ledger.append({ as: 'maintainer', resign: toHex(root) });
    expect(await refusal(signing)).toBe('ledger_inconsistent');
  });

  it('is not signed by a clone that has never seen it, unless a person names its root', async () => {
    const here = withOlga();
    const dir = join(here.dir, '..', 'elsewhere');
    git('/', 'clone', '--quiet', here.dir, dir);
    const { handoff } = reopen(here, dir);
    expect(await refusal(handoff.ledger.append({ as: 'maintainer' }))).toBe('ledger_inconsistent');
    expect(await refusal(handoff.ledger.append({ as: 'maintainer', resign: '0'.repeat(64) }))).toBe(
      'ledger_inconsistent',
    );
    const root = toHex(parseCheckpoint(parseNote(readFileSync(join(dir, CHECKPOINT))).text).root);
    expect(await handoff.ledger.append({ as: 'maintainer', resign: root })).toMatchObject({ appended: 0, root });
  });

  it('that somebody with revoked keys has made up is not signed', async () => {
    const here = withOlga();
    const path = sealed(here, 3);
    const bytes = readFileSync(join(here.dir, path));
    const empty = { size: 0, root: merkleRoot([], nodeHashes.sha256) };
    const growth = await planGrowth(empty, [bytes], () => Promise.reject(new Error('none')), nodeHashes.sha256);
    for (const file of growth.written) writeBytes(here.dir, `.handoff/ledger/${file.path}`, file.bytes);
    signCheckpoint(here, { size: 1, root: growth.root }, 'olga');
    commitAll(here, 'another ledger of the same size');
    expect(await refusal(reopen(here).handoff.ledger.append({ as: 'maintainer' }))).toBe('ledger_inconsistent');
  });
});

describe('a checkpoint that says too much', () => {
  it.each([1_000_000_000, Number.MAX_SAFE_INTEGER])(
    'of %i seals is refused before anybody counts them',
    async (size) => {
      const here = fresh();
      signCheckpoint(here, { size });
      commitAll(here);
      expect((await findings(here)).every((found) => /^(?:ledger_inconsistent|path_mismatch) /.test(found))).toBe(true);
      const { handoff } = reopen(here);
      expect(await refusal(handoff.ledger.verify())).toBe('ledger_inconsistent');
      expect(await refusal(handoff.ledger.append())).toBe('ledger_inconsistent');
      expect(await refusal(handoff.prove({ record: '.handoff/sessions', output: '-' }))).toBe('ledger_inconsistent');
    },
  );
});

it('a key that arrives revoked has no cutoff beyond the ledger either', async () => {
  const here = fresh();
  const base = git(here.dir, 'rev-parse', 'HEAD');
  await here.handoff.identity.add({ name: 'eve' });
  const path = '.handoff/identities/eve/identity.yaml';
  const { fields } = parseAs(readFileSync(join(here.dir, path)), 'identity');
  const keys = fields.keys.map(({ key }) => ({ key, state: 'revoked', cutoff: 1_000_000 }));
  const changed = { ...fields, keys };
  writeBytes(here.dir, path, signDocument(changed, [['maintainer', privateKey(here, 'maintainer')]]));
  commitAll(here);
  const { handoff } = reopen(here);
  expect((await handoff.gate({ base, head: 'HEAD' })).findings.map(({ code }) => code)).toEqual(['policy_rollback']);
});

it('a seal that the journal has otherwise than it was signed is not repeated', async () => {
  const { handoff, dir } = fresh();
  const { session_id } = await handoff.start({ as: 'erin' });
  await handoff.seal();
  const path = join(dir, '.git/handoff/sessions', session_id, 'records/000002');
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^root: ..../m, 'root: 0000'));
  expect([await refusal(handoff.root()), await refusal(handoff.seal())]).toEqual([
    'signature_invalid',
    'signature_invalid',
  ]);
});

it('root --ledger and prove notice a ledger that went back', async () => {
  const here = fresh();
  const record = sealed(here, 2);
  await here.handoff.ledger.append();
  git(here.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
  const { handoff } = reopen(here);
  expect(await refusal(handoff.root({ ledger: true }))).toBe('ledger_inconsistent');
  expect(await refusal(handoff.prove({ record, output: '-' }))).toBe('ledger_inconsistent');
});

it('a proof is written through a link, and puts nothing out of the way', async () => {
  const here = fresh();
  const record = git(here.dir, 'ls-files', '.handoff/sessions/donna/*-note.yaml');
  const [target, link] = [join(here.dir, '..', 'target'), join(here.dir, '..', 'link')];
  writeFileSync(target, '');
  symlinkSync(target, link);
  await here.handoff.prove({ record, output: link });
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(readFileSync(target, 'utf8')).toMatch(/^handoff: 1\nkind: proof\n/);
  const pipe = join(here.dir, '..', 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = import('node:fs/promises').then(({ readFile }) => readFile(pipe, 'utf8'));
  await here.handoff.prove({ record, output: pipe });
  expect([await reading, lstatSync(pipe).isFIFO()]).toEqual([readFileSync(target, 'utf8'), true]);
  expect(await refusal(here.handoff.prove({ record, output: '' }))).toBe('usage');
});
