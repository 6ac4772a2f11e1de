// SIGKILL at every step that a verb makes on the disk, and around every git that it starts.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assertNothingTorn,
  assertTreeIsClean,
  assertUnlocked,
  assertVerified,
  attempt,
  call,
  check,
  filesBelow,
  git,
  handoff,
  journal,
  missing,
  newPlace,
  snapshot,
  stateDir,
} from './place.mjs';
import { broken, steps } from './strace.mjs';

const BATON = '# Next steps\n\nGo on from here.\n';

/** What nobody has committed. */
const DIRTY = [
  ['new.txt', 'new\n'],
  ['.gitattributes', '.handoff/** -text\n# changed\n'],
];

/** What is interrupted, and what somebody does next. `next` returns the ids of the records that must be in HEAD. */
export const VERBS = {
  note: {
    args: ['note', 'cut off'],
    prepare: async (place) => [start(place)],
    next: async (place) => [note(place), await wrap(place)],
  },
  start: {
    args: ['start', '--as', 'donna'],
    prepare: async () => [],
    next: async (place) => [start(place), note(place), await wrap(place)],
  },
  wrap: {
    args: ['wrap', '--message', BATON],
    prepare: async (place) => [start(place), note(place)],
    answers: true,
    next: async (place) => [await again(place, VERBS.wrap), received(place)].flat(),
  },
  'wrap-saved': {
    args: ['wrap', '--message', BATON],
    prepare: async (place) => {
      const ids = [start(place), note(place)];
      for (const [path, text] of DIRTY) writeFileSync(join(place.dir, path), text);
      return ids;
    },
    answers: true,
    next: async (place) => [await again(place, VERBS['wrap-saved']), await savedWhole(place), received(place)].flat(),
  },
  seal: {
    args: ['seal'],
    prepare: async (place) => [start(place), note(place)],
    answers: true,
    next: async (place) => [await again(place, VERBS.seal), await oneSeal(place)].flat(),
  },
  'wrap-seal': {
    args: ['wrap', '--message', BATON, '--seal'],
    prepare: async (place) => [start(place), note(place)],
    answers: true,
    next: async (place) => [await again(place, VERBS['wrap-seal']), await oneSeal(place), received(place)].flat(),
  },
  claim: {
    args: ['claim', 'T1', '--as', 'donna'],
    prepare: async (place) => defined(place),
    next: async (place) => {
      handoff(place, 'claim', 'T1', '--as', 'donna');
      return [note(place), await wrap(place)];
    },
  },
  'claim-worktree': {
    args: ['claim', 'T1', '--worktree', '--as', 'donna'],
    prepare: async (place) => defined(place),
    answers: true,
    // most of its steps are those of a claim, and that is killed at each
    every: 8,
    at: (place) => ({ ...place, dir: join(place.dir, '.worktrees/donna/t1-first') }),
    next: async (place) => {
      const there = VERBS['claim-worktree'].at(place);
      const again = await attempt(place, VERBS['claim-worktree'].args);
      // whoever has moved already is told the way
      const isTold = again.json?.error?.hint.includes(`cd ${there.dir}`);
      check(again.code === 0 || isTold, 'The same command does not go on', again);
      return [note(there), await wrap(there)];
    },
  },
  restore: {
    args: ['restore', '--as', 'rick'],
    prepare: async (place) => {
      const ids = [start(place)];
      for (const [path, text] of DIRTY) writeFileSync(join(place.dir, path), text);
      ids.push(await wrap(place));
      git(place, 'checkout', '-q', '--', '.gitattributes');
      rmSync(join(place.dir, 'new.txt'));
      return [...ids, received(place)];
    },
    next: async (place) => {
      const again = await attempt(place, VERBS.restore.args);
      check(again.code === 0, 'The same command does not go on', again);
      for (const [path, text] of DIRTY)
        check(readFileSync(join(place.dir, path), 'utf8') === text, 'It is not back', path);
      return [note(place), await wrap(place)];
    },
  },
  done: {
    // what comes last is the command's
    args: ['--json', 'done', 'T1', 'It does what it should.', '--run', '--', 'true'],
    prepare: async (place) => {
      defined(place);
      handoff(place, 'claim', 'T1', '--as', 'donna');
      writeFileSync(join(place.dir, 'code.txt'), 'code\n');
      git(place, 'add', 'code.txt');
      git(place, 'commit', '-q', '-m', 'code', '--', 'code.txt');
      return [];
    },
    next: async (place) => {
      const ids = await again(place, VERBS.done);
      thoughtAndStatus(place);
      return [...ids, await wrap(place)];
    },
  },
  pickup: {
    args: ['pickup', '--as', 'rick'],
    prepare: async (place) => claimed(place),
    next: async (place) => {
      const { session } = await call(place, (verbs) => verbs.status({ as: 'rick' }));
      const ids = session ? [] : [received(place)];
      await heldByHeir(place);
      return [...ids, note(place), await wrap(place)];
    },
  },
  'pickup-worktree': {
    args: ['pickup', '--as', 'rick', '--worktree'],
    prepare: async (place) => {
      git(place, 'switch', '-q', '-c', 'work');
      const ids = await claimed(place);
      git(place, 'switch', '-q', 'main');
      return ids;
    },
    answers: true,
    // most of its steps are those of a pickup, and that is killed at each
    every: 4,
    at: (place) => ({ ...place, dir: join(place.dir, '.worktrees/rick/work') }),
    next: async (place) => {
      const again = await attempt(place, VERBS['pickup-worktree'].args);
      const hasSession = again.json?.error?.code === 'identity_conflict';
      check(again.code === 0 || hasSession, 'The same command does not go on', again);
      const there = VERBS['pickup-worktree'].at(place);
      await heldByHeir(there);
      return [note(there), await wrap(there)];
    },
  },
};

