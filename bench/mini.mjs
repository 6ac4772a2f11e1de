// Measures ratios in one run, prints a table and writes bench/results.json. Machines are noisy, so nothing here is a bare
// time: what is compared runs in turns, and medians are compared.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addBranch, addBranches, addRenames, generate, generateTasks } from './generate.mjs';
import { generateLedger, takeBack } from './ledger.mjs';
import { noteOverMcp } from './mcp.mjs';
import { rootOverFloor } from './merkle.mjs';
import { inTotoLinks, signedCommits } from './peers.mjs';
import { writePlan } from './plan.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const cli = join(here, '../dist/cli.cjs');
const quick = process.argv.includes('--quick');
const LARGE = quick ? 20_000 : 100_000;
const rows = [];
const base = mkdtempSync(join(tmpdir(), 'git-handoff-bench-'));

try {
  const none = { command: process.execPath, args: ['-e', '0'], env: process.env };
  const version = { command: process.execPath, args: [cli, '--version'], env: process.env };
  compare('--version / node -e 0', version, none, 1.25, 15);

  const tiny = await generate(base, 10);
  compare('verify, one session / node -e 0', warm(tiny), none, 2, 15);

  session(tiny, 'hooks', 'install');
  exceed('pre-commit, nothing of ours staged, over sh -c :, ms', hook(tiny, 'pre-commit'), 5);
  const refs = Array.from(
    { length: 5_000 },
    (_, i) => `${'0'.repeat(40)} ${'1'.repeat(40)} refs/remotes/origin/b${i}\n`,
  );
  const fetched = { ...hook(tiny, 'reference-transaction', 'prepared'), input: refs.join('') };
  exceed('reference-transaction, 5,000 refs fetched, over sh -c :, ms', fetched, 20);

  session(tiny, 'start', '--as', 'ada');
  compare(
    'note, with fsync / node -e 0',
    { command: process.execPath, args: [cli, '-C', tiny.dir, 'note', 'x'], env: tiny.env },
    none,
    1.6,
    21,
  );

  const [silent, shell] = inTurns(
    [event(tiny, 'PostToolUse'), { command: 'sh', args: ['-c', ':'], env: process.env }],
    61,
  );
  row('an event with nothing to say, over 1.5 × sh -c :, ms', (silent - 1.5 * shell) / 1e6, 5);
  compare('an event with something to say / node -e 0', event(tiny, 'SessionStart'), none, 2, 15);

  const [overMcp, asCommand, synced] = await noteOverMcp(tiny, cli, 15);
  row('note over MCP / its syncs alone', overMcp / synced, 3);
  row('note as a command / over MCP', asCommand / overMcp, 10, 'at least');

  const [claimed, finished, wrapped, nothing] = inTurns([...dayOf(await generate(base, 12)), none], 15);
  row('claim, done and wrap, together / node -e 0', (claimed + finished + wrapped) / nothing, 7);

  const small = await generate(base, 1_000);
  compare('gate, 10 new records on 1,000 / node -e 0', await gates(small), none, 1.7, 15);
  for (const r of rows) console.log(JSON.stringify(r));
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** A run that has verified before. */
function warm({ dir, env }) {
  return { command: process.execPath, args: [cli, '-C', dir, 'verify'], env };
}

/** A run that finds no cache. */
function cold({ dir, env }) {
  return {
    ...warm({ dir, env }),
    before: () => rmSync(join(dir, '.git/handoff/cache'), { recursive: true, force: true }),
  };
}

/** A pickup after every wrap, by the same agent: each finds one session more than the last. */
function pickups(place) {
  const { dir, env } = place;
  return {
    command: process.execPath,
    args: [cli, '-C', dir, 'pickup', '--as', 'ada'],
    env,
    before: () => session(place, 'wrap', '--as', 'ada', '--message', 'bench'),
  };
}

/** A task that is claimed, a commit for it, and the end of the session: what an agent types in a day. */
function dayOf(place) {
  const { dir, env } = place;
  let day = 1;
  const verb = (words, before) => ({
    command: process.execPath,
    env,
    before,
    get args() {
      return [cli, '-C', dir, ...words()];
    },
  });
  return [
    verb(
      () => ['claim', `T${day}`, '--as', 'ada'],
      () => session(place, 'task', 'add', `T${day}`, '--title', 'a task'),
    ),
    verb(
      () => ['done', `T${day}`, 'It is done.'],
      () => commitCode(place, day),
    ),
    verb(
      () => ['wrap', '--message', '# Current work\n\nIt is done.'],
      () => day++,
    ),
  ];
}

function commitCode({ dir, env }, day) {
  const script = `echo ${day} > code && git add code && git commit --quiet --message code`;
  spawnSync('sh', ['-c', script], { cwd: dir, env });
}

/** The id of a record that is not among the newest. */
function someId({ dir, env }) {
  const args = [cli, '-C', dir, 'log', '-n', '1000', '--json'];
  const { stdout } = spawnSync(process.execPath, args, { env, maxBuffer: 1 << 30 });
  return JSON.parse(stdout).records.at(-1).id;
}

/** A hook as git runs it. */
function hook({ dir, env }, name, ...args) {
  return { command: join(dir, '.git/hooks', name), args, env, cwd: dir };
}

/** What happens in an agent's program, as that tells it. */
function event({ dir, env }, name) {
  const args = [join(dirname(cli), 'hook.sh'), 'agent-event', 'claude', name];
  return { command: 'sh', args, env, cwd: dir, input: JSON.stringify({ cwd: dir, hook_event_name: name }) };
}

/** What a hook costs more than a shell that does nothing. */
function exceed(name, subject, limit) {
  const [ours, none] = inTurns([subject, { command: 'sh', args: ['-c', ':'], env: process.env }], 101);
  row(name, (ours - none) / 1e6, limit);
}

/** A pull request of ten commits and ten records. */
async function gates(place) {
  const { base, head } = await addBranch(place, 'bench-gate');
  return {
    command: process.execPath,
    args: [cli, '-C', place.dir, 'gate', '--base', base, '--head', head],
    env: place.env,
  };
}

/** A merge of a branch that renamed a thousand files into one that changed them: the gate makes it again, git alone makes it once. */
async function renames(place) {
  const { base, head, sides } = await addRenames(place, 'bench-renames', 1_000);
  const git = ['-C', place.dir, '-c', 'merge.renameLimit=7000', 'merge-tree', '--write-tree', ...sides];
  return {
    gate: {
      command: process.execPath,
      args: [cli, '-C', place.dir, 'gate', '--base', base, '--head', head],
      env: place.env,
    },
    merge: {
      command: 'sh',
      args: ['-c', '"$0" -e 0 && git "$@" >/dev/null', process.execPath, ...git],
      env: place.env,
    },
  };
}

/** The record that a seal is over. */
function proves({ dir, env }, seal) {
  const record = seal.replace('0002-seal', '0001-start');
  return {
    command: process.execPath,
    args: [cli, '-C', dir, 'prove', record, '--output', join(base, 'proof.yaml')],
    env,
  };
}

/** Away from any repository, with the one key. */
function checks({ env, vkey }) {
  const args = [cli, 'check-proof', join(base, 'proof.yaml'), '--vkey', vkey];
  return { command: process.execPath, args, env, cwd: base };
}

/** Ten sessions of four agents, merged since the ledger last grew. */
function appends(place) {
  const { dir, env } = place;
  return { command: process.execPath, args: [cli, '-C', dir, 'ledger', 'append'], env, before: () => takeBack(place) };
}

/** What git takes for the least that anybody could commit there. */
function commits(place) {
  const script = 'echo a file > file && git add file && git commit --quiet --message file';
  return { command: 'sh', args: ['-c', script], env: place.env, cwd: place.dir, before: () => takeBack(place) };
}

/** Not measured. The first wrap finds nothing to wrap. */
function session({ dir, env }, ...args) {
  spawnSync(process.execPath, [cli, '-C', dir, ...args], { env });
}

function compare(name, subject, reference, limit, rounds) {
  const [ours, theirs] = inTurns([subject, reference], rounds);
  row(name, ours / theirs, limit);
}

/** Medians of runs taken in turns, so that a noisy minute hits all alike. The first round only warms the disk. */
function inTurns(tasks, rounds) {
  const times = tasks.map(() => []);
  for (let round = rounds > 1 ? -1 : 0; round < rounds; round++) {
    for (const [index, task] of tasks.entries()) {
      const time = run(task);
      if (round >= 0) times[index].push(time);
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[list.length >> 1]);
}

function run({ command, args, env, cwd, input, before }) {
  before?.();
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(command, args, { env, cwd, input, maxBuffer: 1 << 30 });
  const time = Number(process.hrtime.bigint() - start);
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 4).join(' ')} ended with ${status}: ${stderr}`);
  return time;
}

/** By the process's own peak where the system tells it: what `getrusage` says begins with what this process had when it forked. */
function peakMemory(task) {
  const file = join(base, 'rss');
  const script = `import{readFileSync,writeFileSync}from'node:fs';
    const own=()=>/VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status','latin1'))[1];
    process.on('exit',()=>writeFileSync(${JSON.stringify(file)},String(process.platform==='linux'?own():process.resourceUsage().maxRSS)))`;
  run({ ...task, args: [`--import=data:text/javascript,${encodeURIComponent(script)}`, ...task.args] });
  return Number(readFileSync(file, 'utf8')) / 1024;
}

function row(name, value, limit, sense = 'at most') {
  const held = sense === 'at most' ? value <= limit : value >= limit;
  rows.push({ name, value: Number(value.toFixed(value < 10 ? 3 : 1)), [sense.replace(' ', '_')]: limit, held });
  console.log(`${held ? '✓' : '✗'} ${name.padEnd(56)} ${String(rows.at(-1).value).padStart(8)}   (${sense} ${limit})`);
}

function report() {
  // it makes node itself start slower, and so all ratios to it smaller
  const certificates = Boolean(process.env.NODE_EXTRA_CA_CERTS);
  if (certificates)
    console.log('\nnode reads NODE_EXTRA_CA_CERTS whenever it starts: without it, ratios to `node -e 0` are larger');
  const results = { node: process.version, quick, extra_certificates: certificates, rows };
  writeFileSync(join(here, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  const missed = rows.filter(({ held }) => !held).length;
  console.log(missed === 0 ? '\nall ratios hold' : `\n${missed} of ${rows.length} ratios do not hold in this run`);
}
