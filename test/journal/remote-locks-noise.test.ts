import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signedMessage } from '../../src/core/record/signed-message.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { generateKey, toSigner } from '../../src/journal/keys/keys.ts';
import type { Holder } from '../../src/journal/locks/holder.ts';
import {
  formatLockCommit,
  type LockDocument,
  lockBytes,
  parseLockCommit,
} from '../../src/journal/locks/lock-commit.ts';
import { lockRef, releaseRef } from '../../src/journal/locks/lock-ref.ts';
import {
  type LockRemote,
  readRemoteHold,
  releaseRemoteHold,
  takeRemoteHold,
} from '../../src/journal/locks/remote-locks.ts';
import { git, gitInput } from '../temporary.ts';
import { FORGED_HOLDERS, HOLDER } from './forged-holders.ts';
import { KEY, remotes, trusting } from './remote-fixture.ts';

// Threat 60 and 71: anyone who may push writes into the namespace. What its holder did not sign neither holds nor blocks.

const NAMES = ['task/P0.1', 'identity/ada', `session/${HOLDER.session_id}`] as const;
const NAME = NAMES[0];
const prefixOf = (name: string) => lockRef(name, 1).slice(0, -8);

function pair(): { bare: string; a: LockRemote; b: LockRemote } {
  const { bare, clones } = remotes(2);
  put(bare, 'refs/heads/main', EMPTY_COMMIT);
  return { bare, a: clones[0]!, b: clones[1]! };
}

function put(bare: string, ref: string, commit: Uint8Array | string): void {
  const oid = gitInput(bare, commit as string, 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin');
  git(bare, 'update-ref', ref, oid);
}

const junk = (bare: string) => gitInput(bare, 'junk', 'commit-tree', git(bare, 'mktree'));

/** A commit that every one of these repositories has: one of nothing, by nobody. */
const EMPTY_COMMIT = 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor x <x> 0 +0000\ncommitter x <x> 0 +0000\n\n';
const EMPTY = createHash('sha1').update(`commit ${EMPTY_COMMIT.length}\0${EMPTY_COMMIT}`).digest('hex');

interface Forgery {
  key?: typeof KEY;
  kind?: 'lock' | 'note';
  document?: Partial<LockDocument>;
  mutate?(text: string): string;
}

/** A lock commit for this ref, with something wrong about it. */
async function forge(ref: string, holder: unknown, { key = KEY, kind = 'lock', document, mutate }: Forgery = {}) {
  const lock = { repo: trusting().repo, ref, nonce: 'n', holder: holder as Holder, ...document };
  const signature = await toSigner(key).sign({ kind, signedBytes: lockBytes(lock) });
  const text = Buffer.from(formatLockCommit('sha1', lock, signature)).toString('utf8');
  return mutate ? mutate(text) : text;
}

/** As if the noise were not there: nobody holds it, it is taken, seen, released, and taken again. */
async function expectIgnored({ a, b }: { a: LockRemote; b: LockRemote }, name: string): Promise<void> {
  expect(await readRemoteHold(b, name)).toBeNull();
  expect(await takeRemoteHold(a, name, null, HOLDER)).toBe('taken');
  const held = await readRemoteHold(b, name);
  expect(held).toMatchObject({ holder: HOLDER, released: null });
  expect(await takeRemoteHold(b, name, null, HOLDER)).toBe('lost');
  await releaseRemoteHold(a, name, held!, HOLDER);
  const released = await readRemoteHold(b, name);
  expect(released).toMatchObject({ released: HOLDER });
  expect(await takeRemoteHold(b, name, released, HOLDER)).toBe('taken');
}

/** Where noise may stand: at the numbers that are wanted next, at their ends, and far above. */
const PLACES = ['00000001', '00000001.released', '00000002', '00000007', '99999999', '99999999.released'];

const ODD = ['note', '1', '00000000', '00000001.other', '000000001', '9007199254740992', '1e3', '-x', '$(x)'];

describe('refs that are no locks', () => {
  const fill = (bare: string, name: string, lasts: readonly string[]) => {
    for (const last of lasts) git(bare, 'update-ref', `${prefixOf(name)}${last}`, junk(bare));
  };

  test.each([...NAMES])('all at once, under %s', async (name) => {
    const place = pair();
    fill(place.bare, name, [...PLACES, ...ODD]);
    await expectIgnored(place, name);
  });

  test.each([...PLACES, '00000001/x', '00000002/x'])('alone, called %s', async (last) => {
    const place = pair();
    fill(place.bare, NAME, [last]);
    await expectIgnored(place, NAME);
  });
});

describe('commits that nobody who is trusted signed', () => {
  const FORGERIES: [string, (ref: string) => Promise<string>][] = [
    ['as locks were before they were signed', async (ref) => unsigned(ref)],
    ['by a key that nobody has', (ref) => forge(ref, HOLDER, { key: generateKey() })],
    ['for another ref', (ref) => forge(ref, HOLDER, { document: { ref: `${ref}0` } })],
    ['for another repository', (ref) => forge(ref, HOLDER, { document: { repo: 'b'.repeat(64) } })],
    ['as a note, not as a lock', (ref) => forge(ref, HOLDER, { kind: 'note' })],
    ['without the signature', (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace(/\n[^\n]*\n$/, '\n') })],
    ['with half of it', (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace(/.{20}==\n$/, '\n') })],
    [
      'with a parent',
      (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace('author', `parent ${EMPTY}\nauthor`) }),
    ],
    [
      'by another author',
      (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace('author git', 'author Mallory') }),
    ],
    ['with a space', (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace('{"repo"', '{ "repo"') })],
    ['with another key', (ref) => forge(ref, HOLDER, { mutate: (text) => text.replace('{"repo"', '{"x":1,"repo"') })],
    ['with more after it', (ref) => forge(ref, HOLDER, { mutate: (text) => `${text}more\n` })],
    ['larger than any lock', (ref) => forge(ref, { ...HOLDER, reason: 'x'.repeat(20_000) })],
  ];

  test.each(FORGERIES)('%s', async (_, make) => {
    const place = pair();
    for (const ref of PLACES.map((last) => `${prefixOf(NAME)}${last}`)) put(place.bare, ref, await make(ref));
    await expectIgnored(place, NAME);
  });

  function unsigned(ref: string): string {
    const head =
      'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor git-handoff <git-handoff@git-handoff.invalid> 0 +0000\n';
    const committer = 'committer git-handoff <git-handoff@git-handoff.invalid> 0 +0000\n\n';
    return `${head}${committer}${JSON.stringify({ ref, nonce: 'n', holder: HOLDER })}\n`;
  }

  test('a lock that is copied to another number, another name, or its own end', async () => {
    const { bare, a, b } = pair();
    await takeRemoteHold(a, NAME, null, HOLDER);
    const oid = git(bare, 'rev-parse', lockRef(NAME, 1));
    for (const ref of [lockRef(NAME, 2), releaseRef(NAME, 1), lockRef('task/other', 1)])
      git(bare, 'update-ref', ref, oid);
    expect(await readRemoteHold(b, NAME)).toEqual({ number: 1, holder: HOLDER, released: null });
    expect(await readRemoteHold(b, 'task/other')).toBeNull();
  });

  test('somebody else’s word: an identity is held, and a lock is given back, only by whoever it is', async () => {
    const { bare, a, b } = pair();
    const mallory = { ...HOLDER, identity: 'mallory' };
    put(bare, lockRef('identity/ada', 5), await forge(lockRef('identity/ada', 5), mallory));
    await expectIgnored({ a, b }, 'identity/ada');
    await takeRemoteHold(a, NAME, null, HOLDER);
    put(bare, releaseRef(NAME, 1), await forge(releaseRef(NAME, 1), mallory));
    const held = await readRemoteHold(b, NAME);
    expect(held).toMatchObject({ released: null });
    await releaseRemoteHold(a, NAME, held!, HOLDER);
    expect(await readRemoteHold(b, NAME)).toMatchObject({ released: HOLDER });
  });

  test('a blob, a tree, a tag', async () => {
    const place = pair();
    const { bare } = place;
    git(bare, 'tag', '--annotate', '--message', 'x', 'v1', junk(bare));
    const oids = [
      gitInput(bare, 'x', 'hash-object', '-w', '--stdin'),
      git(bare, 'mktree'),
      git(bare, 'rev-parse', 'v1'),
    ];
    for (const [i, oid] of oids.entries()) git(bare, 'update-ref', lockRef(NAME, i + 1), oid);
    await expectIgnored(place, NAME);
  });

  test('a branch of the same name is no lock', async () => {
    const { bare, a } = pair();
    git(bare, 'update-ref', `refs/heads/${lockRef(NAME, 7)}`, junk(bare));
    expect(await readRemoteHold(a, NAME)).toBeNull();
  });
});

