// Runs a handoff in a throwaway repository, so that V8 compiles what verbs use, and keeps that beside the program.
const { execFileSync } = require('node:child_process');
const { mkdtempSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { dirname, join, resolve } = require('node:path');

process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);
const kept = resolve('dist/program.cjs.v8');
const scratch = mkdtempSync(join(tmpdir(), 'git-handoff-build-'));
const repository = join(scratch, 'repository');
Object.assign(process.env, {
  HANDOFF_KEEP_COMPILED: kept,
  HANDOFF_KEYS: join(scratch, 'keys'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
});
const { main, compiled } = require(resolve('dist/main.cjs'));

const VERBS = [
  ['init'],
  ['identity', 'add', 'ada'],
  ['start', '--as', 'ada', '--intent', 'work'],
  ['note', 'a note'],
  ['decide', '--title', 'a decision', 'because'],
  ['status'],
  ['wrap', '--message', '# Current work\n\nA baton.'],
  ['task', 'add', 'P0.1', '--title', 'a task'],
  ['pickup', '--as', 'ada'],
  ['note', 'another'],
  ['next'],
  ['claim', 'P0.1'],
  ['thought', 'P0.1', 'It is done.', '--commit', 'HEAD'],
  ['task', 'update', 'P0.1', '--status', 'done'],
  ['wrap', '--message', 'done'],
  ['verify'],
  ['gate', '--base', 'HEAD~1', '--head', 'HEAD'],
  ['hooks', 'run', 'pre-commit'],
  ['log'],
  ['audit', 'start', '--as', 'ada', '--intent', 'more work'],
  ['note', 'a third'],
  ['audit', 'verify'],
  ['seal'],
  ['wrap', '--message', 'sealed'],
  ['ledger', 'append'],
  ['prove', firstRecord, '--output', join(scratch, 'proof.yaml')],
  ['check-proof', join(scratch, 'proof.yaml')],
];

/** Of the session that was sealed. */
function firstRecord() {
  const seal = readdirSync(repository, { recursive: true }).find((path) => path.endsWith('-seal.yaml'));
  return join(dirname(seal), '0001-start.yaml');
}

async function run() {
  execFileSync('git', ['init', '--quiet', repository]);
  for (const verb of VERBS) {
    const words = verb.map((word) => (typeof word === 'function' ? word() : word));
    const code = await main(['-C', repository, ...words], process, { version: '0', build: '0' });
    if (code !== 0) throw new Error(`git handoff ${words.join(' ')} ended with ${code}`);
  }
  writeFileSync(kept, compiled());
}

run()
  .finally(() => rmSync(scratch, { recursive: true, force: true }))
  .catch((error) => {
    console.error(error); // the program listens for what nobody caught, and would keep it to itself
    process.exitCode = 1;
  });
