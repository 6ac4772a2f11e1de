// Part of dist/cli.cjs. Loads the program beside it from the code that V8 kept of it when it was built: for a short verb,
// compiling is a fifth of the time. Another V8 refuses what was kept, and compiles.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

/** V8 reads all that was kept before it runs any of it: so only verbs that run the same code share it. */
const SHARED = {
  record: ['note', 'checkpoint', 'decide', 'wip', 'signal'],
  session: ['start', 'status', 'sessions', 'batons', 'decisions', 'heartbeat'],
  wrap: ['wrap'],
  handoff: ['pickup', 'hd-exec', 'restore', 'seal'],
  task: ['task', 'next', 'claim', 'unclaim'],
  writeback: ['thought', 'done'],
  gate: ['gate', 'hooks'],
  verify: ['verify', 'audit'],
  read: ['log', 'show'],
  ledger: ['ledger'],
  event: ['agent-event'],
  proof: ['prove', 'check-proof', 'root'],
};

const NAMES = Object.keys(SHARED);

/** By the first word that is in one. Where it is no verb, as after -C, that costs some milliseconds and nothing else. */
exports.keptFor = (words) => {
  const verb = words.find((word) => NAMES.some((name) => SHARED[name].includes(word)));
  return `program.${NAMES.find((name) => SHARED[name].includes(verb)) ?? 'rest'}.v8`;
};

/** The program is a function, as Node makes one of a module. The build loads it under several names. */
exports.load = (dist, kept, require, filename = join(dist, 'program.cjs')) => {
  const cachedData = readIfPossible(join(dist, kept));
  const script = new Script(readFileSync(join(dist, 'program.cjs'), 'latin1'), { filename, cachedData });
  const program = { exports: {} };
  script.runInThisContext().call(program.exports, program.exports, require, program, filename, dist);
  return { script, ...program.exports };
};

/** Without it the program is the same. */
function readIfPossible(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === undefined) throw error;
    return undefined;
  }
}