describe('ids that are none, even where a trusted key signed them', () => {
  test.each(FORGED_HOLDERS)('%j', async (_, holder) => {
    const ref = lockRef(NAME, 1);
    const bytes = Buffer.from(await forge(ref, holder));
    expect(parseLockCommit(ref, '1'.repeat(40), bytes)).toBeNull();
  });

  test('all of them at once neither hold nor block', async () => {
    const place = pair();
    for (const [i, [, holder]] of FORGED_HOLDERS.entries())
      put(place.bare, lockRef(NAME, i + 1), await forge(lockRef(NAME, i + 1), holder));
    await expectIgnored(place, NAME);
  });
});

describe('a great deal of it', () => {
  test('thousands of refs below, between and above cost a listing and a few reads', async () => {
    const place = pair();
    const oid = junk(place.bare);
    const noise = Array.from({ length: 4000 }, (_, i) => `create ${lockRef(NAME, i + 2)} ${oid}\n`);
    gitInput(place.bare, noise.join(''), 'update-ref', '--stdin');
    await expectIgnored(place, NAME);
  });

  test('a client that checks what it fetches is not stopped by what git would not make', async () => {
    const place = pair();
    git(place.b.git.dir, 'config', 'transfer.fsckObjects', 'true');
    put(place.bare, lockRef(NAME, 1), 'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor x\ncommitter x\n\n');
    await expectIgnored(place, NAME);
  });

  test('a ref where the namespace has a folder is named, with the command that removes it', async () => {
    for (const ref of ['refs/handoff/locks', 'refs/handoff/locks/task', 'refs/handoff/locks/task/P0.1']) {
      const { bare, a } = pair();
      git(bare, 'update-ref', ref, junk(bare));
      const error = await takeRemoteHold(a, NAME, null, HOLDER).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'io', hint: expect.stringContaining(`git push origin --delete ${ref}`) });
      git(a.git.dir, 'push', '--quiet', 'origin', '--delete', ref);
      expect(await takeRemoteHold(a, NAME, null, HOLDER)).toBe('taken');
    }
  });
});

test('what is signed is the first line of the message, in a namespace of its own', async () => {
  const lock = { repo: 'a'.repeat(64), ref: lockRef(NAME, 1), nonce: 'n', holder: HOLDER };
  const as = (kind: 'lock' | 'note') => Buffer.from(signedMessage({ kind, signedBytes: lockBytes(lock) }, nodeHashes));
  expect(as('lock').equals(as('note'))).toBe(false);
  expect(as('lock').toString('latin1')).toContain('git-handoff/v1/lock');
});
