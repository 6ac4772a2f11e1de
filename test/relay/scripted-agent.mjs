// A program that behaves as an agent's does: it tells its hooks what happens, does what it was told, and heeds their answers. What it
// does wrong is read anew at each turn, from files of the test: `as-predecessor` and `as-successor`, JSON.
//   write: ok, nothing, empty, blank, folder, link, large, secret, elsewhere    hooks: false for none    starts: false for no SessionStart
//   takes: false for a dialog that swallows what is typed    stops: false for a turn that never ends    behind: a task in the background
//   leaves: false for one that does not end    dies: 'prompt' or 'stop', where it is gone at once    double: each event twice
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const { AGENT_DIR, AGENT_HOOK, HANDOFF_RELAY, HANDOFF_IDENTITY } = process.env;
const role = HANDOFF_RELAY ? 'successor' : 'predecessor';
const session = `${role}-${process.pid}`;
const mode = () => JSON.parse(readFileSync(`${AGENT_DIR}/as-${role}`, 'utf8'));
const log = (entry) => appendFileSync(`${AGENT_DIR}/log`, `${JSON.stringify({ role, pid: process.pid, ...entry })}\n`);

function tell(event, more) {
  const { hooks = true, double = false } = mode();
  if (!hooks) return {};
  const input = JSON.stringify({ session_id: session, cwd: process.cwd(), hook_event_name: event, ...more });
  for (let times = double ? 2 : 1; ; times--) {
    const { stdout } = spawnSync('sh', [AGENT_HOOK, 'agent-event', 'claude', event], { input, encoding: 'utf8' });
    log({ event, ...more, answer: stdout });
    if (times === 1) return stdout === '' ? {} : JSON.parse(stdout);
  }
}

function turn(prompt) {
  if (mode().dies === 'prompt') process.exit(9);
  if (tell('UserPromptSubmit', { prompt }).decision === 'block') return;
  work(prompt);
  let isHeld = false;
  for (let reason = prompt; reason !== undefined; ) {
    if (mode().stops === false) return;
    if (mode().dies === 'stop') process.exit(9);
    const tasks = mode().behind ? [{ id: 'b1' }] : [];
    const answer = tell('Stop', { stop_hook_active: isHeld, background_tasks: tasks });
    reason = answer.decision === 'block' ? answer.reason : undefined;
    isHeld = true;
    if (reason !== undefined) {
      log({ held: reason });
      work(reason);
    }
  }
}

const TEXT =
  '# Current work\n\nThe reader.\n\n# Progress\n\nHalf.\n\n# Decisions\n\nNone.\n\n# Blockers\n\nNone.\n\n# Files\n\nsrc/reader.ts\n\n# Next steps\n\nThe writer.\n';

function work(prompt) {
  const [, path] = / to exactly this file: (\S+\.md)/.exec(prompt) ?? [];
  if (path) write(path, mode().write ?? 'ok');
  if (/git handoff accept/.test(prompt))
    log({ read: readFileSync(`${process.cwd()}/${/in (\S+\.md)/.exec(prompt)[1]}`, 'utf8') });
}

function write(path, how) {
  if (how === 'ok') writeFileSync(path, TEXT);
  if (how === 'empty') writeFileSync(path, '');
  if (how === 'blank') writeFileSync(path, ' \n\t\n');
  if (how === 'large') writeFileSync(path, 'x'.repeat(2 * 1024 * 1024));
  if (how === 'secret') writeFileSync(path, `${TEXT}\nkey: AKIA${'ABCD2345'.repeat(2)}\n`);
  if (how === 'elsewhere') writeFileSync(path.replace(/[^/]+$/, 'handoff.md'), TEXT);
  if (how === 'folder') mkdirSync(path);
  if (how === 'link') {
    writeFileSync(`${AGENT_DIR}/secret`, TEXT);
    symlinkSync(`${AGENT_DIR}/secret`, path);
  }
}

log({
  begun: process.argv.slice(2),
  identity: HANDOFF_IDENTITY,
  relay: HANDOFF_RELAY ?? null,
  env: process.env.HANDOFF_PREVIOUS_SESSION ?? null,
});
if (mode().dies === 'start') process.exit(9);
if (mode().starts !== false) tell('SessionStart', { source: 'startup' });
const [first] = process.argv.slice(2);
if (first && mode().takes !== false) turn(first);
for await (const line of createInterface({ input: process.stdin })) {
  const text = line.replaceAll(/\u001b\[20[01]~/g, '').trim();
  log({ typed: text });
  if (mode().takes === false || text === '') continue;
  if (text === '/exit') {
    if (mode().leaves === false) continue;
    tell('SessionEnd', { reason: 'prompt_input_exit' });
    execFileSync('sync', ['-d', `${AGENT_DIR}/log`]);
    process.exit(0);
  }
  turn(text);
}
