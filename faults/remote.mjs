// Locks on a remote: twenty clones that want the same one, and a remote that is not there.
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { attempt, check, finished, git, handoff, newPlace } from './place.mjs';

/** The test of the journal's own remote locks, at full length. */
export async function remoteRace() {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const env = { ...process.env, HANDOFF_SLOW: '1' };
  const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/journal/remote-locks-race.test.ts'];
  const run = await finished(spawn(process.execPath, args, { cwd: root, env }));
  check(run.code === 0, 'The race on the remote failed', run.stdout + run.stderr);
  return '20 clones push for one lock: one winner in 20 rounds';
}

/** Two machines start as one identity; then the remote is gone. */
export async function remoteVerbs() {
  const place = newPlace();
  const bare = join(place.base, 'remote.git');
  git(place, 'clone', '-q', '--bare', place.dir, bare);
  const clones = ['one', 'two'].map((name) => clone(place, bare, name));

  const runs = await Promise.all(clones.map((each) => attempt(each, ['start', '--as', 'donna'])));
  const winner = runs.findIndex(({ code }) => code === 0);
  const loser = runs[1 - winner];
  check(winner >= 0 && loser.code === 3 && loser.json.error.code === 'identity_conflict', 'Expected one winner', runs);
  handoff(clones[winner], 'note', 'mine');

  rmSync(bare, { recursive: true });
  const unreachable = await attempt(clones[winner], ['note', 'alone']);
  check(
    unreachable.code === 4 && /--local/.test(unreachable.json?.error.hint),
    'Expected exit 4 that names --local',
    unreachable,
  );
  const local = await attempt(clones[winner], ['note', 'alone', '--local']);
  check(local.code === 0 && /Going on without origin/.test(local.stderr), 'Expected a warning, and the note', local);
  const other = await attempt(clones[1 - winner], ['start', '--as', 'donna']);
  check(other.code === 4 && /--local/.test(other.json?.error.hint), 'Expected exit 4 that names --local', other);
  return 'two clones start as one identity: one wins; without the remote exit 4 names --local, which goes on with a warning';
}

function clone(place, bare, name) {
  const dir = join(place.base, name);
  git(place, 'clone', '-q', bare, dir);
  const cloned = { ...place, dir };
  git(cloned, 'config', 'handoff.remote', 'origin');
  return cloned;
}
