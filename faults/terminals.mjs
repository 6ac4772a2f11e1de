// SIGKILL at every step that `agent run` and `salvage` make on the disk: one session, one agent, nothing lost, nothing twice.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  assertNothingTorn,
  assertUnlocked,
  attempt,
  call,
  check,
  filesBelow,
  git,
  handoff,
  missing,
  newPlace,
  snapshot,
  stateDir,
} from './place.mjs';
import { broken, steps } from './strace.mjs';

const AGENT = ['sh', '-c', 'while sleep 1; do :; done'];
// what comes last is the command's
const RUN = ['--json', 'agent', 'run', '--as', 'donna', '--', ...AGENT];
/** Most steps are those of a start; of a pickup and a wrap: those are killed at each elsewhere. */
const EVERY = { run: 3, salvage: 8 };

export async function runKilled() {
  const lacking = missing('strace', 'tmux');
  if (lacking.length > 0) return `skipped: ${lacking.join(', ')} not installed`;
  const place = newPlace();
  const server = tmuxIn(place);
  try {
    const restore = snapshot(place);
    const all = (await steps(server.place, RUN)).filter((_, at) => at % EVERY.run === 0);
    let hits = 0;
    for (const step of all) {
      server.end();
      restore();
      const { hit } = await broken(server.place, RUN, step, 'signal=SIGKILL');
      if (hit) hits++;
      await survive(server).catch((error) => {
        throw new Error(`agent run killed at ${JSON.stringify(step)}: ${error.message}`, { cause: error });
      });
    }
    check(hits > all.length * 0.8, 'Too few were hit', { hits, of: all.length });
    return `killed at ${hits} of ${all.length} steps; the same command then had one agent in one session, every time`;
  } finally {
    server.end();
  }
}

async function survive(server) {
  const { place } = server;
  assertNothingTorn(place);
  const again = await attempt(place, RUN);
  // whoever was killed at the very end has started it
  const runs = again.code === 0 || again.json?.error?.code === 'identity_conflict';
  check(runs, 'The same command does not go on', again);
  await until(
    () => server.panes().length === 1,
    () => `There are other panes: ${server.panes().join(', ')}`,
  );
  const { agents, warnings } = handoff(place, 'agent', 'list');
  check(agents.length === 1 && agents[0].state === 'running' && warnings.length === 0, 'Not one agent runs', {
    agents,
    warnings,
  });
  check(server.panes()[0].split(' ')[0] === agents[0].terminal.pane, 'It runs in another pane', agents);
  const { sessions } = await call(place, (verbs) => verbs.sessions());
  check(sessions.filter(({ state }) => state === 'active').length === 1, 'There is more than one session', sessions);
  const left = readdirSync(join(stateDir(place), 'agents')).filter((name) => name.endsWith('.launch'));
  check(left.length === 0, 'What was to be started is left behind', left);
}

const SALVAGE = ['salvage', 'SESSION', '--as', 'rick', '--force'];

export async function salvageKilled() {
  if (missing('strace').length > 0) return 'skipped: strace is not installed';
  const place = newPlace();
  const { session_id, start_delta_id } = handoff(place, 'start', '--as', 'donna');
  const noted = handoff(place, 'note', 'half done').delta_id;
  writeFileSync(join(place.dir, 'new.txt'), 'new\n');
  const args = SALVAGE.map((word) => (word === 'SESSION' ? session_id : word));
  const restore = snapshot(place);
  const all = (await steps(place, args)).filter((_, at) => at % EVERY.salvage === 0);
  let hits = 0;
  for (const step of all) {
    restore();
    rmSync(join(place.dir, '.git/index.lock'), { force: true });
    const { hit } = await broken(place, args, step, 'signal=SIGKILL');
    if (hit) hits++;
    await salvaged(place, args, [start_delta_id, noted]).catch((error) => {
      throw new Error(`salvage killed at ${JSON.stringify(step)}: ${error.message}`, { cause: error });
    });
  }
  check(hits > all.length * 0.8, 'Too few were hit', { hits, of: all.length });
  return `killed at ${hits} of ${all.length} steps; one baton waits and the files are saved, every time`;
}

/** Once more, unless it was through: then exactly one baton waits, and has the files. */
async function salvaged(place, args, ids) {
  assertNothingTorn(place);
  const again = await attempt(place, args);
  const isDone = ['session_released', 'session_ended'].includes(again.json?.error?.code);
  check(again.code === 0 || isDone, 'The same command does not go on', again);
  const { batons } = await call(place, (verbs) => verbs.batons());
  check(batons.length === 1 && batons[0].identity === 'rick', 'Not one baton waits', batons);
  const ref = `refs/handoff/saved/${batons[0].session_id.slice(0, 8)}`;
  check(git(place, 'show', `${ref}:new.txt`) === 'new', 'The file is not saved', ref);
  assertUnlocked(place);
  const { findings } = handoff(place, 'verify');
  check(findings.length === 0, 'Not all that was written holds', findings);
  // whatever was only in the journal is put back by the next verb that writes
  const next = handoff(place, 'pickup', '--as', 'donna');
  check(
    next.baton.reconstructed && next.baton.body.includes('half done'),
    'It is not the baton of a salvage',
    next.baton,
  );
  const inTree = new Set(handoff(place, 'log').records.map(({ id }) => id));
  check(
    [...ids, next.baton.delta_id].every((id) => inTree.has(id)),
    'Records are lost',
    [...inTree],
  );
  const written = filesBelow(join(place.dir, '.handoff/sessions')).length;
  check(written === ids.length + 3, 'Records are not in the work tree', written);
}

/** A server of this scenario alone, whose socket is beside the place. */
function tmuxIn(place) {
  const socket = join(place.base, 'tmux.socket');
  const env = { ...place.env, HANDOFF_TMUX_SOCKET: socket, SHELL: '/bin/sh' };
  const ask = (...args) => spawnSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' }).stdout;
  const panes = () => ask('list-panes', '-a', '-F', '#{pane_id} #{pane_pid}').split('\n').filter(Boolean);
  return { place: { ...place, env }, panes, end: () => ask('kill-server') };
}

async function until(isSo, otherwise) {
  for (let tries = 0; tries < 250; tries++) {
    if (isSo()) return;
    await sleep(20);
  }
  throw new Error(otherwise());
}
