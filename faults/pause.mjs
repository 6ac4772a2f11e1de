// A holder that was asleep in the middle of a note, superseded meanwhile, and woken up: it must be fenced.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, check, finished, git, handoff, journal, missing, newPlace, snapshot, worktree } from './place.mjs';
import { ONE_THREAD, steps } from './strace.mjs';

const TEXT = 'written in my sleep';

/** Its signer takes long, as an ssh-agent that asks a person does; in that time the whole process is stopped. */
export async function pausedWhileSigning() {
  if (missing('ssh-keygen').length > 0) return 'skipped: ssh-keygen is not installed';
  const place = newPlace();
  signWithSshKeygen(place);
  const other = worktree(place, 'other');
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const sleeper = slowSigner(place);
  const note = spawn(process.execPath, [CLI, 'note', TEXT, '--json'], { cwd: place.dir, env: sleeper.env });
  const ended = finished(note);
  await until(() => existsSync(sleeper.signing));
  note.kill('SIGSTOP');
  const taken = handoff(other, 'pickup', '--as', 'rick', '--force');
  writeFileSync(sleeper.go, '');
  note.kill('SIGCONT');
  assertFenced(await ended, place, session_id, taken);
  return 'stopped while it signs, superseded and continued: fenced, the text is kept as a draft';
}

/** Stopped at every step before its record has a number: then the number is gone. After that, it was first. */
export async function pausedAtSteps() {
  if (missing('strace').length > 0) return 'skipped: strace is not installed';
  const place = newPlace();
  const other = worktree(place, 'other');
  const { session_id } = handoff(place, 'start', '--as', 'donna');
  const restore = snapshot(place);
  const all = await steps(place, ['note', TEXT]);
  const link = all.findIndex(({ syscall }) => syscall === 'link');
  const counts = { fenced: 0, first: 0 };
  for (const [index, step] of all.entries()) {
    if (step.syscall === 'write' || step.syscall === 'openat') continue; // beside the others, nothing new
    restore();
    const { note, ended } = stoppedAt(place, step);
    await until(() => isStopped(note));
    const taken = handoff(other, 'pickup', '--as', 'rick', '--force');
    process.kill(note.tracee, 'SIGCONT');
    const run = await ended;
    // The stop comes after the step that it was sent at.
    if (index < link) assertFenced(run, place, session_id, taken);
    else assertFirst(run, place, session_id, taken);
    counts[index < link ? 'fenced' : 'first']++;
    handoff(other, 'release', taken.session_id, '--reason', 'next step');
  }
  return `stopped at ${counts.fenced + counts.first} steps and superseded: fenced ${counts.fenced} times, in the chain before the end ${counts.first} times`;
}

function assertFenced(run, place, session, taken) {
  const { code, data } = run.json?.error ?? {};
  check(
    run.code === 3 && code === 'session_released' && data.reason === 'preempted_by_pickup',
    'It was not fenced',
    run,
  );
  check(readFileSync(data.draft, 'utf8') === TEXT, 'The draft is not what was written', run);
  const records = journal(place, session);
  check(records.at(-1).end?.session_id === taken.session_id, 'The chain does not end with the pickup', records);
  check(!records.some(({ text }) => text === TEXT), 'The note is in the chain', records);
}

function assertFirst(run, place, session, taken) {
  check(run.code === 0, 'Its record was first, and yet it failed', run);
  const records = journal(place, session);
  check(
    records.at(-2).text === TEXT && records.at(-1).end?.session_id === taken.session_id,
    'The order is wrong',
    records,
  );
}

function stoppedAt(place, { syscall, when }) {
  const log = join(place.base, 'pause.log');
  const inject = `inject=${syscall}:signal=SIGSTOP:when=${when}`;
  const flags = ['-f', '-qq', '-b', 'execve', '-o', log, '-e', `trace=${syscall}`, '-e', inject];
  const env = { ...place.env, ...ONE_THREAD };
  const child = spawn('strace', [...flags, process.execPath, CLI, 'note', TEXT, '--json'], { cwd: place.dir, env });
  return { note: child, ended: finished(child) };
}

/** The process that strace runs stands still. A stop for tracing looks the same, and is over in a moment. */
function isStopped(note) {
  check(note.exitCode === null, 'It came through without being stopped');
  const [pid] = spawnSync('pgrep', ['-P', String(note.pid)], { encoding: 'utf8' }).stdout.split('\n');
  const state = pid && spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout;
  note.still = /^[Tt]/.test(state) && note.tracee === Number(pid) ? note.still + 1 : 0;
  note.tracee = Number(pid);
  return note.still > 5;
}

function signWithSshKeygen(place) {
  const key = join(place.base, 'id_ed25519');
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key]);
  handoff(place, 'identity', 'rotate', 'donna', '--key', `${key}.pub`);
  git(place, 'config', 'handoff.signingKey', `${key}.pub`);
}

/** An ssh-keygen that says when it begins, and waits for a word before it goes on. */
function slowSigner(place) {
  const bin = join(place.base, 'bin');
  const [signing, go] = ['signing', 'go'].map((name) => join(place.base, name));
  mkdirSync(bin);
  const script = `#!/bin/sh\n: > '${signing}'\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\nPATH="\${PATH#*:}"\nexec ssh-keygen "$@"\n`;
  writeFileSync(join(bin, 'ssh-keygen'), script);
  chmodSync(join(bin, 'ssh-keygen'), 0o755);
  return { signing, go, env: { ...place.env, PATH: `${bin}:${process.env.PATH}` } };
}

async function until(condition) {
  const deadline = Date.now() + 60_000;
  while (!condition()) {
    check(Date.now() < deadline, 'It did not come to that within a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
