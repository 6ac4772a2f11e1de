import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf } from './agents.ts';
import { type Answer, commandsIn, done, handoff, type Machine, machine, machines, typeHint } from './machines.ts';

// Threats 73 and 77: after a takeover, and after a machine is gone, everybody has a way on, and what a hint says works.

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'P0.1', title: 'Readers' });
  await handoff.task.add({ id: 'P0.2', title: 'Writers' });
});

function pair(): { place: Place; left: Machine; right: Machine } {
  const place = fresh();
  const [left, right] = machines(place, 'left', 'right');
  return { place, left: left!, right: right! };
}

function send(from: Machine, to: Machine): void {
  git(from.dir, 'push', '--quiet', 'origin', 'HEAD:main');
  git(to.dir, 'pull', '--quiet', '--no-rebase', 'origin', 'main');
}

const records = (place: Place, { dir }: Machine, id: string) => recordsOf(open(place, { dir }), id);
const refusedWith = (answer: Answer, code: string) => expect(answer.json.error).toMatchObject({ code });

describe('after an honest takeover', () => {
  /** Erin continues, on another machine, what donna is at. */
  function takenOver() {
    const { place, left, right } = pair();
    const first = done(left, 'start', '--as', 'donna', '--commit');
    send(left, right);
    const heir = done(right, 'pickup', '--as', 'erin', '--force', '--reason', 'donna is asleep');
    return { place, left, right, first, heir };
  }

  it('the old holder is told once, and start opens a new session and says why', () => {
    const { left, first, heir } = takenOver();
    const told = handoff(left, 'note', 'anybody there?');
    refusedWith(told, 'session_released');
    expect(told.json.error.data).toMatchObject({ reason: 'preempted_by_pickup', released_by: heir.session_id });
    const next = typeHint(left, told, 'git handoff start');
    expect(next).toMatchObject({ code: 0, json: { resumed: false } });
    expect(next.json.session_id).not.toBe(first.session_id);
    expect(next.json.warnings).toEqual([
      { kind: 'session_released', message: expect.stringContaining('erin: preempted_by_pickup') },
    ]);
    done(left, 'note', 'on we go');
    expect(done(left, 'start', '--as', 'donna')).toMatchObject({ resumed: true, session_id: next.json.session_id });
  });

  it('start comes first: it finds out by itself', () => {
    const { left, first } = takenOver();
    const next = done(left, 'start', '--as', 'donna');
    expect(next).toMatchObject({ resumed: false, warnings: [{ kind: 'session_released' }] });
    expect(next.session_id).not.toBe(first.session_id);
    done(left, 'note', 'on we go');
  });

  it('pickup comes first: it continues what there is', () => {
    const { left, right, heir } = takenOver();
    done(right, 'wrap', '--message', 'back to you');
    send(right, left);
    const next = done(left, 'pickup', '--as', 'donna');
    expect(next).toMatchObject({ predecessor_session_id: heir.session_id, baton: { body: 'back to you' } });
  });

  it('the end is in its journal: offline, and in every other verb, it says the same', () => {
    const { left } = takenOver();
    refusedWith(handoff(left, 'note', 'one'), 'session_released');
    git(left.dir, 'remote', 'set-url', 'origin', '/nonexistent');
    refusedWith(handoff(left, 'note', 'two'), 'session_released');
    refusedWith(handoff(left, 'wrap', '--message', 'three'), 'session_released');
    expect(done(left, 'sessions').sessions).toMatchObject([{ state: 'released' }]);
  });

  it('by the same identity: the hint of the conflict works, and after a wrap so does start', () => {
    const { left, right } = pair();
    done(left, 'start', '--as', 'donna', '--commit');
    send(left, right);
    const refused = handoff(right, 'start', '--as', 'donna');
    refusedWith(refused, 'identity_conflict');
    expect(typeHint(right, refused, 'git handoff pickup')).toMatchObject({ code: 0 });
    refusedWith(handoff(left, 'note', 'mine?'), 'session_released');
    const again = handoff(left, 'start', '--as', 'donna');
    refusedWith(again, 'identity_conflict');
    done(right, 'wrap', '--message', 'yours');
    expect(done(left, 'start', '--as', 'donna')).toMatchObject({ resumed: false });
  });

  it('that was taken over once more: the first holder starts anew, and is told of nothing twice', () => {
    const { left, right, first } = takenOver();
    send(right, left);
    const second = done(left, 'pickup', '--as', 'maintainer', '--force', '--reason', 'erin is asleep too');
    refusedWith(handoff(right, 'note', 'x', '--as', 'erin'), 'session_released');
    const next = done(left, 'start', '--as', 'donna');
    expect(next).toMatchObject({ resumed: false, warnings: [{ kind: 'session_released' }] });
    expect([first.session_id, second.session_id]).not.toContain(next.session_id);
    expect(done(left, 'start', '--as', 'donna')).toMatchObject({ resumed: true, session_id: next.session_id });
    expect(done(right, 'start', '--as', 'erin')).toMatchObject({ resumed: false });
  });

  it('that was a release by a colleague: start opens a new session, and resumes that', () => {
    const { left, right } = pair();
    const { session_id } = done(left, 'start', '--as', 'donna', '--commit');
    done(right, 'release', session_id, '--reason', 'it hangs', '--as', 'erin');
    const next = done(left, 'start', '--as', 'donna');
    expect(next).toMatchObject({ resumed: false, warnings: [{ kind: 'session_released' }] });
    done(left, 'note', 'on we go');
    expect(done(left, 'start', '--as', 'donna')).toMatchObject({ resumed: true, session_id: next.session_id });
  });

  it('of the bot, who has no lock of its identity', () => {
    const { left, right } = pair();
    const bot = { ...left, env: { ...left.env } };
    done(bot, 'start', '--as', 'bot', '--commit');
    send(left, right);
    done(right, 'pickup', '--as', 'erin', '--force', '--reason', 'it hangs');
    refusedWith(handoff(bot, 'note', 'x', '--as', 'bot'), 'session_released');
    expect(done(bot, 'start', '--as', 'bot')).toMatchObject({ resumed: false });
  });
});

