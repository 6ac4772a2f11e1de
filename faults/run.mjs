// Breaks what can break around git-handoff, on purpose, and looks at what is left.
//   node faults/run.mjs [part of a scenario's name …]
import { gitKilled, killed, VERBS } from './kill.mjs';
import { notesAgainstPickup, parallelNotes } from './notes.mjs';
import { staleRace, startRace } from './races.mjs';

const SCENARIOS = {
  'start-race': startRace,
  'stale-race': staleRace,
  'parallel-notes': parallelNotes,
  'notes-against-pickup': notesAgainstPickup,
  ...Object.fromEntries(Object.keys(VERBS).map((name) => [`kill-${name}`, () => killed(name)])),
  ...Object.fromEntries(Object.keys(VERBS).map((name) => [`kill-git-${name}`, () => gitKilled(name)])),
};

const wanted = process.argv.slice(2);
const chosen = Object.entries(SCENARIOS).filter(([name]) => wanted.every((part) => name.includes(part)));
const began = performance.now();
for (const [name, scenario] of chosen) {
  const start = performance.now();
  const seconds = () => `${((performance.now() - start) / 1000).toFixed(0)} s`;
  try {
    console.log(`${name}: ${await scenario()} (${seconds()})`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name}: FAILED after ${seconds()}\n${error.stack}`);
  }
}
console.log(`faults: ${chosen.length} scenarios in ${((performance.now() - began) / 1000).toFixed(0)} s`);
