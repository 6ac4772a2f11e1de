import { describe, expect, it } from 'vitest';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { formatLockCommit, lockBytes } from '../../src/journal/locks/lock-commit.ts';
import { type Place, privateKey } from '../handoff.ts';
import { open } from '../hooks/hooked.ts';
import { HOLDER } from '../journal/forged-holders.ts';
import { git, gitInput } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { commandsIn, done, handoff, lockRefs, type Machine, machines } from './machines.ts';

// A lock that somebody else has taken, rightly or with another's name on it, is not one's own to end; and whoever has lost
// it still ends everything else. The server judges each push, so what is not one's own it refuses.

const fresh = template(async ({ handoff }) => {
  for (const id of ['P0.1', 'P0.2']) await handoff.task.add({ id, title: 'Readers' });
});

async function pair(): Promise<{ place: Place; left: Machine; right: Machine }> {
  const place = fresh();
  const [left, right] = machines(place, 'left', 'right');
  git(left!.bare, 'config', 'handoff.root', place.root);
  await open(left!.bare).hooks.install({ server: true });
  return { place, left: left!, right: right! };
}

/** On a server that judges nothing. */
function unjudged(): { place: Place; left: Machine; right: Machine } {
  const place = fresh();
  const [left, right] = machines(place, 'left', 'right');
  return { place, left: left!, right: right! };
}

/** Erin signs a lock that says it is held by a session of donna's. */
async function takeInTheNameOf(place: Place, { dir }: Machine, session_id: string, name: string): Promise<void> {
  const ref = `refs/handoff/locks/${name}`;
  const lock = { repo: place.root, ref, nonce: 'n', holder: { ...HOLDER, session_id, identity: 'erin' } };
  const signature = await toSigner(privateKey(place, 'erin')).sign({ kind: 'lock', signedBytes: lockBytes(lock) });
  const commit = formatLockCommit('sha1', lock, signature);
  const oid = gitInput(dir, commit, 'hash-object', '-t', 'commit', '-w', '--stdin');
  git(dir, 'push', '--quiet', 'origin', `${oid}:${ref}`);
}

describe('a task that another identity has taken with the number of one’s own session', () => {
  it('is no longer one’s own, and keeps nobody from wrapping', async () => {
    const { place, left, right } = await pair();
    const { session_id } = done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    await takeInTheNameOf(place, right, session_id, 'task/P0.1/00000002');
    expect(handoff(left, 'task', 'update', 'P0.1', '--status', 'todo')).toMatchObject({
      code: 3,
      json: { error: { code: 'task_claimed', data: { holder: { identity: 'erin' } } } },
    });
    done(left, 'wrap', '--message', 'the end');
    expect(lockRefs(left, 'identity/donna')).toEqual(['00000001', '00000001.released']);
    done(right, 'start', '--as', 'donna');
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 3 }); // erin has no such session
  });

  it('can be claimed anew by whoever lost it so', async () => {
    const { place, left, right } = await pair();
    const { session_id } = done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    await takeInTheNameOf(place, right, session_id, 'task/P0.1/00000002');
    expect(done(left, 'claim', 'P0.1')).toMatchObject({ token: 3 });
    done(left, 'unclaim', 'P0.1');
    expect(lockRefs(left, 'task/P0.1').at(-1)).toBe('00000003.released');
  });
});

describe('the last number that a lock can have, where the server judges nothing', () => {
  it('is removed by the command that is hinted, and the task can be claimed', async () => {
    const { place, left, right } = unjudged();
    done(left, 'start', '--as', 'donna');
    await takeInTheNameOf(place, right, HOLDER.session_id, 'task/P0.1/99999999');
    const refused = handoff(left, 'claim', 'P0.1', '--force', '--reason', 'nobody is there');
    expect(refused).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    const [command] = commandsIn(refused.json.error.hint);
    git(left.dir, ...command!.split(' ').slice(1));
    expect(done(left, 'claim', 'P0.1')).toMatchObject({ token: 1 });
  });
});

describe('one of two tasks that a colleague has taken over', () => {
  it('keeps nobody from wrapping, and stays the colleague’s', async () => {
    const { left, right } = await pair();
    done(left, 'start', '--as', 'donna');
    for (const id of ['P0.1', 'P0.2']) done(left, 'claim', id);
    done(right, 'start', '--as', 'erin');
    done(right, 'claim', 'P0.1', '--force', '--reason', 'it is urgent');
    done(left, 'wrap', '--message', 'the end');
    expect(lockRefs(left, 'task/P0.1')).toEqual(['00000001', '00000002']);
    expect(lockRefs(left, 'task/P0.2')).toEqual(['00000001', '00000001.released']);
    done(right, 'unclaim', 'P0.1');
  });
});
