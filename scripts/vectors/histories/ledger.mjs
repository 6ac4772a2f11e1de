import { ada, ben, donna } from '../signing.mjs';
import { after, identity } from '../world/documents.mjs';
import { withLedger } from '../world/ledger.mjs';
import { baton, note, seal, session, start } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { dropping, GROUND_COMMIT as G, history, on, records, store } from './making.mjs';

// SPEC §11.4.

const sealed = (name, clock) => session(name, [start(), note(name), baton(), seal()], { clock });
const [one, two, three] = ['one', 'two', 'three'].map((name, at) => sealed(name, 10 + 10 * at));
const LEDGER = '.handoff/ledger';
const rewritten = (commit) => [error('ledger_rewritten', LEDGER, commit)];
const ledgerFiles = ({ files }) => Object.keys(files).filter((path) => path.startsWith(`${LEDGER}/`));

/** A commit whose ledger has these seals. Where it grows, the tiles have other names. */
function append(parent, sessions, options) {
  const files = withLedger(store, parent.files, sessions, options);
  return store.commit(files, { parents: [parent], message: 'append' });
}

/** What `main` is at: a sealed session, and a ledger that has it. */
const main = append(records(G, one), [one]);

// ---- M85: what takes the place of a protected branch

const grown = append(records(main, two), [one, two]);
history('the ledger grows by what was sealed', ['M85'], { base: main, head: grown, push: true });
history(
  'a seal that the tree does not have',
  ['M85'],
  { base: main, head: append(main, [one, two]), push: true },
  rewritten(),
);
const both = records(main, two, three);
history(
  'a seal is left out of the folder that it names',
  ['M85'],
  { base: main, head: append(both, [one, three]), push: true },
  rewritten(),
);
history(
  'the ledger begins otherwise',
  ['M85'],
  { base: main, head: append(records(main, two), [two, one]), push: true },
  rewritten(),
);
history('a seal twice', ['M85'], { base: main, head: append(main, [one, one]), push: true }, rewritten());
history('the ledger is smaller', ['M85'], { base: grown, head: append(grown, [one]), push: true }, rewritten());
const byAgent = append(records(main, two), [one, two], { keys: [donna] });
history('an agent signs the ledger', ['M83', 'M85'], { base: main, head: byAgent, push: true }, rewritten());
history(
  'the ledger is taken away',
  ['M85'],
  { base: main, head: dropping(main, ledgerFiles(main)), push: true },
  rewritten(),
);
const away = dropping(main, ledgerFiles(main), { message: 'away' });
history(
  'the ledger is taken away, and comes back',
  ['M85'],
  { base: main, head: append(away, [one]), push: true },
  rewritten(away),
);

const ofTwo = {
  role: 'maintainer',
  keys: [
    [ada, 'active'],
    [ben, 'active'],
  ],
};
const signers = [ada, { ...ben, label: 'ada' }];
const keyed = append(records(on(G, { ...identity('ada', ofTwo), ...identity('donna', { signers }) }), one), [one]);
const more = records(keyed, two);
const signedMore = append(keyed, [one], { keys: [ada, ben] });
history('a signature more under the same text', ['M85'], { base: keyed, head: signedMore, push: true });
history(
  'a signature less under the same text',
  ['M85'],
  { base: signedMore, head: append(signedMore, [one]), push: true },
  rewritten(),
);
const revokes = identity('ada', {
  ...ofTwo,
  keys: [
    [ada, 'revoked'],
    [ben, 'active'],
  ],
  ...after(keyed.files, 'ada'),
});
const last = append(more, [one, two]);
const fallen = ['identities/con-1/identity.yaml', 'tasks/P0.1.yaml', 'tasks/P0.2.yaml'];
history(
  'a key signs the ledger, and is revoked in the same push',
  ['M85'],
  { base: keyed, head: append(on(last, revokes), [one, two], { keys: [ben] }), push: true },
  fallen.map((path) => warning('key_revoked', `.handoff/${path}`)),
);
const retires = identity('ada', {
  ...ofTwo,
  keys: [
    [ada, 'retired'],
    [ben, 'active'],
  ],
  ...after(keyed.files, 'ada'),
});
const retired = on(keyed, retires);
const grows = (keys) => append(records(retired, two), [one, two], { keys });
const late = grows([ada]);
history('a retired key signs the ledger', ['M85'], { base: retired, head: late, push: true }, rewritten(late));
history('the key after it signs the ledger', ['M85'], { base: retired, head: grows([ben]), push: true });
const together = append(on(more, retires), [one, two]);
history('a rotation and an append come together', ['M85'], { base: keyed, head: together, push: true });

// ---- M86: a branch that is to be merged

const branch = records(main, two);
const appended = append(branch, [one, two]);
history('a branch that is to be merged has the ledger grow', ['M86'], { base: main, head: appended }, rewritten());
/** With the ledger of `main` again. */
function putBack(parent) {
  const files = Object.entries(parent.files).filter(([path]) => !path.startsWith(`${LEDGER}/`));
  const old = ledgerFiles(main).map((path) => [path, main.files[path]]);
  return store.commit(Object.fromEntries([...files, ...old]), { parents: [parent], message: 'put back' });
}
const taken = putBack(appended);
history('a branch that is to be merged takes the ledger away', ['M85', 'M86'], { base: main, head: away }, [
  ...rewritten(), // M86
  ...rewritten(), // M85
]);
history('the branch takes that back', ['M86'], { base: main, head: taken }, rewritten(appended));
const twice = putBack(append(taken, [one, two]));
history('it does so twice: the oldest is named', ['M86'], { base: main, head: twice }, rewritten(appended));
history('main has the ledger grow, and the branch leaves it', ['M86'], { base: grown, head: records(main, three) });

/** What `main` became meanwhile is merged in, and its ledger with it. */
function merging(side) {
  const files = {
    ...grown.files,
    ...Object.fromEntries(Object.entries(side.files).filter(([path]) => !path.startsWith(LEDGER))),
  };
  return store.commit(files, { parents: [side, grown], message: 'merge main' });
}
const merge = merging(records(main, three));
history('main has the ledger grow, and is merged into the branch', ['M86'], { base: grown, head: merge });
history(
  'the branch changes it after that',
  ['M86'],
  { base: grown, head: append(merge, [one, two, three]) },
  rewritten(),
);
const before = merging(append(records(main, three), [one, three]));
history('the branch had changed it before that', ['M86'], { base: grown, head: before });
history('the same as a push', ['M85'], { base: grown, head: before, push: true }, rewritten(before));
history('main was merged into what is pushed', ['M85'], { base: grown, head: merge, push: true });
