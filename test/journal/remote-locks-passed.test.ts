import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockRef, releaseRef } from '../../src/journal/locks/lock-ref.ts';
import { type LockRemote, readRemoteHold, takeRemoteHold } from '../../src/journal/locks/remote-locks.ts';
import { git, gitInput, temporaryDirectory } from '../temporary.ts';
import { HOLDER } from './forged-holders.ts';
import { remotes, script } from './remote-fixture.ts';

// Numbers that are passed over: those that nobody can have, and those that whoever holds the lock does not want. Neither may
// cost a conversation each, and nobody may win at one of them besides whoever passed it.

const NAME = 'identity/ada';
const OTHER = { ...HOLDER, host: 'another-host' };

interface Pair {
  bare: string;
  a: LockRemote;
  b: LockRemote;
}

function pair(): Pair {
  const { bare, clones } = remotes(2);
  return { bare, a: clones[0]!, b: clones[1]! };
}

/** Refs inside of these numbers, so that git can have none that is called as the number. */
function block(bare: string, numbers: readonly number[], name: string = NAME): void {
  const oid = gitInput(bare, 'junk', 'commit-tree', git(bare, 'mktree'));
  const lines = numbers.map((number) => `create ${lockRef(name, number)}/x ${oid}\n`);
  gitInput(bare, lines.join(''), 'update-ref', '--stdin');
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** How often the remote is talked to meanwhile, by command. */
async function conversations(remote: LockRemote, run: (remote: LockRemote) => Promise<unknown>): Promise<string[]> {
  const trace = join(temporaryDirectory(), 'trace');
  await run({ ...remote, git: { ...remote.git, env: { ...remote.git.env, GIT_TRACE: trace } } });
  const started = readFileSync(trace, 'utf8').matchAll(/built-in: git (push|fetch|ls-remote)/g);
  return [...started].map(([, command]) => command!);
}

/** Whose locks the remote has in the end, by number. */
const hosts = async (at: LockRemote, name: string = NAME) => (await readRemoteHold(at, name))?.holder.host;

/** Before the server takes this number, it does something else, once. */
function before({ bare }: Pair, ref: string, then: string): void {
  const done = join(temporaryDirectory(), 'done');
  const isNow = `grep -q ' ${ref}$' && [ ! -e ${done} ]`;
  script(join(bare, 'hooks/pre-receive'), `${isNow} || exit 0\n: > ${done}\n${then}`);
}

describe('numbers that are folders of other refs', () => {
  test.each([1, 2, 300])('%i of them cost one push and one listing', async (count) => {
    const { bare, a, b } = pair();
    block(bare, upTo(count));
    const talked = await conversations(a, async (at) => {
      expect(await takeRemoteHold(at, NAME, null, HOLDER)).toBe('taken');
    });
    expect(talked).toEqual(['push', 'ls-remote', 'push', 'ls-remote']);
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: count + 1, holder: HOLDER });
  });

  test('between them the first that is free is taken, whatever the lock', async () => {
    for (const name of [NAME, 'task/x.lock', `session/${HOLDER.session_id}`]) {
      const { bare, a } = pair();
      block(bare, [1, 2, 4, 5], name);
      expect(await takeRemoteHold(a, name, null, HOLDER)).toBe('taken');
      const first = await readRemoteHold(a, name);
      expect(first).toMatchObject({ number: 3 });
      expect(await takeRemoteHold(a, name, first, HOLDER)).toBe('taken');
      expect(await readRemoteHold(a, name)).toMatchObject({ number: 6 });
    }
  });

  test('when such a one goes, and somebody else takes it meanwhile, two do not win', async () => {
    const both = pair();
    const { bare, a, b } = both;
    expect(await takeRemoteHold(b, NAME, null, OTHER)).toBe('taken');
    const taken = git(bare, 'rev-parse', lockRef(NAME, 1));
    git(bare, 'update-ref', '-d', lockRef(NAME, 1));
    block(bare, upTo(3));
    // pre-receive must not change refs in git's quarantine: the environment of the push is left behind
    const unset = 'unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES';
    const swap = `git update-ref -d ${lockRef(NAME, 1)}/x && git update-ref ${lockRef(NAME, 1)} ${taken}`;
    before(both, lockRef(NAME, 4), `${unset}\n${swap}`);
    expect(await takeRemoteHold(a, NAME, null, HOLDER)).toBe('lost');
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 4, released: HOLDER });
  });
});

describe('a holder that goes on by several numbers', () => {
  test('has the last one, and only that', async () => {
    const { bare, a, b } = pair();
    await takeRemoteHold(a, NAME, null, HOLDER);
    const first = await readRemoteHold(a, NAME);
    expect(await takeRemoteHold(a, NAME, first, HOLDER, 64)).toBe('taken');
    expect(await readRemoteHold(b, NAME)).toMatchObject({ number: 65, released: null });
    expect(git(bare, 'for-each-ref', '--format=%(refname)').split('\n')).toEqual([lockRef(NAME, 1), lockRef(NAME, 65)]);
  });

  test.each([2, 40, 64])('gives way to whoever took number %i by force meanwhile', async (number) => {
    const { a, b } = pair();
    await takeRemoteHold(a, NAME, null, HOLDER);
    const first = await readRemoteHold(a, NAME);
    expect(await takeRemoteHold(b, NAME, first, OTHER, number - 1)).toBe('taken');
    expect(await takeRemoteHold(a, NAME, first, HOLDER, 64)).toBe('lost');
    // it is nobody's: neither writes under it, and either takes the next
    const now = await readRemoteHold(b, NAME);
    expect(now).toMatchObject({ number: 65, released: HOLDER });
    expect(await takeRemoteHold(b, NAME, now, OTHER)).toBe('taken');
    expect(await hosts(a)).toBe(OTHER.host);
  });

  test('loses to whoever is further, and to whoever has the very number', async () => {
    for (const steps of [10, 20]) {
      const { a, b } = pair();
      await takeRemoteHold(a, NAME, null, HOLDER);
      const first = await readRemoteHold(a, NAME);
      expect(await takeRemoteHold(b, NAME, first, OTHER, steps)).toBe('taken');
      expect(await takeRemoteHold(a, NAME, first, HOLDER, 10)).toBe('lost');
      expect(await readRemoteHold(a, NAME)).toMatchObject({ number: 1 + steps, released: null, holder: OTHER });
    }
  });

  test('passes noise on the way, and writes over it where it goes', async () => {
    const { bare, a } = pair();
    await takeRemoteHold(a, NAME, null, HOLDER);
    const junk = gitInput(bare, 'junk', 'commit-tree', git(bare, 'mktree'));
    for (const ref of [lockRef(NAME, 5), lockRef(NAME, 11), releaseRef(NAME, 11)]) git(bare, 'update-ref', ref, junk);
    expect(await takeRemoteHold(a, NAME, await readRemoteHold(a, NAME), HOLDER, 10)).toBe('taken');
    expect(await readRemoteHold(a, NAME)).toMatchObject({ number: 11, released: null });
  });
});
