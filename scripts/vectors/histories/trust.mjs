import { ada, ben, donna, eve } from '../signing.mjs';
import { after, afterTask, identity, nextPolicy, POLICY, task } from '../world/documents.mjs';
import { GROUND, IDENTITIES } from '../world/ground.mjs';
import { baton, session, start, thought } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { dropping, EMPTY, GROUND_COMMIT as G, history, NEW, on, open, records, work } from './making.mjs';

// SPEC §10.1, §10.2, and what §10.3 says of documents.

const identityOf = (name) => `.handoff/identities/${name}/identity.yaml`;
const taskOf = (id) => `.handoff/tasks/${id}.yaml`;
const OTHER = 'ab'.repeat(32);
const honest = work(G);

// ---- §10.1

const unjudged = on(EMPTY, NEW);
history('no policy, and none arrives', ['M93'], { base: EMPTY, head: unjudged, root: null });
history('no policy, and none arrives, where a root is given', ['M93'], { base: EMPTY, head: unjudged }, [
  error('not_initialised', '.handoff/policy'),
]);
history('the first policy', ['M66'], { base: EMPTY, head: on(EMPTY, GROUND) });
history('nothing was there', ['M66'], { base: null, head: G });
const strange = identity('donna', { signers: [eve] });
history(
  'the first policy, and an identity that a stranger signed in',
  ['M66'],
  { base: EMPTY, head: on(EMPTY, { ...POLICY, ...IDENTITIES, ...strange }) },
  [error('signer_unknown', identityOf('donna'))],
);
history('another root is pinned', ['M33', 'M67'], { base: G, head: honest.head, root: OTHER }, 'root_mismatch');

// ---- §10.2

const lax = nextPolicy(GROUND, { rules: [['required: true', 'required: false']] });
const relaxed = on(on(G, lax), NEW);
history(
  'a policy that asks for no writeback arrives with code',
  ['M67'],
  { base: G, head: relaxed },
  open(relaxed, 'src/new.ts'),
);
const free = on(G, lax);
history('the policy that was there asks for no writeback', ['M67'], { base: free, head: on(free, NEW) });

const asEve = { by: 'eve', key: eve };
const joins = (signers) => on(G, identity('eve', { keys: [[eve, 'active']], signers }));
history('an identity that arrives accounts for code', ['M67'], { base: G, head: work(joins([ada]), asEve).head });
const selfMade = work(joins([eve]), asEve);
history('an identity that signed itself in accounts for nothing', ['M67', 'M27'], { base: G, head: selfMade.head }, [
  error('signer_unknown', identityOf('eve')), // no maintainer has signed it
  error('signer_unknown', identityOf('eve')), // and somebody else has
  ...selfMade.said.records.map(({ path }) => error('signer_unknown', path)),
  ...open(selfMade.code, 'src/new.ts'),
]);

const revocation = identity('donna', { keys: [[donna, 'revoked']], ...after(GROUND, 'donna') });
const late = work(G);
history('a branch that left before a key was revoked', ['M67', 'M30'], { base: on(G, revocation), head: late.head }, [
  ...late.said.records.map(({ path }) => error('key_revoked', path)),
  ...open(late.code, 'src/new.ts'),
]);
const next = (more) => task('P0.1', { ...afterTask(GROUND, 'P0.1'), more });
history(
  'a file that both sides changed',
  ['M67', 'M68'],
  { base: on(G, next('priority: 1\n')), head: on(G, next('priority: 2\n')) },
  [error('record_changed', taskOf('P0.1'))],
);

// ---- Versions

