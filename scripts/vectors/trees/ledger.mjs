import { proofs } from '../proofs.mjs';
import { donna } from '../signing.mjs';
import { POLICY } from '../world/documents.mjs';
import { GROUND, IDENTITIES } from '../world/ground.mjs';
import { ledger, sessionsOf, withLedger } from '../world/ledger.mjs';
import { error, ROOT } from '../world/verdict.mjs';
import { waived, work } from './holding.mjs';
import { cases, OTHER_ROOT, store, tree } from './making.mjs';

// Ledgers, proofs and the root.

const logged = { ...POLICY, ...IDENTITIES, ...work.files };
const seals = [work.of('seal').file];
const withTile = { ...logged, ...ledger(seals, sessionsOf(store, logged), { tile: [Buffer.alloc(32)] }) };
tree('a ledger with another hash in a tile', ['M84'], withTile, 10, [error('ledger_inconsistent', '.handoff/ledger')]);
const unsigned = { ...logged, ...ledger(seals, sessionsOf(store, logged), { keys: [donna] }) };
tree('a ledger that no maintainer signed', ['M83'], unsigned, 10, [error('ledger_inconsistent', '.handoff/ledger')]);
const surplus = { ...withLedger(store, logged, [work]), '.handoff/ledger/tile/1/000': Buffer.alloc(32) };
tree('a tile too many', ['M84'], surplus, 10, [error('ledger_inconsistent', '.handoff/ledger/tile/1/000')]);
const unsealed = { ...logged, ...waived.files };
const short = { ...unsealed, ...ledger(seals, sessionsOf(store, unsealed)) };
tree('a ledger that lacks a seal of the folder it names', ['M82'], short, 14, [
  error('ledger_inconsistent', '.handoff/ledger'),
]);

const wrongly = `.handoff/proofs/${OTHER_ROOT}.yaml`;
tree('a proof under the name of another record', ['M89'], { ...GROUND, [wrongly]: proofs[0].file }, 10, [
  error('proof_invalid', wrongly),
]);
const proved = `.handoff/proofs/${proofs[0].record.slice('sha256:'.length)}.yaml`;
tree(
  'a proof, and no maintainer whose key could have signed its ledger',
  ['M89', 'M92'],
  { ...POLICY, [proved]: proofs[0].file },
  2,
  [error('proof_invalid', proved)],
);

const { oid } = store.commit(GROUND, { message: 'another root' });
cases.push({ name: 'another root is pinned', rule: ['M33'], commit: oid, root: OTHER_ROOT, error: 'root_mismatch' });
const bare = store.commit({ '.handoff/tasks/P0.1.yaml': GROUND['.handoff/tasks/P0.1.yaml'] }, { message: 'no policy' });
cases.push({ name: 'no policy', rule: ['§7.6'], commit: bare.oid, root: ROOT, error: 'not_initialised' });
