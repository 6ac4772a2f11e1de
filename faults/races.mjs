// Many processes want the same thing at once, and one gets it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt, call, check, git, handoff, newPlace, stateDir, worktree } from './place.mjs';

const CONTENDERS = 50;
const ROUNDS = 100;
const CLI_ROUNDS = 2;
const STALE_ROUNDS = 10;
const HEIRS = 20;
const PICKUP_ROUNDS = 50;
const RACER = fileURLToPath(new URL('racer.mjs', import.meta.url));

/** Each in a work tree of its own; all are let go in the same moment. */
export async function startRace() {
  const place = newPlace();
  const places = contenders(place);
  await withRacers(places, async (race) => {
    for (let round = 1; round <= ROUNDS; round++) {
      const { session_id } = oneWinner(await race('start', { as: 'donna' }), `round ${round}`);
      clear(place, session_id);
    }
  });
  for (let round = 1; round <= CLI_ROUNDS; round++) {
    const runs = await Promise.all(places.map((each) => attempt(each, ['start', '--as', 'donna'])));
    const { session_id } = oneWinner(runs.map(answerOf), `round ${round} with the CLI`);
    clear(place, session_id);
  }
  return `${CONTENDERS} processes start as one identity: one winner in ${ROUNDS} rounds, and in ${CLI_ROUNDS} with the CLI`;
}

/** The holder is in the main work tree, and has shown no sign of life for three hours. */
export async function staleRace() {
  const place = newPlace();
  const places = contenders(place);
  await withRacers(places, async (race) => {
    for (let round = 1; round <= STALE_ROUNDS; round++) {
      const stale = handoff(place, 'start', '--as', 'donna').session_id;
      grow(place, stale, 10_000);
      const { session_id } = oneWinner(await race('start', { as: 'donna' }), `round ${round}`);
      const fenced = await attempt(place, ['note', 'too late', '--session', stale]);
      check(fenced.code === 3 && fenced.json.error.code === 'session_released', 'The stale holder can write', fenced);
      clear(place, session_id);
    }
  });
  return `${CONTENDERS} processes want the lock of a stale session: one winner in ${STALE_ROUNDS} rounds`;
}

/** Whoever wins has the task as well, and wraps: that is the baton of the next round. */
export async function pickupRace() {
  const place = newPlace();
  handoff(place, 'task', 'add', 'T1', '--title', 'First');
  const names = Array.from({ length: HEIRS }, (_, i) => `heir-${i}`);
  await call(place, async ({ identity }) => {
    for (const name of names) await identity.add({ name });
  });
  const places = names.map((name) => branchTree(place, name));
  await call(place, (verbs) => verbs.claim({ id: 'T1', as: 'donna' }));
  let left = (await call(place, (verbs) => verbs.wrap({ message: 'Go on.', as: 'donna' }))).session_id;
  await withRacers(places, async (race) => {
    for (let round = 1; round <= PICKUP_ROUNDS; round++) {
      const answers = await race((i) => ({ verb: 'pickup', options: { as: names[i] } }));
      const at = oneHeir(answers, names, left, round);
      left = answers[at].session_id;
      await call(places[at], (verbs) => verbs.wrap({ message: 'Go on.', as: names[at] }));
    }
  });
  const { findings } = await call(places[0], (verbs) => verbs.verify());
  check(findings.length === 0, 'verify found something', findings);
  return `${HEIRS} work trees pick up one baton: one winner in ${PICKUP_ROUNDS} rounds, who had the task, and the others were told who`;
}

function oneHeir(answers, names, left, round) {
  const winners = answers.filter(({ session_id }) => session_id);
  check(winners.length === 1, `round ${round}: ${winners.length} winners`, answers);
  const at = answers.indexOf(winners[0]);
  const [task] = winners[0].tasks;
  check(task?.task_id === 'T1' && task.token === round + 1, `round ${round}: the task did not come along`, winners[0]);
  const untold = answers.filter(
    ({ code, data }, i) => i !== at && !(code === 'predecessor_active' && data.identity === names[at]),
  );
  check(untold.length === 0, `round ${round}: not all losers were told that ${names[at]} has ${left}`, untold);
  return at;
}

/** A work tree on a branch of its own. */
function branchTree(place, name) {
  const dir = join(place.base, name);
  git(place, 'worktree', 'add', '-q', '-b', name, dir);
  return { ...place, dir };
}

/** Ends the winner's session and forgets it: what a verb costs must not grow from round to round. */
function clear(place, session) {
  handoff(place, 'release', session, '--reason', 'next round');
  rmSync(join(stateDir(place), 'sessions', session), { recursive: true });
}

/** As if its last heartbeat had been so many seconds earlier. */
export function grow(place, session, seconds) {
  const path = join(stateDir(place), 'sessions', session, 'heartbeat');
  const beat = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...beat, uptime: beat.uptime - seconds }));
}

function contenders(place) {
  return Array.from({ length: CONTENDERS }, (_, i) => worktree(place, `tree-${i}`));
}

/** `race` lets all of them go with the same, or each with what a function says for its number. */
export async function withRacers(places, body) {
  const children = places.map(({ dir, env }) => fork(RACER, [dir], { env }));
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    await body(async (verb, options) => {
      const answers = children.map((child) => once(child, 'message'));
      for (const [index, child] of children.entries())
        child.send(typeof verb === 'function' ? verb(index) : { verb, options });
      return (await Promise.all(answers)).map(([answer]) => answer);
    });
  } finally {
    for (const child of children) child.disconnect();
  }
}

function answerOf({ code, json, stderr }) {
  if (code === 0) return json;
  return { code: code === 3 ? json.error.code : `exit ${code} ${stderr}` };
}

function oneWinner(answers, when) {
  const winners = answers.filter(({ session_id }) => session_id);
  const losers = answers.filter(({ code }) => code === 'identity_conflict');
  const wrong = answers.filter((answer) => !winners.includes(answer) && !losers.includes(answer));
  check(
    winners.length === 1 && wrong.length === 0,
    `${when}: ${winners.length} winners, ${losers.length} losers`,
    wrong,
  );
  return winners[0];
}
