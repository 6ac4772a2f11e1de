// Verbs that commit, git that commits and git that packs refs, on one branch at once.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertTreeIsClean, assertVerified, attempt, call, check, finished, git, handoff, newPlace } from './place.mjs';

const NOTES = 30;

/** No commit is lost that anybody was told of, and the logs tell of each move in its order. */
export async function commitsAgainstGit() {
  const place = newPlace();
  handoff(place, 'start', '--as', 'donna');
  let isOver = false;
  const notes = commitNotes(place).finally(() => {
    isOver = true;
  });
  const commits = commitByGit(place, () => isOver);
  const packed = packRefs(place, () => isOver);
  const ids = await notes;
  const messages = await commits;
  const known = new Set(git(place, 'log', '--format=%s').split('\n'));
  const lost = messages.filter((message) => !known.has(message));
  check(lost.length === 0, 'Commits that git had acknowledged are gone, or have the message of another', lost);
  check(messages.length >= NOTES / 3, 'git came to nothing', messages.length);
  const { baton } = await call(place, (verbs) => verbs.wrap({ message: '# Next steps\n\nNone.\n' }));
  assertTreeIsClean(place);
  await assertVerified(place, [...ids, baton.delta_id]);
  for (const log of ['HEAD', 'refs/heads/main']) assertLog(place, log);
  check(git(place, 'fsck', '--no-dangling') === '', 'git fsck');
  return `${ids.length} notes were committed while git made ${messages.length} commits and packed refs ${await packed} times: none is lost`;
}

async function commitNotes(place) {
  const ids = [];
  for (let number = 0; number < NOTES; number++) {
    const run = await attempt(place, ['note', `note ${number}`, '--commit']);
    check(run.code === 0, 'A note was not committed', run);
    ids.push(run.json.delta_id);
  }
  return ids;
}

/** Those that git made; where somebody had a lock, it makes none. */
async function commitByGit(place, isOver) {
  const messages = [];
  for (let number = 0; !isOver(); number++) {
    const message = `by git ${number}`;
    const { code, stderr } = await runGit(place, 'commit', '--quiet', '--allow-empty', '--message', message);
    check(code === 0 || /\.lock|cannot lock ref/.test(stderr), 'git says something else', stderr);
    if (code === 0) messages.push(message);
  }
  return messages;
}

async function packRefs(place, isOver) {
  let count = 0;
  for (; !isOver(); count++) {
    await runGit(place, 'pack-refs', '--all');
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return count;
}

function runGit({ dir, env }, ...args) {
  return finished(spawn('git', ['-C', dir, ...args], { env }));
}

/** Each line begins where the one before ended, and the last ends at HEAD. */
function assertLog(place, name) {
  const lines = readFileSync(join(place.dir, '.git/logs', name), 'utf8')
    .split('\n')
    .slice(0, -1);
  const moves = lines.map((line) => /^([0-9a-f]{40}) ([0-9a-f]{40}) .+ \d+ \+0000\t/.exec(line));
  check(!moves.includes(null), `A line of the log of ${name} is torn`, lines[moves.indexOf(null)]);
  const gap = moves.findIndex(([, from], at) => at > 0 && from !== moves[at - 1][2]);
  check(gap < 0, `The log of ${name} has a gap`, lines.slice(gap - 1, gap + 1));
  check(moves.at(-1)[2] === git(place, 'rev-parse', 'HEAD'), `The log of ${name} ends elsewhere`, lines.at(-1));
}