describe('a machine that is gone', () => {
  /** Donna claimed a task; nothing but her locks ever left her machine, and that is no more. */
  function gone(): { place: Place; right: Machine; session_id: string } {
    const { place, left, right } = pair();
    const { session_id } = done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    rmSync(left.dir, { recursive: true });
    return { place, right, session_id };
  }

  it('its identity is taken over by the command that is hinted', () => {
    const { place, right, session_id } = gone();
    const refused = handoff(right, 'start', '--as', 'donna');
    refusedWith(refused, 'identity_conflict');
    const taken = typeHint(right, refused, 'git handoff pickup');
    expect(taken).toMatchObject({ code: 0, json: { predecessor_session_id: session_id, baton: null } });
    expect(records(place, right, taken.json.session_id)[0]!.fields).toMatchObject({
      predecessor_session_id: session_id,
      released: [{ session_id, identity: 'donna', reason: 'preempted_by_pickup' }],
      reason: 'TEXT',
    });
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
    done(right, 'wrap', '--message', 'all is well');
    expect(done(right, 'verify')).toMatchObject({ valid: true });
  });

  it('a colleague releases its session, on the record: its identity and its task are free', () => {
    const { place, right, session_id } = gone();
    const mine = done(right, 'start', '--as', 'erin');
    expect(done(right, 'release', session_id.slice(0, 8), '--reason', 'the machine is gone')).toEqual({
      session_id,
      state: 'released',
      identity: 'erin',
      released_identity: 'donna',
    });
    expect(records(place, right, mine.session_id).at(-1)!.fields).toMatchObject({
      kind: 'release',
      released_session_id: session_id,
      released_identity: 'donna',
      reason: 'the machine is gone',
    });
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
    done(right, 'start', '--as', 'donna');
    expect(done(right, 'release', session_id, '--reason', 'again')).toMatchObject({ state: 'released' });
  });

  it('a person without a session releases it', () => {
    const { right, session_id } = gone();
    done(right, 'release', session_id, '--reason', 'the machine is gone', '--as', 'maintainer');
    done(right, 'start', '--as', 'donna');
  });

  it('its task is taken by the command that is hinted, and the reason is on record', () => {
    const { place, right } = gone();
    const mine = done(right, 'start', '--as', 'erin');
    const refused = handoff(right, 'claim', 'P0.1');
    refusedWith(refused, 'task_claimed');
    expect(commandsIn(refused.json.error.hint)).toEqual([
      'git handoff claim P0.1 --force --reason TEXT',
      'git handoff claim P0.2',
    ]);
    expect(typeHint(right, refused, 'git handoff claim P0.1')).toMatchObject({ code: 0, json: { token: 2 } });
    expect(records(place, right, mine.session_id).at(-1)!.fields).toMatchObject({
      task_id: 'P0.1',
      status: 'in_progress',
      reason: 'TEXT',
      lock: { task: 'P0.1', token: 2 },
    });
    expect(typeHint(right, refused, 'git handoff claim P0.2')).toMatchObject({ code: 0 });
  });

  it('a claim by force says why, or is none', () => {
    const { right } = gone();
    done(right, 'start', '--as', 'erin');
    const refused = handoff(right, 'claim', 'P0.1', '--force');
    refusedWith(refused, 'usage');
    expect(typeHint(right, refused, 'git handoff claim')).toMatchObject({ code: 0 });
  });

  it('whoever is alive after all is told, and loses nothing', () => {
    const { left, right } = pair();
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    done(right, 'start', '--as', 'erin');
    done(right, 'claim', 'P0.1', '--force', '--reason', 'it is urgent');
    const told = handoff(left, 'task', 'update', 'P0.1', '--status', 'blocked', '--notes', 'waiting');
    refusedWith(told, 'task_claimed');
    done(left, 'note', 'I have noticed');
  });

  it('a predecessor that is active elsewhere is taken over by the command that is hinted', () => {
    const { left, right } = pair();
    done(left, 'start', '--as', 'donna', '--commit');
    send(left, right);
    const refused = handoff(right, 'pickup', '--as', 'erin');
    refusedWith(refused, 'predecessor_active');
    expect(typeHint(right, refused, 'git handoff pickup')).toMatchObject({ code: 0 });
  });

  it('with its state directory: the same clone, made anew, goes on', () => {
    const { place, left } = pair();
    done(left, 'start', '--as', 'donna');
    rmSync(join(left.dir, '.git/handoff'), { recursive: true });
    const refused = handoff(left, 'start', '--as', 'donna');
    refusedWith(refused, 'identity_conflict');
    expect(typeHint(left, refused, 'git handoff pickup')).toMatchObject({ code: 0 });
    const other = machine(place, left.bare, 'other');
    const moved = { ...other, env: { ...other.env, HANDOFF_STATE: join(place.dir, '..', 'state') } };
    expect(typeHint(moved, handoff(moved, 'start', '--as', 'donna'), 'git handoff pickup')).toMatchObject({ code: 0 });
  });

  it('a session that nobody has heard of is still unknown, and a prefix that could be a pattern names nothing', () => {
    const { right } = gone();
    for (const id of ['ffffffff', '*', '../x', '$(x)', '']) {
      for (const args of [
        ['release', id],
        ['pickup', '--as', 'erin', '--force', '--from-session', id],
      ])
        refusedWith(handoff(right, ...args, '--reason', 'x'), 'unknown_session');
    }
  });

  it('whose wrap is known holds nothing, whatever its locks say', () => {
    const { left, right } = pair();
    done(left, 'start', '--as', 'donna');
    done(left, 'claim', 'P0.1');
    done(left, 'wrap', '--message', 'the end', '--local');
    send(left, right);
    done(right, 'start', '--as', 'donna');
    expect(done(right, 'claim', 'P0.1')).toMatchObject({ token: 2 });
  });
});
