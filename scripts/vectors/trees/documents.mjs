import { ada, ben, donna, eve, idOf } from '../signing.mjs';
import { after, identity, nextPolicy, POLICY, task, without } from '../world/documents.mjs';
import { GROUND, IDENTITIES, STORY } from '../world/ground.mjs';
import { session, start, waiver } from '../world/sessions.mjs';
import { error, warning } from '../world/verdict.mjs';
import { code } from './holding.mjs';
import { OTHER_ROOT, tree } from './making.mjs';

// Places, modes, names and documents that do not hold.

const SKILL = '# How donna works\n';
const path = { donna: '.handoff/identities/donna/identity.yaml', skill: '.handoff/identities/donna/skill.md' };

tree(
  'files that have no place',
  ['M2'],
  { ...GROUND, '.handoff/notes.txt': 'hi\n', '.handoff/tasks/P0.3.yml': GROUND['.handoff/tasks/P0.1.yaml'] },
  9,
  [error('path_mismatch', '.handoff/notes.txt'), error('path_mismatch', '.handoff/tasks/P0.3.yml')],
);

tree(
  'files and folders that have no place, or the place of the other',
  ['M2', 'M50'],
  {
    ...GROUND,
    '.handoff/drafts/next.md': 'hi\n',
    '.handoff/drafts/old.md': 'hi\n',
    '.handoff/ledger/drafts/next.md': 'hi\n',
    '.handoff/sessions/donna/20260220T143025-ffffffff': 'hi\n',
    '.handoff/tasks/P0.3.yaml/next.md': 'hi\n',
  },
  9,
  [
    error('path_mismatch', '.handoff/drafts'),
    error('ledger_inconsistent', '.handoff/ledger'),
    error('path_mismatch', '.handoff/ledger/drafts/next.md'),
    error('mode_invalid', '.handoff/sessions/donna/20260220T143025-ffffffff'),
    error('mode_invalid', '.handoff/tasks/P0.3.yaml'),
  ],
);

const moved = { mode: '120000', content: 'P0.1.yaml' };
const executable = { mode: '100755', content: GROUND[path.donna] };
tree(
  'a link, and an executable file',
  ['M50'],
  {
    ...without(GROUND, ...STORY.records.map(({ path: each }) => each)),
    [path.donna]: executable,
    '.handoff/tasks/P0.3.yaml': moved,
  },
  5,
  [error('mode_invalid', path.donna), error('mode_invalid', '.handoff/tasks/P0.3.yaml')],
);

tree(
  'names that are alike but for their case, and one like .handoff',
  ['M50', 'M52'],
  { ...GROUND, ...task('p0.1'), '.Handoff/policy/0001.yaml': 'x\n' },
  10,
  [error('name_lookalike', '.handoff/tasks/p0.1.yaml'), error('name_lookalike', '.Handoff')],
);

const two = [
  ['ada', ada],
  ['ben', ben],
];
const policy2 = nextPolicy(GROUND, { threshold: 2, roots: two, signers: [ada] });
tree('a policy below its threshold', ['M23', 'M24'], { ...GROUND, ...policy2 }, 10, [
  error('policy_invalid', '.handoff/policy/0002.yaml'),
]);
tree(
  'the first policy once more, as the second',
  ['M23', 'M24'],
  { ...GROUND, '.handoff/policy/0002.yaml': POLICY['.handoff/policy/0001.yaml'] },
  10,
  [error('policy_invalid', '.handoff/policy/0002.yaml')],
);
tree('a policy after a gap', ['M24'], { ...GROUND, ...nextPolicy(GROUND, { version: 3, number: 3 }) }, 10, [
  error('policy_invalid', '.handoff/policy/0003.yaml'),
]);
tree(
  'a first policy that does not hold: nothing else is judged',
  ['M22', 'M28'],
  {
    ...GROUND,
    '.handoff/policy/0001.yaml': POLICY['.handoff/policy/0001.yaml'].replace('900', '901'),
    '.handoff/ledger/next.md': 'hi\n',
    '.handoff/sessions/donna/next.md': 'hi\n',
    '.handoff/tasks/next.md': 'hi\n',
  },
  6,
  [error('signature_invalid', '.handoff/policy/0001.yaml'), error('path_mismatch', '.handoff/tasks/next.md')],
);

tree(
  'an identity that a stranger signed in, and its records',
  ['M27', 'M35'],
  { ...GROUND, ...identity('donna', { signers: [eve] }) },
  9,
  [error('signer_unknown', path.donna), ...STORY.records.map(({ path: each }) => error('signer_unknown', each))],
);

tree('a key of two identities', ['M29'], { ...GROUND, ...identity('erin', { keys: [[donna, 'active']] }) }, 10, [
  error('signer_not_entitled', '.handoff/identities/erin/identity.yaml'),
]);

const laidDown = identity('ada', { role: 'maintainer', keys: [[ada, 'revoked']], ...after(IDENTITIES, 'ada') });
const sharers = ['con-1', 'donna', 'erin'].map((name) => `.handoff/identities/${name}/identity.yaml`);
tree(
  'a key of two identities that are distrusted',
  ['M29', 'M30'],
  { ...POLICY, ...IDENTITIES, ...laidDown, ...identity('erin', { keys: [[donna, 'active']] }) },
  5,
  sharers.map((each) => warning('key_revoked', each)),
);

const byAgent = session('waives', [start(), waiver(code)], { clock: 10 });
const demoted = session('waived once', [start(), waiver(code)], { by: 'con-1', clock: 20 });
tree(
  'waivers of agents, of whom one may have been a maintainer',
  ['M36'],
  { ...GROUND, ...identity('con-1', after(GROUND, 'con-1')), ...byAgent.files, ...demoted.files },
  13,
  [error('signer_not_entitled', byAgent.of('waiver').path), warning('signer_not_entitled', demoted.of('waiver').path)],
);

tree(
  'documents with another skill, another repository, and no predecessor',
  ['M25', 'M31'],
  {
    ...GROUND,
    ...identity('donna', { skill: idOf(SKILL) }),
    [path.skill]: '# How eve works\n',
    ...task('P0.1', { repo: OTHER_ROOT }),
    ...task('P0.2', { version: 2 }),
  },
  10,
  [
    error('signature_invalid', path.skill),
    error('repo_mismatch', '.handoff/tasks/P0.1.yaml'),
    error('schema_invalid', '.handoff/tasks/P0.2.yaml'),
  ],
);
