import { head, record } from './records.mjs';
import { hash, idOf } from './signing.mjs';
import { consistency, leafOf, rootOf } from './tree.mjs';

const hex = (bytes) => bytes.toString('hex');
const OTHER = '5e'.repeat(32);

/** What an honest seal over these files says; `after`: how many the seal before it is over. */
function claim(files, after) {
  const leaves = files.map(leafOf);
  const old = after && { tree_size: after, root: hex(rootOf(leaves.slice(0, after))) };
  const previous = after && { ...old, proof: consistency(leaves, after).map(hex) };
  return { tree_size: leaves.length, root: hex(rootOf(leaves)), previous };
}

function own({ tree_size, root, previous, more = '' }) {
  const proof =
    previous?.proof.length === 0 ? ' []\n' : `\n${previous?.proof.map((node) => `    - ${node}\n`).join('')}`;
  const before = previous
    ? `previous:\n  tree_size: ${previous.tree_size}\n  root: ${previous.root}\n  proof:${proof}`
    : '';
  return `tree_size: ${tree_size}\nroot: ${root}\n${before}${more}`;
}

/** Steps are texts of notes, or what makes a seal of the files before it. */
function session(name, rule, steps, faults = []) {
  const made = [];
  for (const [index, step] of ['start', ...steps].entries()) {
    const kind = index === 0 ? 'start' : typeof step === 'string' ? 'note' : 'seal';
    const files = made.map(({ file }) => file);
    const keys = { start: () => '', note: () => `text: ${step}\n`, seal: () => own(step(files)) };
    const prev = index === 0 ? null : idOf(made.at(-1).signed);
    made.push(record(kind, head(kind, { seq: index + 1, prev }) + keys[kind]()));
  }
  return { name, rule, key: 'donna', files: made.map(({ file }) => file), faults };
}

const seal = (after = null, change = (honest) => honest) => {
  return (files) => change(claim(files, after), files);
};
const previous = (change) => (honest) => ({ ...honest, previous: { ...honest.previous, ...change(honest.previous) } });
const broken = (...numbers) => numbers.map((seq) => ({ code: 'chain_broken', seq }));

/** The first seal of a session, wrong in one thing. */
const first = (name, change) => session(name, ['M76'], ['one', seal(null, change)], broken(3));
/** The second one. */
const second = (name, step) => session(name, ['M77'], ['one', seal(), 'two', step], broken(5));

export const seals = [
  session('a seal', ['M76'], ['one', seal()]),
  session(
    'three seals, two of them in a row',
    ['M76', 'M77'],
    ['one', seal(), 'two', 'three', seal(2), seal(5), 'four'],
  ),
  first('a size that leaves out the end', (_, files) => claim(files.slice(0, 1))),
  first('a size that is more than there is', (honest) => ({ ...honest, tree_size: 3 })),
  first('another root', (honest) => ({ ...honest, root: OTHER })),
  first('the root of records in another order', (_, files) => claim(files.toReversed())),
  first('the root of the signed bytes', (_, files) => claim(files.map((file) => file.replace(/signature: .*\n/, '')))),
  first('a root without the mark of leaves', (honest, files) => {
    return { ...honest, root: hex(rootOf(files.map((file) => hash('sha256', file)))) };
  }),
  session('a previous in the first seal', ['M77'], ['one', seal(1)], broken(3)),
  second('no previous in the second', seal()),
  second('previous of a tree that no seal is over', seal(1)),
  second(
    'previous of another size',
    seal(
      2,
      previous(() => ({ tree_size: 3 })),
    ),
  ),
  second(
    'previous with another root',
    seal(
      2,
      previous(() => ({ root: OTHER })),
    ),
  ),
  second(
    'a proof that was cut off',
    seal(
      2,
      previous(({ proof }) => ({ proof: proof.slice(0, -1) })),
    ),
  ),
  second(
    'a proof that was prolonged',
    seal(
      2,
      previous(({ proof }) => ({ proof: [...proof, OTHER] })),
    ),
  ),
  second(
    'a proof of something else',
    seal(
      2,
      previous(({ proof }) => ({ proof: proof.map(() => OTHER) })),
    ),
  ),
  session(
    'a wrong seal, and one that goes on from it',
    ['M76', 'M77'],
    [
      'one',
      seal(null, (honest) => ({ ...honest, root: OTHER })),
      seal(
        2,
        previous(() => ({ root: OTHER })),
      ),
    ],
    broken(3, 4),
  ),
];
