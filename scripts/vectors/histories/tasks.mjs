import { DIGEST } from '../signing.mjs';
import { afterTask, nextPolicy, task } from '../world/documents.mjs';
import { baton, says, seal, session, start, thought } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { GROUND_COMMIT as G, history, NEW, on, open, records, work } from './making.mjs';

// SPEC §10.5, §10.7 and §10.10. The code of each is accounted for.

const code = on(G, NEW, { message: 'code' });
const account = thought([code]);

function said(name, rule, steps, findingsOf = () => []) {
  const made = session('the work', [start(), ...steps], { clock: 10 });
  history(name, rule, { base: G, head: records(code, made) }, findingsOf(made));
}
const lastTask = ({ records: all }) => all.findLast(({ kind }) => kind === 'task').path;
const unfounded = (made) => [error('done_without_thought', lastTask(made))];

said('a task that is done', ['M64', 'M73'], [says('in_progress'), account, says('done'), baton()]);
const silent = session('the work', [start(), says('in_progress'), says('done'), baton()], { clock: 10 });
history(
  'done, and nobody says what was done',
  ['M64', 'M73'],
  { base: G, head: records(G, silent) },
  unfounded(silent),
);
said(
  'a thought from before the task was begun anew',
  ['M64', 'M73'],
  [account, says('in_progress'), says('done'), baton()],
  unfounded,
);
said(
  'a thought that comes after done',
  ['M64', 'M73'],
  [says('in_progress'), says('done'), account, baton()],
  unfounded,
);
const nowhere = session('the work', [start(), thought([code]), says('done'), baton()], { clock: 10 });
history('done by a commit that does not come', ['M73'], { base: G, head: records(G, nowhere) }, unfounded(nowhere));

const ofSealed = [says('in_progress', {}, 'P0.2'), thought([code], { id: 'P0.2' }), says('done', {}, 'P0.2')];
said('a task that asks for a seal, and has none', ['M73'], [...ofSealed, baton()], (made) => [
  error('seal_missing', lastTask(made)),
]);
said('a task that asks for a seal, and has one', ['M73', 'M76'], [...ofSealed, baton(), seal()]);

// Definitions that wait for each other.
const waiting = (id, depends_on, more = {}) =>
  task(id, { more: `depends_on:\n${depends_on.map((each) => `  - ${each}\n`).join('')}`, ...more });
const half = on(G, waiting('P0.1', ['P0.2'], afterTask(G.files, 'P0.1')), { message: 'one waits' });
const other = on(G, waiting('P0.3', ['P0.1']), { message: 'another waits for it' });
const circle = on(half, waiting('P0.3', ['P0.1']), { message: 'and another' });
const closing = waiting('P0.2', ['P0.3'], afterTask(G.files, 'P0.2'));
const closed = on(circle, closing, { message: 'the first waits for the last' });
const cyclic = (id) => [error('task_cycle', `.handoff/tasks/${id}.yaml`)];
history('tasks that wait for each other in a row', ['M97'], { base: half, head: other });
history('a task that closes a cycle', ['M97'], { base: circle, head: closed, push: true }, cyclic('P0.2'));
const end = on(G, closing, { message: 'one end' });
const begun = on(half, waiting('P0.3', ['P0.1']), { message: 'the other end' });
history('a cycle of which each branch has a part', ['M97'], { base: begun, head: end }, cyclic('P0.2'));
const itself = on(G, waiting('P0.3', ['P0.3']), { message: 'one waits for itself' });
history('a task that waits for itself', ['M97'], { base: G, head: itself }, cyclic('P0.3'));
const elsewhere = task('P0.4');
history('another task while there is a cycle', ['M97'], {
  base: closed,
  head: on(closed, elsewhere, { message: 'more' }),
});

const run = `evidence:
  - command:
      - npm
      - test
    exit_code: 1
    duration_ms: 12
    output_digest: ${DIGEST}
`;
const failed = work(G, { account: { own: run } });
history('a run that failed', ['§10.7'], { base: G, head: failed.head }, [
  warning('run_failed', failed.said.of('thought').path),
]);

// A policy that only advises.
const advising = on(
  G,
  nextPolicy(G.files, { rules: [['open_sessions: warning', 'open_sessions: error\n  advisory: true']] }),
  { message: 'advice' },
);
const careless = on(advising, NEW, { message: 'code' });
const unwrapped = session('the work', [start(), says('in_progress'), says('done')], { clock: 10 });
history(
  'a policy that advises: nothing is accounted for',
  ['§10.10'],
  { base: advising, head: records(careless, unwrapped) },
  [
    ...open(careless, 'src/new.ts').map(asWarning),
    ...unfounded(unwrapped).map(asWarning),
    warning('session_open', unwrapped.folder),
  ],
);
history(
  'a policy that advises, brought along with what it would let in',
  ['M67', '§10.10'],
  { base: G, head: careless },
  open(careless, 'src/new.ts'),
);

function asWarning(found) {
  return { ...found, severity: 'warning' };
}
