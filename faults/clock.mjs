// The clock on the wall moves by a year, in either direction, and nobody's verdict changes.
import { spawnSync } from 'node:child_process';
import {
  assertTreeIsClean,
  assertVerified,
  attempt,
  check,
  handoff,
  journal,
  missing,
  newPlace,
  worktree,
} from './place.mjs';
import { grow } from './races.mjs';

// As it is when somebody sets the clock: only the wall moves, the time since the start of the machine does not.
const ENV = { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };

export async function movedClock() {
  if (missing('faketime').length > 0) return 'skipped: faketime is not installed';
  if (!works()) return 'skipped: faketime does not move the clock of node here';
  let verdicts = 0;
  for (const shift of ['+365d', '-365d']) verdicts += await under(shift);
  return `the clock moved by a year in both directions: ${verdicts} verdicts as before, every chain's clock grows`;
}

function works() {
  const { stdout } = spawnSync('faketime', ['-f', '+365d', process.execPath, '-p', 'Date.now()'], {
    env: { ...process.env, ...ENV },
    encoding: 'utf8',
  });
  return Math.abs(Number(stdout) - Date.now() - 365 * 86_400_000) < 60_000;
}

async function under(shift) {
  const place = newPlace();
  const other = worktree(place, 'other');
  const moved = (where, ...args) => attempt(where, args, { through: ['faketime', '-f', shift], env: ENV });
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const ids = [await done(moved(place, 'note', 'in another year'))];

  await refused(moved(other, 'start', '--as', 'donna'), 'identity_conflict');
  await refused(moved(other, 'pickup', '--as', 'rick'), 'predecessor_active');
  check((await stateOf(moved(place, 'sessions'), session_id)) === 'active', 'The active holder is not active');
  ids.push(handoff(place, 'note', 'back again').delta_id);
  ids.push(await done(moved(place, 'note', 'and there once more')));

  grow(place, session_id, 10_000);
  check((await stateOf(moved(place, 'sessions'), session_id)) === 'stale', 'The stale holder is not stale');
  const taken = await moved(place, 'pickup', '--as', 'rick');
  check(taken.code === 0, 'A stale holder cannot be followed', taken);
  await refused(moved(place, 'note', 'too late', '--session', session_id), 'session_released');
  const baton = await moved(place, 'wrap', '--as', 'rick', '--message', 'Done in another year.');
  check(baton.code === 0, 'wrap', baton);
  const next = handoff(place, 'pickup', '--as', 'donna');
  check(next.baton?.delta_id === baton.json.baton.delta_id, 'The baton of another year did not arrive', next);
  handoff(place, 'wrap', '--message', 'Done today.');

  const verified = await moved(place, 'verify');
  check(verified.code === 0, 'verify', verified);
  const clocks = [session_id, taken.json.session_id, next.session_id].flatMap((id) =>
    journal(place, id).flatMap(({ clock }) => clock ?? []),
  );
  check(
    clocks.every((clock, index) => index === 0 || clock > clocks[index - 1]),
    'A clock went back',
    clocks,
  );
  check(clocks.length === 8, 'Records are missing', clocks);
  assertTreeIsClean(place);
  await assertVerified(place, [...ids, taken.json.pickup_delta_id, baton.json.baton.delta_id, next.pickup_delta_id]);
  return 10;
}

async function done(running) {
  const run = await running;
  check(run.code === 0, 'It failed', run);
  return run.json.delta_id;
}

async function refused(running, code) {
  const run = await running;
  check(run.code === 3 && run.json.error.code === code, `Expected ${code}`, run);
}

async function stateOf(running, session) {
  return (await running).json.sessions.find(({ session_id }) => session_id === session).state;
}
