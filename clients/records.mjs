// What is asked of git-handoff in a scenario.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { json, run } from './place.mjs';

/** What every program tells of while it works, in our words. */
export const EVENTS = ['session_start', 'prompt', 'tool', 'stop'];

export function commitAll(place, message) {
  run(place, 'git', 'add', '--all');
  run(place, 'git', 'commit', '--quiet', '--message', message);
}

/** Who stops while something is not accounted for is held, once. */
export function holdStops(place) {
  run(place, 'git-handoff', 'policy', 'set', 'agents.stop', 'block');
}

export function recordsOf(place, kind) {
  return json(place, 'log', '--kind', kind).records;
}

/** An event leaves a stamp when it arrives, and one that could not be answered a line in the log. */
export function assertArrived({ work }, program, events) {
  const folder = join(work, '.git', 'handoff', 'runtimes');
  const missing = events.filter((event) => !existsSync(join(folder, program.name, event)));
  assert.deepEqual(missing, [], `not arrived: ${missing.join(', ')}`);
  const log = join(folder, 'log');
  assert.equal(existsSync(log) ? readFileSync(log, 'utf8') : '', '');
}
