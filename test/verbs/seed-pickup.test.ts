import { describe, expect, it } from 'vitest';
import { template } from '../threats/forge.ts';
import { open, recordsOf, workAndWrap, worktree } from './agents.ts';

const BATON = '# Current work\n\nThe reader is strict;\tthe writer is *next*. 🏁\n\n```sh\nnpm test\n```\n  last words';

const fresh = template();

describe('SPEC-040 §5.1 the baton is what was wrapped', () => {
  it('donna wraps, erin picks up, and baton.body is the payload exactly', async () => {
    const { handoff } = fresh();
    const { session_id } = await handoff.start({ as: 'donna' });
    const { baton } = await handoff.wrap({ as: 'donna', draft: Buffer.from(BATON) });
    const result = await handoff.pickup({ as: 'erin' });
    expect(result.baton).toEqual({
      delta_id: baton.delta_id,
      kind: 'wrap',
      agent_identity: 'donna',
      session_id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      body: BATON,
      summary: 'The reader is strict;\tthe writer is *next*. 🏁',
      next_agent: null,
      focus: [],
      branch: 'main',
      head: expect.stringMatching(/^[0-9a-f]{40}$/),
      saved: null,
    });
    expect(result).toMatchObject({ predecessor_session_id: session_id, warnings: [] });
  });
});

describe('SPEC-040 §5.2 no wrap anywhere', () => {
  it('a project that nobody worked on gives no baton and says so', async () => {
    const result = await fresh().handoff.pickup({ as: 'erin' });
    expect(result).toMatchObject({ baton: null, predecessor_session_id: null, inherited_from: null });
    expect(result.warnings).toEqual([{ kind: 'no_baton', message: expect.stringMatching(/baton/) }]);
  });
});

describe('SPEC-040 §5.3 the identity is active', () => {
  it('the same identity that claims pickup from another work tree gets identity_conflict', async () => {
    const place = fresh();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    await expect(elsewhere.handoff.pickup({ as: 'donna' })).rejects.toMatchObject({
      code: 'identity_conflict',
      exitCode: 3,
      data: { identity: 'donna', session_id },
    });
    await expect(place.handoff.pickup({ as: 'donna' })).rejects.toMatchObject({ code: 'identity_conflict' });
    expect((await place.handoff.sessions()).sessions).toMatchObject([{ session_id, state: 'active' }]);
  });
});

describe('SPEC-040 §5.4 the predecessor session is active', () => {
  it('another identity gets predecessor_active and nothing changes', async () => {
    const { handoff } = fresh();
    const { session_id } = await handoff.start({ as: 'donna' });
    await expect(handoff.pickup({ as: 'erin' })).rejects.toMatchObject({
      code: 'predecessor_active',
      exitCode: 3,
      data: { session_id, identity: 'donna' },
    });
    await handoff.note({ as: 'donna', text: 'still here' });
    expect((await handoff.sessions()).sessions).toHaveLength(1);
  });

  it('is so for the session that is named, too', async () => {
    const { handoff } = fresh();
    await workAndWrap(handoff, 'donna');
    const { session_id } = await handoff.start({ as: 'donna' });
    await expect(handoff.pickup({ as: 'erin', fromSession: session_id })).rejects.toMatchObject({
      code: 'predecessor_active',
    });
  });
});

describe('SPEC-040 §5.5 force', () => {
  it('another donna is released with reason preempted_by_pickup, and the pickup records it', async () => {
    const place = fresh();
    const first = await place.handoff.start({ as: 'donna' });
    const elsewhere = worktree(place, 'side');
    const second = await elsewhere.handoff.pickup({ as: 'donna', force: true });
    const released = [{ session_id: first.session_id, identity: 'donna', reason: 'preempted_by_pickup' }];
    expect(recordsOf(elsewhere, second.session_id)[0]!.fields).toMatchObject({ kind: 'pickup', released });
    await expect(place.handoff.note({ as: 'donna', text: 'am I alone?' })).rejects.toMatchObject({
      code: 'session_released',
      exitCode: 3,
      data: { reason: 'preempted_by_pickup', released_by: second.session_id },
    });
    expect((await place.handoff.sessions()).sessions).toMatchObject([
      { session_id: second.session_id, state: 'active' },
      { session_id: first.session_id, state: 'released' },
    ]);
  });
});

describe('SPEC-040 §5.6 a different identity picks up', () => {
  it('sets predecessor and inheritance in answer, controller and record', async () => {
    const place = fresh();
    const predecessor = await workAndWrap(place.handoff, 'donna');
    const result = await place.handoff.pickup({ as: 'erin' });
    expect(result).toMatchObject({
      predecessor_session_id: predecessor,
      inherited_from: predecessor,
      controller_status: {
        identity: 'erin',
        session_id: result.session_id,
        picked_up_session_id: predecessor,
        inherited_from: predecessor,
      },
    });
    expect(recordsOf(place, result.session_id)).toMatchObject([
      { id: result.pickup_delta_id, fields: { predecessor_session_id: predecessor, inherited_from: predecessor } },
    ]);
  });
});

describe('SPEC-040 §5.7 pickup writes a pickup record', () => {
  it('names predecessor, baton, picker and time; last_wrapped stays where it was', async () => {
    const place = fresh();
    const predecessor = await workAndWrap(place.handoff, 'donna', 'the only wrap');
    const { baton, ...picked } = await place.handoff.pickup({ as: 'erin' });
    expect(recordsOf(place, picked.session_id)).toMatchObject([
      {
        name: '0001-pickup.yaml',
        id: picked.pickup_delta_id,
        fields: {
          kind: 'pickup',
          identity: 'erin',
          predecessor_session_id: predecessor,
          baton: baton!.delta_id,
          at: expect.any(String),
        },
      },
    ]);
    const { last_wrapped } = await open(place).handoff.start({ as: 'bot' });
    expect(last_wrapped).toMatchObject({ delta_id: baton!.delta_id, session_id: predecessor, identity: 'donna' });
  });
});

describe('SPEC-040 §5.8 accounts are inherited', () => {
  it('every record of the picker references the session it inherited from', async () => {
    const place = fresh();
    const predecessor = await workAndWrap(place.handoff, 'donna');
    const { session_id } = await place.handoff.pickup({ as: 'erin' });
    await place.handoff.note({ as: 'erin', text: 'going on' });
    await place.handoff.checkpoint({ as: 'erin' });
    await place.handoff.wrap({ as: 'erin', message: 'done' });
    const records = recordsOf(place, session_id);
    expect(records.map(({ name }) => name)).toEqual([
      '0001-pickup.yaml',
      '0002-note.yaml',
      '0003-checkpoint.yaml',
      '0004-baton.md',
    ]);
    for (const { fields } of records) expect(fields.inherited_from).toBe(predecessor);
    expect(await place.handoff.verify()).toMatchObject({ valid: true, findings: [] });
  });
});
