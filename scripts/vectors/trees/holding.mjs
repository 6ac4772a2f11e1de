import { proofs } from '../proofs.mjs';
import { donna, eve, idOf } from '../signing.mjs';
import { after, identity, nextPolicy, POLICY, project } from '../world/documents.mjs';
import { GROUND, IDENTITIES, STORY } from '../world/ground.mjs';
import { withLedger } from '../world/ledger.mjs';
import {
  baton,
  inherits,
  lock,
  note,
  pickup,
  review,
  says,
  seal,
  session,
  start,
  thought,
  waiver,
} from '../world/sessions.mjs';
import { warning } from '../world/verdict.mjs';
import { store, tree } from './making.mjs';

// Trees that hold, some of them with warnings.

const SKILL = '# How donna works\n';
const skill = '.handoff/identities/donna/skill.md';

tree('a policy, and nothing else', ['M22'], POLICY, 1);

export const code = store.commit({ 'src/app.ts': 'app\n' }, { message: 'code' });
export const work = session('the work', [
  start(lock(1)),
  ['note', 'text: hi\n', lock(1)],
  thought([code], { change: lock(1) }),
  says('done', lock(1)),
  baton(lock(1)),
  seal(lock(1)),
]);
const goesOn = session('goes on', [pickup(work), ['note', 'text: I go on\n', inherits(work)]], {
  by: 'con-1',
  clock: 10,
});
const reviewed = session('a review', [start(), review('approve', work.of('thought'))], { by: 'con-1', clock: 20 });
export const waived = session('a waiver', [start(), waiver(code), baton(), seal()], { by: 'ada', clock: 30 });
const whole = {
  ...GROUND,
  ...identity('donna', { skill: idOf(SKILL) }),
  [skill]: SKILL,
  ...project(),
  ...work.files,
  ...goesOn.files,
  ...reviewed.files,
  ...waived.files,
};
const second = { ...whole, ...nextPolicy(whole, { threshold: 1 }) };
const proof = { [`.handoff/proofs/${proofs[0].record.slice('sha256:'.length)}.yaml`]: proofs[0].file };
tree(
  'all that a tree may have',
  ['M2', 'M24', 'M31', 'M84', 'M89'],
  withLedger(store, { ...second, ...proof }, [work, waived]),
  27,
);

const pending = identity('con-1', { role: 'maintainer', ...after(GROUND, 'con-1'), signers: [eve] })[
  '.handoff/identities/con-1/identity.yaml'
];
const waits = '.handoff/identities/con-1/pending.yaml';
tree('an identity that waits: nobody asks whose signature it has', ['M2', 'M25'], { ...GROUND, [waits]: pending }, 10);

const revoked = identity('donna', { keys: [[donna, 'revoked']], ...after(GROUND, 'donna') });
tree('what a revoked key signed is a warning', ['M30'], { ...GROUND, ...revoked }, 9, [
  ...STORY.records.map(({ path: each }) => warning('key_revoked', each)),
]);

const sealed = session('sealed', [start(), note('hi'), seal(), note('later')]);
const cut = (cutoff) => identity('donna', { keys: [[donna, 'revoked', cutoff]], ...after(IDENTITIES, 'donna') });
const sealedFiles = (cutoff) =>
  withLedger(store, { ...POLICY, ...IDENTITIES, ...cut(cutoff), ...sealed.files }, [sealed]);
tree('what the ledger had sealed stands, and nothing after it', ['M30'], sealedFiles(1), 8, [
  warning('key_revoked', sealed.records[3].path),
]);
tree('nothing stands that was sealed after the cutoff', ['M30'], sealedFiles(0), 8, [
  ...sealed.records.map(({ path: each }) => warning('key_revoked', each)),
]);

const twin = session('a story', [start(), note('mine')], { by: 'con-1', clock: 10 });
tree('two identities, and a session of each with one id', ['M47'], { ...GROUND, ...twin.files }, 11);

export const tokens = (by, name, token, place) => session(name, [start(lock(token))], { by, clock: 10, ...place });
tree(
  'two identities, and one token',
  ['M48'],
  { ...GROUND, ...tokens('donna', 'one', 1).files, ...tokens('con-1', 'another', 1).files },
  11,
);
