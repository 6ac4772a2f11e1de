// Plays the scenarios, in a box that has only loopback.
import { spawnSync } from 'node:child_process';
import { leave, newPlace } from './place.mjs';
import { SCENARIOS } from './table.mjs';
import { newTally } from './tally.mjs';

const SCENARIO_LIMIT_MS = 4 * 60_000;

const [places, part] = process.argv.slice(2);
const installed = JSON.parse(places);
const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const tally = newTally();
for (const scenario of SCENARIOS) {
  if (scenario.title.toLowerCase().includes(part.toLowerCase())) await play(scenario);
}
process.exit(tally.close());

async function play(scenario) {
  tally.open(scenario.title);
  const missing = missingFor(scenario);
  if (missing) return tally.skip('all of it', missing);
  const folders = Object.fromEntries(scenario.programs.map(({ name }) => [name, installed[name].folder]));
  const place = await newPlace(scenario.programs, folders);
  const claims = tally.claims(scenario);
  try {
    await within(scenario.play(place, claims.claim));
  } catch (error) {
    tally.fail('played to its end', error);
  } finally {
    claims.end();
    if (tally.hasFailed()) describe(place);
    leave(place);
  }
}

function missingFor({ programs, needsTerminal }) {
  const without = programs.find(({ name }) => installed[name].missing);
  if (without) return `${without.title} could not be installed: ${installed[without.name].missing}`;
  return needsTerminal && !hasTmux ? 'there is no tmux' : null;
}

async function within(work) {
  let limit;
  const late = new Promise((_, reject) => {
    limit = setTimeout(() => reject(new Error(`longer than ${SCENARIO_LIMIT_MS / 60_000} minutes`)), SCENARIO_LIMIT_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(limit));
}

/** What there is to see, where something failed. */
function describe({ last, terminals, model }) {
  if (last) console.log(`${last.prompt} ended with ${last.status}\n${last.stdout}\n${last.stderr}`.slice(0, 6_000));
  for (const terminal of terminals) console.log(terminal.screen().trimEnd());
  console.log(model.asked.join('\n').slice(-2_000));
  for (const { entries, turn } of model.heard) {
    const newest = entries.at(-1);
    console.log(`${newest?.who}: ${newest?.text.slice(-300)}\n  → ${JSON.stringify(turn).slice(0, 120)}`);
  }
}
