// Runs a handoff in a throwaway repository, so that V8 compiles what verbs use, and keeps that beside the program.
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { tmpdir } = require('node:os');
const { dirname, join, resolve } = require('node:path');
const { keptFor, load } = require('./program-loader.cjs');

process.setMaxListeners(0);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);
const dist = resolve('dist');
const scratch = mkdtempSync(join(tmpdir(), 'git-handoff-build-'));
const repository = join(scratch, 'repository');
// a hook that builds has them set, and so may an agent: they name another repository, or another identity
for (const name of Object.keys(process.env)) if (/^(?:GIT|HANDOFF)_/.test(name)) delete process.env[name];
Object.assign(process.env, {
  HANDOFF_KEYS: join(scratch, 'keys'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
});
const programs = new Map();

/** One for each file to be kept; under another name, or V8 would see that it is the same code. */
function programFor(words) {
  const kept = keptFor(words);
  if (!programs.has(kept)) programs.set(kept, load(dist, kept, createRequire(join(dist, 'cli.cjs')), join(dist, kept)));
  return programs.get(kept);
}

/** What agents, hooks, CI and reviewers run; what V8 has not compiled by then costs them some milliseconds each time. */
const STEPS = [
  ['init'],
  ['identity', 'add', 'ada'],
  ['start', '--as', 'ada', '--intent', 'work'],
  ['note', 'a note'],
  ['checkpoint', 'half way'],
  ['decide', '--title', 'a decision', 'because'],
  ['signal', 'send', 'ada', 'a message'],
  ['wip', 'open', 'a-question', 'which of the two'],
  ['heartbeat'],
  ['status'],
  ['agent-event', 'claude', 'SessionStart'],
  ['wrap', '--message', '# Current work\n\nA baton.'],
  ['agent-event', 'claude', 'SessionStart', '--as', 'ada'],
  ['task', 'add', 'P0.1', '--title', 'a task'],
  () => git('switch', '--quiet', '--create', 'branch'),
  ['pickup', '--as', 'ada'],
  ['note', 'another'],
  ['next'],
  ['claim', 'P0.1'],
  ['hooks', 'run', 'pre-commit'],
  commitCode,
  ['agent-event', 'claude', 'Stop'],
  ['agent-event', 'claude', 'UserPromptSubmit'],
  ['agent-event', 'claude', 'PreCompact'],
  ['thought', 'P0.1', 'It is done.', '--commit', 'HEAD'],
  ['task', 'update', 'P0.1', '--status', 'done'],
  ['status'],
  ['wrap', '--message', 'done'],
  ['task', 'add', 'P0.2', '--title', 'another task'],
  ['claim', 'P0.2', '--as', 'ada'],
  commitCode,
  ['done', 'P0.2', 'It is done as well.'],
  () => writeFileSync(join(repository, 'code'), 'not committed\n'),
  ['wrap', '--message', '# Current work\n\nSomething is not committed.'],
  () => git('checkout', '--quiet', '--', 'code'),
  ['batons'],
  ['pickup', '--as', 'ada'],
  ['restore'],
  () => git('checkout', '--quiet', '--', 'code'),
  ['wrap', '--message', 'done'],
  ['decisions'],
  ['gate', '--base', 'main', '--head', 'HEAD'],
  () => git('switch', '--quiet', 'main'),
  () => git('merge', '--quiet', '--no-ff', '--no-edit', 'branch'),
  ['gate', '--base', 'HEAD^1', '--head', 'HEAD'],
  ['verify'],
  ['audit', 'start', '--as', 'ada', '--intent', 'more work'],
  ['note', 'a third'],
  ['audit', 'verify'],
  ['seal'],
  ['wrap', '--message', 'sealed'],
  ['ledger', 'append'],
  ['start', '--as', 'ada'],
  ['note', 'a fourth'],
  // once more while somebody works, who is kept alive by them
  ['verify'],
  ['log', '-n', '2'],
  ['show', firstId],
  ['task', 'list'],
  ['wrap', '--seal', '--message', 'sealed again'],
  ['ledger', 'append'],
  ['ledger', 'append'],
  ['gate', '--base', 'HEAD~2', '--head', 'HEAD'],
  ['ledger', 'verify'],
  ['ledger', 'key'],
  ['root', '--ledger'],
  ['prove', firstRecord, '--output', join(scratch, 'proof.yaml')],
  ['check-proof', join(scratch, 'proof.yaml')],
  ['verify'],
  ['verify', '--staged'],
  ['log', '-n', '2'],
  ['log', '-n', '2'],
  ['show', firstRecord],
  ['show', firstId],
  ['sessions'],
  ['task', 'list'],
  ['task', 'show', 'P0.1'],
  ['trust'],
  ['identity', 'list'],
  ['status', '-h'],
];

/** Without hooks, which would run the program that is being built. */
function git(...args) {
  const settings = ['user.name=build', 'user.email=build@example.org', 'core.hooksPath=/dev/null'];
  execFileSync('git', ['-C', repository, ...settings.flatMap((setting) => ['-c', setting]), ...args]);
}

let commits = 0;

function commitCode() {
  writeFileSync(join(repository, 'code'), `some code, ${++commits}\n`);
  git('add', 'code');
  git('commit', '--quiet', '--message', 'code');
}

/** Of the session that was sealed. */
function firstRecord() {
  const seal = readdirSync(repository, { recursive: true }).find((path) => path.endsWith('-seal.yaml'));
  return join(dirname(seal), '0001-start.yaml');
}

/** The digest of all of it but the signature, which is the last line. */
function firstId() {
  const lines = readFileSync(join(repository, firstRecord()), 'utf8').split('\n');
  return createHash('sha256')
    .update(`${lines.slice(0, -2).join('\n')}\n`)
    .digest('hex');
}

async function run() {
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', repository]);
  for (const step of STEPS) {
    if (typeof step === 'function') {
      step();
      continue;
    }
    const words = step.map((word) => (typeof word === 'function' ? word() : word));
    const code = await programFor(words).main(['-C', repository, ...words], process, { version: '0', build: '0' });
    if (code !== 0) throw new Error(`git handoff ${words.join(' ')} ended with ${code}`);
  }
  for (const [kept, { script }] of programs) writeFileSync(join(dist, kept), script.createCachedData());
}

run()
  .finally(() => rmSync(scratch, { recursive: true, force: true }))
  .catch((error) => {
    console.error(error); // the program listens for what nobody caught, and would keep it to itself
    process.exitCode = 1;
  });
