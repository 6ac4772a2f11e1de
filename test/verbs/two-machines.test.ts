import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { open, recordsOf, workAndWrap } from './agents.ts';

const fresh = template();

/** Two clones that take their locks on the remote they share, on hosts of these names. */
function machines(leftHost = 'left', rightHost = 'right'): [Place, Place] {
  const place = fresh();
  const bare = join(place.dir, '..', 'origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  const at = (clone: string, name: string): Place => {
    const dir = join(place.dir, '..', clone);
    git('/', 'clone', '--quiet', bare, dir);
    git(dir, 'config', 'handoff.remote', 'origin');
    return open(place, { dir, host: { ...nodeHost, name, bootId: () => `boot of ${name}` } });
  };
  return [at('a', leftHost), at('b', rightHost)];
}

function send(from: Place, to: Place): void {
  git(from.dir, 'push', '--quiet', 'origin', 'HEAD:main');
  git(to.dir, 'pull', '--quiet', '--no-rebase', 'origin', 'main');
}

describe('across machines that share a remote', () => {
  it.each([
    ['two machines', 'left', 'right'],
    ['two clones on one machine', 'left', 'left'],
  ])('an identity is active in one place: %s', async (_, ...names) => {
    const [left, right] = machines(...names);
    const { session_id } = await left.handoff.start({ as: 'donna' });
    await expect(right.handoff.start({ as: 'donna' })).rejects.toMatchObject({
      code: 'identity_conflict',
      message: expect.stringContaining('left'),
      data: { session_id },
    });
    await left.handoff.wrap({ message: 'done' });
    expect(await open(right).handoff.start({ as: 'donna' })).toMatchObject({ resumed: false });
  });

  it('a session that is at work on the other one is taken over by force only, and then it stops', async () => {
    const [left, right] = machines();
    const { session_id } = await left.handoff.start({ as: 'donna', commit: true });
    send(left, right);
    await expect(right.handoff.pickup({ as: 'erin' })).rejects.toMatchObject({
      code: 'predecessor_active',
      data: { session_id, identity: 'donna' },
    });
    const picked = await right.handoff.pickup({ as: 'erin', force: true });
    expect(recordsOf(right, picked.session_id)[0]!.fields).toMatchObject({
      predecessor_session_id: session_id,
      released: [{ session_id, identity: 'donna', reason: 'preempted_by_pickup' }],
    });
    await expect(left.handoff.note({ as: 'donna', text: 'anybody there?' })).rejects.toMatchObject({
      code: 'session_released',
      data: { reason: 'preempted_by_pickup', released_by: picked.session_id },
    });
  });

  it('a baton that was picked up on the other one cannot be picked up again before one has fetched', async () => {
    const [left, right] = machines();
    const first = await workAndWrap(left.handoff, 'donna', 'for one of you');
    send(left, right);
    const second = await right.handoff.pickup({ as: 'erin' });
    expect(second).toMatchObject({ predecessor_session_id: first, baton: { body: 'for one of you' } });
    await expect(left.handoff.pickup({ as: 'donna' })).rejects.toMatchObject({
      code: 'predecessor_active',
      data: { session_id: second.session_id, identity: 'erin' },
    });
    await right.handoff.wrap({ message: 'back to you' });
    send(right, left);
    const third = await open(left).handoff.pickup({ as: 'donna' });
    expect(third).toMatchObject({ predecessor_session_id: second.session_id, baton: { body: 'back to you' } });
    expect(await findings(left)).toEqual([]);
  });

  it('--local goes on without the remote, and says so', async () => {
    const [left] = machines();
    git(left.dir, 'remote', 'set-url', 'origin', '/nonexistent');
    await expect(left.handoff.start({ as: 'donna' })).rejects.toMatchObject({ exitCode: 4 });
    const { handoff, warnings } = open(left);
    expect(await handoff.start({ as: 'donna', local: true })).toMatchObject({ resumed: false });
    expect(warnings.join()).toContain('Going on without origin');
  });
});