export async function killed(name) {
  if (missing('strace').length > 0) return 'skipped: strace is not installed';
  const verb = VERBS[name];
  const { place, before, restore } = await prepared(verb);
  const all = (await steps(place, verb.args)).filter((_, at) => at % (verb.every ?? 1) === 0);
  const counts = { hit: 0, acknowledged: 0 };
  for (const step of all) {
    restore();
    const { run, hit } = await broken(place, verb.args, step, 'signal=SIGKILL');
    if (hit) counts.hit++;
    await survive(place, verb, run, before, counts).catch((error) => {
      throw new Error(`${name} killed at ${JSON.stringify(step)}: ${error.message}`, { cause: error });
    });
  }
  check(counts.hit > all.length * 0.8, 'Too few were hit', counts);
  return `killed at ${counts.hit} of ${all.length} steps, ${counts.acknowledged} had answered; the next verb went on every time`;
}

/** `git` on the PATH is ours: at its Nth start it dies, or kills who started it, before or after its work. */
export async function gitKilled(name) {
  const verb = VERBS[name];
  const { place, before, restore } = await prepared(verb);
  const counts = { hit: 0, acknowledged: 0, locked: 0 };
  for (const mode of ['verb-before', 'verb-after', 'git-before', 'git-locked']) {
    for (let nth = 1; ; nth++) {
      restore();
      const { run, struck } = await withShim(place, verb.args, mode, nth);
      if (!struck) break;
      if (mode === 'git-locked' && !existsSync(lockOf(place))) continue; // it was none that writes the index
      counts.hit++;
      await afterGit(place, verb, run, mode, before, counts).catch((error) => {
        throw new Error(`${name}, git number ${nth}, ${mode}: ${error.message}`, { cause: error });
      });
    }
  }
  check(counts.hit > 0, 'git was never started', counts);
  return `git or the verb killed ${counts.hit} times around a start of git, ${counts.locked} left an index.lock behind; the next verb went on every time`;
}

