import { head, record, SUCCESSOR } from './records.mjs';
import { DIGEST, idOf } from './signing.mjs';
import { leafOf, rootOf } from './tree.mjs';

/** Records as `[kind, change]`; each is linked to the one before, unless the change says otherwise. */
function chain(name, rule, steps, faults = []) {
  const made = [];
  for (const [index, [kind, { forks, ...change } = {}]] of steps.entries()) {
    const before = made.at(forks ? -2 : -1);
    const seq = change.seq ?? index + 1;
    const own = kind === 'seal' ? sealOver(made.slice(0, seq - 1)) : OWN[kind];
    const front = head(kind, { seq, prev: before ? idOf(before.signed) : null, ...change }) + own;
    made.push(record(kind, front, { body: kind === 'baton' ? 'Done.\n' : null }));
  }
  return { name, rule, key: 'donna', files: made.map(({ file }) => file), faults };
}

const OWN = {
  start: '',
  note: 'text: hi\n',
  baton: '',
  pickup: `predecessor_session_id: ${SUCCESSOR}\nbaton: null\n`,
};

function sealOver(records) {
  const root = rootOf(records.map(({ file }) => leafOf(file)));
  return `tree_size: ${records.length}\nroot: ${root.toString('hex')}\n`;
}

const lock = (token) => ({ more: `lock:\n  task: P0.1.1\n  token: ${token}\n` });
const inherited = { more: `inherited_from: ${SUCCESSOR}\n` };
const broken = (seq) => ({ code: 'chain_broken', seq });

export const chains = [
  chain('start, note, baton, seal', ['M39', 'M40', 'M42', 'M45'], [['start'], ['note'], ['baton'], ['seal']]),
  chain(
    'a session that continues another',
    ['M42', 'M44'],
    [
      ['pickup', inherited],
      ['note', inherited],
    ],
  ),
  chain(
    'a lock taken again',
    ['M46'],
    [
      ['start', lock(3)],
      ['note', lock(3)],
      ['note', lock(4)],
    ],
  ),
  chain('a number missing', ['M39'], [['start'], ['note', { seq: 3, clock: 2 }]], [broken(3)]),
  chain('a number twice', ['M39'], [['start'], ['note'], ['seal', { seq: 2, clock: 2, forks: true }]], [broken(2)]),
  chain('another predecessor', ['M40'], [['start'], ['note', { prev: DIGEST }]], [broken(2)]),
  chain('a predecessor of the first', ['M40'], [['start', { prev: DIGEST }]], [broken(1)]),
  chain('opened by a note', ['M42'], [['note']], [broken(1)]),
  chain('opened twice', ['M42'], [['start'], ['start']], [broken(2)]),
  chain('a clock that stands still', ['M41'], [['start'], ['note', { clock: 1 }]], [broken(2)]),
  chain('a note after the baton', ['M45'], [['start'], ['baton'], ['note']], [broken(3)]),
  chain('another session', ['M43'], [['start'], ['note', { session: SUCCESSOR }]], [broken(2)]),
  chain('an inheritance forgotten', ['M44'], [['pickup', inherited], ['note']], [broken(2)]),
  chain('an inheritance made up', ['M44'], [['start'], ['note', inherited]], [broken(2)]),
  chain(
    'a token that goes down',
    ['M46'],
    [
      ['start', lock(3)],
      ['note', lock(2)],
    ],
    [{ code: 'stale_token', seq: 2 }],
  ),
  chain(
    'a token that goes down later',
    ['M46'],
    [['start', lock(3)], ['note'], ['note', lock(2)]],
    [{ code: 'stale_token', seq: 3 }],
  ),
];
