import type { KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { toSigner } from '../../src/journal/keys/keys.ts';
import { formatLockCommit, lockBytes } from '../../src/journal/locks/lock-commit.ts';
import { type Place, privateKey } from '../handoff.ts';
import { HOLDER } from '../journal/forged-holders.ts';
import { git, gitInput } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { done, handoff, lockRefs, type Machine, machines } from './machines.ts';

// Threat 60: whose signature makes a lock is what the protected branch says by now, whichever branch is checked out.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));

/** Right is on a branch that left the protected one before `change`, and has fetched since. `key` is donna's from before it. */
function pair(
  change: (left: Machine) => void,
  isFetched = true,
): { place: Place; left: Machine; right: Machine; key: KeyObject } {
  const place = fresh();
  const key = privateKey(place, 'donna');
  const [left, right] = machines(place, 'left', 'right') as [Machine, Machine];
  git(right.dir, 'switch', '--quiet', '-c', 'older');
  change(left);
  git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
  if (isFetched) git(right.dir, 'fetch', '--quiet');
  return { place, left, right, key };
}

function rotate(machine: Machine): void {
  done(machine, 'identity', 'rotate', 'donna', '--as', 'maintainer');
}

function revokeOld(machine: Machine): void {
  rotate(machine);
  const { identities } = done(machine, 'identity', 'list');
  const { keys } = identities.find((each: { identity: string }) => each.identity === 'donna');
  const { fingerprint } = keys.find((each: { state: string }) => each.state === 'retired');
  done(machine, 'identity', 'revoke', 'donna', '--key', fingerprint, '--as', 'maintainer');
}

/** A lock in the name of donna, signed with a key of hers. */
async function lockBy(place: Place, { bare }: Machine, key: KeyObject, name: string) {
  const ref = `refs/handoff/locks/${name}/00000001`;
  const lock = { repo: place.root, ref, nonce: 'n', holder: { ...HOLDER, identity: 'donna' } };
  const signature = await toSigner(key).sign({ kind: 'lock', signedBytes: lockBytes(lock) });
  const bytes = formatLockCommit('sha1', lock, signature);
  git(bare, 'update-ref', ref, gitInput(bare, bytes, 'hash-object', '-t', 'commit', '-w', '--stdin'));
}

describe('on a branch from before a key was', () => {
  it('rotated, a lock by the new key holds, and nobody writes over it', () => {
    const { left, right } = pair(rotate);
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    const claimed = handoff(right, 'claim', 'P0.1', '--as', 'erin');
    expect(claimed).toMatchObject({ code: 3, json: { error: { code: 'task_claimed' } } });
    expect(lockRefs(left, 'task/P0.1')).toEqual(['00000001']);
    done(left, 'task', 'update', 'P0.1', '--progress', '10');
  });

  it('rotated, a lock by the old key holds still', async () => {
    const { place, left, right, key } = pair(rotate);
    await lockBy(place, left, key, 'task/P0.1');
    expect(handoff(right, 'claim', 'P0.1', '--as', 'erin')).toMatchObject({ code: 3 });
  });

  it('rotated, and nothing was fetched: a server that keeps the lock has the error say so, and after a fetch it holds', () => {
    const { left, right } = pair(rotate, false);
    done({ ...left, dir: left.bare }, 'hooks', 'install', '--server');
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    const refused = handoff(right, 'claim', 'P0.1', '--as', 'erin');
    expect(refused).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    const [fetch] = /git fetch \w+/.exec(refused.json.error.hint)!;
    git(right.dir, ...fetch.split(' ').slice(1), '--quiet');
    const claimed = handoff(right, 'claim', 'P0.1', '--as', 'erin');
    expect(claimed).toMatchObject({ code: 3, json: { error: { code: 'task_claimed' } } });
  });

  it('revoked, a lock by it is noise', async () => {
    const { place, left, right, key } = pair(revokeOld);
    await lockBy(place, left, key, 'task/P0.1');
    done(right, 'claim', 'P0.1', '--as', 'erin');
  });
});