function lockOf({ dir }) {
  return join(dir, '.git/index.lock');
}

async function afterGit(place, verb, run, mode, before, counts) {
  const lock = lockOf(place);
  if (mode.startsWith('git') && run.code !== 0) {
    const typed = ['io', 'writeback_failed'].includes(run.json?.error.code);
    check(run.code === 4 && typed, 'Expected a typed error', run);
  }
  if (existsSync(lock)) {
    counts.locked++;
    const again = await attempt(place, ['note', '--stage', 'locked']);
    const code = again.json?.error?.code;
    const said = code === 'io' ? /left that lock file behind/.test(again.stdout) : /not staged/.test(again.stderr);
    check(
      code === 'session_ended' || (said && /index\.lock/.test(again.stdout + again.stderr)),
      'It is not said',
      again,
    );
    rmSync(lock); // as git tells a person to
  }
  await survive(place, verb, run, before, counts);
}

async function prepared(verb) {
  const place = newPlace();
  const before = await verb.prepare(place);
  return { place, before, restore: snapshot(place) };
}

async function survive(place, verb, run, before, counts) {
  assertNothingTorn(place);
  const answered = run.json && !run.json.error ? idOf(run.json) : null;
  if (answered) counts.acknowledged++;
  const lost = unpublished(place);
  place.said = [];
  const ids = await verb.next(place);
  assertUnlocked(place);
  const there = verb.at?.(place) ?? place;
  assertTreeIsClean(there);
  await assertVerified(there, [...before, ...ids, ...(answered ? [answered] : [])]);
  // A wrap or a seal that is repeated answers with the record itself.
  if (lost.length > 0 && !verb.answers)
    check(/Restored from the journal/.test(place.said.join('')), 'Nobody said what was restored', lost);
}

function idOf({ delta_id, start_delta_id, pickup_delta_id, baton }) {
  return delta_id ?? start_delta_id ?? pickup_delta_id ?? baton?.delta_id ?? null;
}

/** Records that the journal has and the work tree has not. */
function unpublished(place) {
  const state = stateDir(place);
  const journalled = filesBelow(join(state, 'sessions')).filter((path) => /records\/\d+$/.test(path));
  const inTree = filesBelow(join(place.dir, '.handoff/sessions'));
  return journalled.filter((path) => {
    const [id, , number] = path.split('/');
    const name = `${id.slice(0, 8)}/${number.slice(2)}-`;
    return !inTree.some((file) => file.includes(name));
  });
}

function start(place) {
  return handoff(place, 'start', '--as', 'donna').start_delta_id;
}

function note(place) {
  return handoff(place, 'note', 'afterwards').delta_id;
}

async function wrap(place) {
  return (await call(place, (verbs) => verbs.wrap({ message: BATON }))).baton.delta_id;
}

/** Finishes what was cut off; what was finished has ended. */
async function again(place, verb) {
  const run = await attempt(place, verb.args);
  place.said.push(run.stderr);
  if (run.code === 0) return [idOf(run.json)];
  check(run.json?.error.code === 'session_ended', `${verb.args[0]} does not go on`, run);
  return [];
}

/** The files are as they were, and what the baton names is there, whole: or git was killed, and they are only named. */
async function savedWhole(place) {
  for (const [path, text] of DIRTY)
    check(readFileSync(join(place.dir, path), 'utf8') === text, 'A file was changed', path);
  const { sessions } = await call(place, (verbs) => verbs.sessions());
  const { session_id } = sessions.find(({ identity }) => identity === 'donna');
  const { saved } = journal(place, session_id).find(({ kind }) => kind === 'baton');
  if (!saved?.commit) return [];
  const ref = `refs/handoff/saved/${session_id.slice(0, 8)}`;
  check(git(place, 'rev-parse', ref) === saved.commit, 'The ref does not lead to what the baton names', saved);
  for (const [path, text] of DIRTY) {
    const blob = git(place, 'cat-file', 'blob', `${saved.commit}:${path}`);
    check(blob === text.trim(), 'Something else was saved', { path, blob });
  }
  const { applied } = await call(place, (verbs) => verbs.restore({ target: session_id }));
  check(!applied, 'What is there already was restored');
  return [];
}

