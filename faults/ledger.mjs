// An append to the ledger that is killed, interrupted or refused by the disk at any step; the next one goes on.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertTreeIsClean,
  attempt,
  call,
  check,
  filesBelow,
  git,
  handoff,
  missing,
  newPlace,
  snapshot,
  tryGit,
} from './place.mjs';
import { broken, steps } from './strace.mjs';

const APPEND = ['ledger', 'append'];
const BATON = '# Next steps\n\nGo on from here.\n';

export async function appendKilled() {
  return atEveryStep('signal=SIGKILL', {
    outcome: () => {},
    says: (count) => `killed at ${count} steps; the next append made one commit of it every time`,
  });
}

/** Somebody who does not know of it commits all that is changed. What git refuses, since the index is locked, is not committed. */
export async function appendKilledAndCommitted() {
  const commits = { done: 0 };
  return atEveryStep('signal=SIGKILL', {
    outcome: async (place) => {
      writeFileSync(join(place.dir, 'code.txt'), 'changed\n');
      if (tryGit(place, 'commit', '--quiet', '--all', '--message', 'work')) commits.done++;
      const { findings } = await call(place, (verbs) => verbs.verify());
      check(findings.length === 0, 'What they committed does not hold', findings);
    },
    mayHaveMore: true,
    says: (count) =>
      `killed at ${count} steps; ${commits.done} times all that was changed was committed, the whole append or none of it`,
  });
}

/** Whoever is asked to end does so with nothing locked: git, and not only we, can go on at once. */
export async function appendInterrupted() {
  return atEveryStep('signal=SIGINT', {
    outcome: (place, run) => {
      check(run.signal === 'SIGINT' || run.code === 0, 'It ended neither by the signal nor before it', run);
      const locks = filesBelow(join(place.dir, '.git')).filter((path) => /^(?!handoff\/).*\.lock$/.test(path));
      check(locks.length === 0, 'Locks are left', locks);
    },
    says: (count) => `interrupted at ${count} steps; no lock was left, and the next append made one commit of it`,
  });
}

export async function appendRefused() {
  return atEveryStep('error=ENOSPC', {
    syscalls: ['openat', 'link', 'mkdir', 'rename'],
    outcome: (_, run) => check(run.code === 0 || run.json?.error.code === 'io', 'Expected a typed error', run),
    says: (count) => `no room at ${count} steps; the next append made one commit of it every time`,
  });
}

async function atEveryStep(fault, { outcome, says, syscalls, mayHaveMore = false }) {
  if (missing('strace').length > 0) return 'skipped: strace is not installed';
  const place = await withSealToAppend();
  const restore = snapshot(place);
  const before = git(place, 'rev-parse', 'HEAD');
  const all = (await steps(place, APPEND)).filter(({ syscall }) => !syscalls || syscalls.includes(syscall));
  let count = 0;
  for (const step of all) {
    restore();
    const { run, hit } = await broken(place, APPEND, step, fault);
    if (hit) count++;
    try {
      await outcome(place, run);
      await assertAppended(place);
      if (!mayHaveMore) assertOneCommit(place, before);
    } catch (cause) {
      throw new Error(`${fault} at ${JSON.stringify(step)}: ${cause.message}`, { cause });
    }
  }
  check(count > all.length * 0.8, 'Too few were hit', { count, of: all.length });
  return says(count);
}

/** The ledger has one seal, so that what it had of partial tiles goes; two more have arrived. */
async function withSealToAppend() {
  const place = newPlace();
  await sealed(place, 'donna');
  handoff(place, ...APPEND);
  for (const name of ['donna', 'rick']) await sealed(place, name);
  writeFileSync(join(place.dir, 'code.txt'), 'code\n');
  git(place, 'add', 'code.txt');
  git(place, 'commit', '--quiet', '--message', 'code');
  return place;
}

async function sealed(place, identity) {
  handoff(place, 'start', '--as', identity);
  await call(place, (verbs) => verbs.wrap({ as: identity, message: BATON, seal: true }));
}

async function assertAppended(place) {
  const { json, stdout, stderr } = await attempt(place, APPEND);
  check(json?.size === 3, 'The next append does not go on', stdout + stderr);
  assertTreeIsClean(place);
  const { valid, size, unsealed } = await call(place, (verbs) => verbs.ledger.verify());
  check(valid && size === 3 && unsealed === 0, 'ledger verify', { size, unsealed });
  const { findings } = await call(place, (verbs) => verbs.verify());
  check(findings.length === 0, 'verify', findings);
  check(git(place, 'fsck', '--no-dangling') === '', 'git fsck');
}

function assertOneCommit(place, before) {
  check(git(place, 'rev-list', '--count', `${before}..HEAD`) === '1', 'There is more than one commit of it');
  assertLogs(place, before);
  git(place, 'commit', '--quiet', '--allow-empty', '--message', 'by git');
  check(!existsSync(join(place.dir, '.git/HEAD.lock')), 'HEAD is locked');
}

/** Whole lines up to where the branch is. A kill after they were written and before the branch moved leaves one too many, with git as well. */
function assertLogs(place, before) {
  for (const ref of ['HEAD', 'main']) {
    const tips = git(place, 'reflog', 'show', '--format=%H', ref).split('\n');
    const isWhole = tips[0] === git(place, 'rev-parse', 'HEAD') && tips.slice(1, 3).includes(before);
    check(isWhole, `The log of ${ref}`, tips);
  }
}
