// A disk that is full, read-only or broken, at every step that a verb makes on it.
import { spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertNothingTorn,
  assertTreeIsClean,
  assertVerified,
  attempt,
  call,
  check,
  filesBelow,
  handoff,
  journal,
  missing,
  newPlace,
  snapshot,
  stateDir,
  temporaryDirectory,
} from './place.mjs';
import { broken, steps } from './strace.mjs';

const BATON = '# Next steps\n\nGo on from here.\n';

/** `prepare` leaves what the verb needs; `finish` brings what it wrote into a commit. */
export const WRITES = {
  note: { args: ['note', 'on a bad disk'], prepare: (place) => opened(place), finish: wrapped },
  wrap: { args: ['wrap', '--message', BATON], prepare: (place) => opened(place), finish: () => {} },
  start: { args: ['start', '--as', 'donna'], prepare: () => {}, finish: wrapped },
  pickup: {
    args: ['pickup', '--as', 'rick'],
    prepare: async (place) => {
      opened(place);
      await wrapped(place);
    },
    finish: wrapped,
  },
};

const FAULTS = [
  { error: 'ENOSPC', syscalls: ['openat', 'link', 'mkdir', 'rename'] },
  { error: 'EROFS', syscalls: ['openat', 'link', 'mkdir', 'rename', 'unlink'] },
  { error: 'EIO', syscalls: ['fsync'] },
];

/** Each step fails once: exit 4 and `io`, nothing torn, and the same verb works afterwards. */
export async function failingSteps(name) {
  if (missing('strace').length > 0) return 'skipped: strace is not installed';
  const verb = WRITES[name];
  const place = newPlace();
  await verb.prepare(place);
  const restore = snapshot(place);
  const before = journalled(place);
  const all = await steps(place, verb.args);
  const counts = { refused: 0, survived: 0 };
  for (const { error, syscalls } of FAULTS) {
    for (const step of sample(
      all.filter(({ syscall }) => syscalls.includes(syscall)),
      error,
    )) {
      restore();
      const { run, hit } = await broken(place, verb.args, step, `error=${error}`);
      if (!hit) continue; // the steps came in another order: it is counted as what it is, a success
      await assertIntact(place, verb, run, before, counts).catch((cause) => {
        throw new Error(`${name}, ${error} at ${JSON.stringify(step)}, hit ${hit}: ${cause.message}`, { cause });
      });
    }
  }
  check(counts.refused > 0, 'No step was hit, or none mattered', counts);
  return `${counts.refused} steps failed with ENOSPC, EROFS or EIO and were refused with io, ${counts.survived} the verb could do without; the same verb worked afterwards every time`;
}

/** Every link and every fsync; of the rest, which differs less, every third. */
function sample(all, error) {
  return all.filter(({ syscall }, index) => index % 3 === 0 || (error !== 'EROFS' && /link|fsync/.test(syscall)));
}

async function assertIntact(place, verb, run, before, counts) {
  assertNothingTorn(place);
  if (run.code === 0) counts.survived++;
  else {
    check(run.code === 4 && run.json?.error.code === 'io', 'Expected exit 4 and io', run);
    counts.refused++;
    await assertOldState(place, verb, run, before);
    await again(place, verb, run);
  }
  await verb.finish(place);
  assertTreeIsClean(place);
  await assertVerified(place, []);
}

/** HEAD is valid as it was; whoever had a session has it; whoever wanted one has none, unless its record was written. */
async function assertOldState(place, verb, { json }, before) {
  const { valid, findings } = await call(place, (verbs) => verbs.verify());
  check(valid, 'verify', findings);
  const { sessions } = await call(place, (verbs) => verbs.sessions());
  const open = sessions.filter(({ state }) => state === 'active').length;
  const expected = verb === WRITES.note || verb === WRITES.wrap ? 1 : 0;
  const isWritten = json.error.data?.written === true || journalled(place) > before;
  check(open === expected || isWritten, `Expected ${expected} active sessions`, { sessions, json });
}

/** How many records the journal has: one more, and the verb's was written before the fault. */
function journalled(place) {
  return filesBelow(join(stateDir(place), 'sessions')).filter((path) => /records\/\d+$/.test(path)).length;
}

/** The fault is gone. What counts as written although the disk complained is gone on from, not repeated. */
async function again(place, verb, failed) {
  const run = await attempt(place, verb.args);
  if (run.code === 0) return;
  const { session } = await call(place, (verbs) => verbs.status({ as: 'rick' }));
  const isOpen = verb === WRITES.pickup && run.json?.error.code === 'identity_conflict' && session?.state === 'active';
  const isDone = verb === WRITES.wrap && run.json?.error.code === 'session_ended';
  check(isOpen || isDone, 'The same verb does not work afterwards', { failed: failed.json, run });
}

function opened(place) {
  return handoff(place, 'start', '--as', 'donna').session_id;
}

async function wrapped(place) {
  await call(place, (verbs) => verbs.wrap({ message: BATON }));
}

/** A real file system without room: as much is left as the round says, so that each gets a step further. */
export async function fullDisk() {
  const base = temporaryDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'none', base]);
  if (mounted.status !== 0) return 'skipped: no rights to mount a tmpfs; the failing steps above cover it';
  try {
    return await onSmallDisk(base);
  } finally {
    spawnSync('umount', [base]);
  }
}

async function onSmallDisk(base) {
  const place = newPlace(base);
  const session = opened(place);
  const counts = { refused: 0, written: 0 };
  for (let pages = 0; pages < 24; pages++) {
    fill(base, pages * 4096);
    const before = journal(place, session).length;
    const text = `${'x'.repeat(6000)} with ${pages} pages left`;
    const run = await attempt(place, ['note', text]);
    rmSync(join(base, 'ballast'));
    assertNothingTorn(place);
    if (run.code !== 0) check(run.code === 4 && run.json?.error.code === 'io', 'Expected exit 4 and io', run);
    const added = journal(place, session).length - before;
    check(run.code === 0 ? added === 1 : added <= 1, 'The journal is not what the answer says', { run, added });
    counts[run.code === 0 ? 'written' : 'refused']++;
    handoff(place, 'note', `with room again after ${pages} pages`);
  }
  check(counts.refused > 0 && counts.written > 0, 'The disk was never full, or always', counts);
  await wrapped(place);
  assertTreeIsClean(place);
  await assertVerified(place, []);
  return `a tmpfs with 0 to 23 pages left: ${counts.refused} notes refused with io, ${counts.written} written; the next note worked every time`;
}

function fill(base, left) {
  const { bavail, bsize } = statfsSync(base);
  writeFileSync(join(base, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - left)));
}