/** Over everything, and none beside it; a note that came after the first has a seal of its own. */
async function oneSeal(place) {
  const { session_id, root, delta_id, already_sealed } = await call(place, (verbs) => verbs.seal());
  check(already_sealed, 'The same command did not finish the seal');
  check((await call(place, (verbs) => verbs.root())).root === root, 'root says otherwise');
  const records = journal(place, session_id);
  const seals = records.filter(({ kind }) => kind === 'seal');
  const late = records.filter(({ text }) => text === 'locked').length;
  check(records.at(-1).kind === 'seal' && seals.length <= 1 + late, 'There is more than one seal', records);
  return delta_id;
}

/** What was told before the command was cut off is still told, and the second run has a thought of its own. */
function thoughtAndStatus(place) {
  const { session_id } = handoff(place, 'status').session;
  const told = journal(place, session_id).filter(({ kind, status }) => kind === 'thought' || status === 'done');
  const isWhole = /^(?:thought,(?:task,)?)?thought,task$/.test(told.map(({ kind }) => kind).join());
  check(isWhole, 'Something was said too often, or not at all', told);
}

function defined(place) {
  handoff(place, 'task', 'add', 'T1', '--title', 'First');
  return [];
}

/** donna had the task when she wrapped. */
async function claimed(place) {
  defined(place);
  const { session_id } = handoff(place, 'claim', 'T1', '--as', 'donna');
  const baton = await wrap(place);
  check(session_id !== undefined, 'The claim opened no session');
  return [baton];
}

/** Whatever was cut off: the task is the heir's at the latest once it says so, and donna's no more. */
async function heldByHeir(place) {
  const { token } = await call(place, (verbs) => verbs.claim({ id: 'T1', as: 'rick' }));
  check(token >= 2, 'The heir has the number of its predecessor', token);
  const refused = await call(place, (verbs) => verbs.claim({ id: 'T1', as: 'donna' })).catch((error) => error);
  check(refused.code === 'task_claimed', 'Somebody else could have the task', refused);
}

function received(place) {
  const { baton, pickup_delta_id } = handoff(place, 'pickup', '--as', 'rick');
  check(baton?.body === BATON, 'The baton did not arrive as it was wrapped', baton);
  return pickup_delta_id;
}

async function withShim(place, args, mode, nth) {
  const bin = join(place.base, 'bin');
  const count = join(place.base, 'count');
  rmSync(count, { force: true });
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'git'), shim(count, mode, nth));
  chmodSync(join(bin, 'git'), 0o755);
  const run = await attempt(place, args, { env: { PATH: `${bin}:${process.env.PATH}` } });
  return { run, struck: readFileSync(count, 'utf8').length >= nth };
}

/** One byte per start in the file `count`; git is looked for behind the folder that this is in. */
function shim(count, mode, nth) {
  return `#!/bin/sh
printf . >> '${count}'
PATH="\${PATH#*:}"
[ "$(wc -c < '${count}')" = ${nth} ] || exec git "$@"
case ${mode} in
  verb-before) kill -9 $PPID ;;
  verb-after)
    # these answer question by question, and end when the verb does: nobody would wait for the end of one
    case "$*" in *\\ cat-file\\ * | *\\ diff-tree\\ --stdin\\ *) exec git "$@" ;; esac
    git "$@" > /dev/null
    kill -9 $PPID ;;
  git-locked)
    case "$*" in
      *\\ update-index\\ * | *\\ commit\\ *) : > "$2/.git/index.lock" ;;
      *) exec git "$@" ;;
    esac ;;
esac
kill -9 $$
`;
}
