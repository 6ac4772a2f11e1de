// Breaks what can break around git-handoff, on purpose, and looks at what is left.
//   node faults/run.mjs [part of a scenario's name]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { movedClock } from './clock.mjs';
import { commitsAgainstGit } from './commits.mjs';
import { failingSteps, fullDisk, WRITES } from './disk.mjs';
import { gitKilled, killed, VERBS } from './kill.mjs';
import { appendInterrupted, appendKilled, appendKilledAndCommitted, appendRefused } from './ledger.mjs';
import { notesAgainstPickup, parallelNotes } from './notes.mjs';
import { pausedAtSteps, pausedWhileSigning } from './pause.mjs';
import { pickupRace, staleRace, startRace } from './races.mjs';
import { remoteRace, remoteVerbs } from './remote.mjs';
import { sealRace, sealsAgainstNotes } from './seals.mjs';
import { runKilled, salvageKilled } from './terminals.mjs';

const SCENARIOS = {
  'start-race': startRace,
  'stale-race': staleRace,
  'pickup-race': pickupRace,
  'parallel-notes': parallelNotes,
  'notes-against-pickup': notesAgainstPickup,
  'seal-race': sealRace,
  'seals-against-notes': sealsAgainstNotes,
  'commits-against-git': commitsAgainstGit,
  'append-killed': appendKilled,
  'append-killed-committed': appendKilledAndCommitted,
  'append-interrupted': appendInterrupted,
  'append-refused': appendRefused,
  'paused-signing': pausedWhileSigning,
  'paused-steps': pausedAtSteps,
  'moved-clock': movedClock,
  'full-disk': fullDisk,
  'remote-verbs': remoteVerbs,
  'remote-race': remoteRace,
  'agent-run-killed': runKilled,
  'salvage-killed': salvageKilled,
  ...Object.fromEntries(Object.keys(WRITES).map((name) => [`failing-${name}`, () => failingSteps(name)])),
  ...Object.fromEntries(Object.keys(VERBS).map((name) => [`kill-${name}`, () => killed(name)])),
  ...Object.fromEntries(startingGit().map((name) => [`kill-git-${name}`, () => gitKilled(name)])),
};

/** A note starts none. */
function startingGit() {
  return Object.keys(VERBS).filter((name) => name !== 'note');
}

const [wanted = '', only] = process.argv.slice(2);
if (only) await perform(wanted);
else await performAll(Object.keys(SCENARIOS).filter((name) => name.includes(wanted)));

async function perform(name) {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(0)} s`;
  try {
    console.log(`${name}: ${await SCENARIOS[name]()} (${seconds()})`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`${name}: FAILED after ${seconds()}\n${error.stack}`);
  }
}

/** Each in a process of its own, as many at once as there are processors. */
async function performAll(names) {
  const start = performance.now();
  const waiting = [...names];
  const failed = [];
  const work = async () => {
    for (let name = waiting.shift(); name; name = waiting.shift()) {
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), name, 'only'], { stdio: 'inherit' });
      const [code] = await once(child, 'close');
      if (code !== 0) failed.push(name);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `faults: ${names.length} scenarios in ${seconds} s, ${failed.length} failed ${failed.join(', ')}`.trimEnd(),
  );
  if (failed.length > 0) process.exitCode = 1;
}
