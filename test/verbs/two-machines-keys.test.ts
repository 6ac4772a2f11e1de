import { describe, expect, it } from 'vitest';
import { template } from '../threats/forge.ts';
import { lockBy, pair, revokeOld, rotate } from './machine-keys.ts';
import { done, handoff, lockRefs } from './machines.ts';

// Threat 60: whose signature makes a lock is what the protected branch says by now, whichever branch is checked out.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));

describe('on a branch from before a key was', () => {
  it('rotated, a lock by the new key holds, and nobody writes over it', () => {
    const { left, right } = pair(fresh(), rotate);
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    const claimed = handoff(right, 'claim', 'P0.1', '--as', 'erin');
    expect(claimed).toMatchObject({ code: 3, json: { error: { code: 'task_claimed' } } });
    expect(lockRefs(left, 'task/P0.1')).toEqual(['00000001']);
    done(left, 'task', 'update', 'P0.1', '--progress', '10');
  });

  it('rotated, a lock by the old key holds still', async () => {
    const { place, left, right, key } = pair(fresh(), rotate);
    await lockBy(place, left, key, 'task/P0.1');
    expect(handoff(right, 'claim', 'P0.1', '--as', 'erin')).toMatchObject({ code: 3 });
  });

  it('revoked, a lock by it is noise', async () => {
    const { place, left, right, key } = pair(fresh(), revokeOld);
    await lockBy(place, left, key, 'task/P0.1');
    done(right, 'claim', 'P0.1', '--as', 'erin');
  });
});