const version = (files, number, change = {}) => ({
  ...identity('donna', { ...after(files, 'donna', number), ...change }),
});
const skipped = on(G, version(GROUND, 3));
history('an identity that skips a version', ['M69'], { base: G, head: skipped }, [
  error('policy_rollback', identityOf('donna')),
]);
const one = on(G, version(GROUND, 2));
const two = on(one, version(one.files, 3));
history('two versions of an identity, one after the other', ['M69'], { base: G, head: two });
const squashed = on(G, version(one.files, 3));
history('two versions of an identity, of which a squash has left one out', ['M69'], { base: G, head: squashed }, [
  error('policy_rollback', identityOf('donna')),
]);
history('a document that is taken away', ['M68'], { base: G, head: dropping(G, [taskOf('P0.1')]) }, [
  error('record_deleted', taskOf('P0.1')),
]);
const policed = on(G, nextPolicy(GROUND));
history(
  'a policy that is taken away',
  ['M68'],
  { base: policed, head: dropping(policed, ['.handoff/policy/0002.yaml']) },
  [error('record_deleted', '.handoff/policy/0002.yaml')],
);
const gone = on(G, revocation);
const back = on(gone, version(gone.files, 3));
history('a key that was revoked is active again', ['M69'], { base: gone, head: back }, [
  error('policy_rollback', identityOf('donna')),
]);

// ---- Who signs

const both = [ada, ben];
const roots = [
  ['ada', ada],
  ['ben', ben],
];
const strictly = { ...GROUND, ...nextPolicy(GROUND, { threshold: 2, roots, signers: both }) };
const strict = on(G, { ...strictly, ...identity('ada', { role: 'maintainer', signers: both }) });
const promoted = (signers) => on(strict, identity('con-1', { role: 'maintainer', ...after(GROUND, 'con-1'), signers }));
history('a maintainer whom the threshold signed', ['M26'], { base: strict, head: promoted(both) });
history('a maintainer below the threshold', ['M26'], { base: strict, head: promoted([ada]) }, [
  error('signer_unknown', identityOf('con-1')),
]);

const rotated = on(
  G,
  identity('ada', {
    role: 'maintainer',
    keys: [
      [ada, 'retired'],
      [ben, 'active'],
    ],
  }),
);
const hires = (signer) => on(rotated, identity('eve', { keys: [[eve, 'active']], signers: [signer] }));
history('an agent whom a retired key signed in', ['M27'], { base: rotated, head: hires(ada) }, [
  error('signer_not_entitled', identityOf('eve')),
]);
history('an agent whom the key after it signed in', ['M27'], { base: rotated, head: hires({ ...ben, label: 'ada' }) });

history('an agent is revoked', ['M30'], { base: G, head: on(G, revocation) });
const ofTwo = on(G, { ...identity('ben', { role: 'maintainer', keys: [[ben, 'active']] }) });
const laidDown = identity('ada', { role: 'maintainer', keys: [[ada, 'revoked']], ...after(GROUND, 'ada') });
const fallen = [identityOf('donna'), identityOf('con-1'), taskOf('P0.1'), taskOf('P0.2')];
history(
  'a maintainer lays down the key that signed others',
  ['M26', 'M30'],
  { base: ofTwo, head: on(ofTwo, laidDown) },
  [...fallen.map((path) => warning('key_revoked', path))],
);

const waits = '.handoff/policy/0002.pending.yaml';
const proposed = (signers) =>
  on(G, { [waits]: nextPolicy(GROUND, { threshold: 2, roots, signers })['.handoff/policy/0002.yaml'] });
history('a policy that a root principal proposes', ['M19'], { base: G, head: proposed([ada]) });
history('a policy that nobody proposes', ['M19'], { base: G, head: proposed([eve]) }, [error('signer_unknown', waits)]);

// ---- What a distrusted definition cannot say

const alone = on(ofTwo, { ...laidDown, ...identity('donna', { ...after(GROUND, 'donna'), signers: [ben] }) });
const code = on(alone, NEW);
const done = session(
  'the work',
  [
    start(),
    ['task', 'task_id: P0.1\nstatus: in_progress\n'],
    thought([code]),
    ['task', 'task_id: P0.1\nstatus: done\n'],
    baton(),
  ],
  { clock: 10 },
);
history('a task is done whose definition is distrusted', ['M73'], { base: alone, head: records(code, done) }, [
  error('key_revoked', done.records[3].path),
]);
