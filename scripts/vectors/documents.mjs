import { parse } from 'yaml';
import { AT, ada, ben, DIGEST, donna, eve, idOf, sign, TREE } from './signing.mjs';

function signerLine(kind, signed, key, name = key.label) {
  return `  - ${name} ${key.fingerprint} ${sign(kind, signed, key).toString('base64')}\n`;
}

export function document(kind, text, signers) {
  const lines = signers.map((key) => signerLine(kind, text, key));
  return { kind, signed: text, file: `${text}signatures:\n${lines.join('')}`, keys: signers.map(({ label }) => label) };
}

/** `rules` are texts that stand for others. */
export function policyText({ version, prev, repo, nonce, threshold, roots, rules = [] }) {
  const lines = roots.map(([name, key]) => `    - ${name} ${key.line}\n`).join('');
  const text = `handoff: 1
kind: policy
${repo ? `repo: ${repo}\n` : ''}version: ${version}
prev: ${prev}
at: ${AT}
${nonce ? `nonce: ${nonce}\n` : ''}root:
  threshold: ${threshold}
  keys:
${lines}protected:
  - refs/heads/main
writeback:
  required: true
  review: false
  open_sessions: warning
exempt:
  - docs/**
stale_after: 900
limits:
  record_bytes: 65536
  records_per_push: 10000
sections:
  - Current work
`;
  return rules.reduce((changed, [from, to]) => changed.replace(from, to), text);
}

const NONCE = '000102030405060708090a0b0c0d0e0f';
export const genesis = { version: 1, prev: null, repo: null, nonce: NONCE, threshold: 1, roots: [['ada', ada]] };
export const policy1 = document('policy', policyText(genesis), [ada]);
export const REPO = idOf(policy1.signed).slice('sha256:'.length);
const second = {
  version: 2,
  prev: idOf(policy1.signed),
  repo: REPO,
  nonce: null,
  threshold: 2,
  roots: [
    ['ada', ada],
    ['ben', ben],
  ],
};
const policy2 = document('policy', policyText(second), [ada, ben]);

/** Of keys: the key, its state and, where it has one, its cutoff. */
export function identityText(name, role, listed, { version = 1, prev = null } = {}) {
  const lines = listed.map(([key, state, cutoff]) => {
    return `  - key: ${key.line}\n    state: ${state}\n${cutoff === undefined ? '' : `    cutoff: ${cutoff}\n`}`;
  });
  return `handoff: 1
kind: identity
repo: ${REPO}
version: ${version}
prev: ${prev}
at: ${AT}
name: ${name}
role: ${role}
keys:
${lines.join('')}`;
}

const maintainer = document('identity', identityText('ada', 'maintainer', [[ada, 'active']]), [ada, ben]);
const agentText = `${identityText('donna', 'agent', [[donna, 'active']]).replace(
  'state: active\n',
  'state: active\n    cutoff: 7\n',
)}skill: ${idOf('# How donna works\n')}\n`;
const agent = document('identity', agentText, [ada]);

const project = document(
  'project',
  `handoff: 1
kind: project
repo: ${REPO}
version: 3
prev: ${idOf('an earlier version')}
at: ${AT}
name: git-handoff
phase: "P1: signed records"
reading:
  - README.md
  - docs/SPEC.md
x_colour: blue
`,
  [ada],
);

const definition = document(
  'task-definition',
  `handoff: 1
kind: task-definition
repo: ${REPO}
version: 1
prev: null
at: ${AT}
task_id: P0.1.1
title: Write the strict reader
depends_on:
  - P0.1
tags:
  - core
priority: 10
proof: seal
acceptance:
  - What the reader accepts, another reader reads alike
prompt: docs/prompts/reader.md
`,
  [ada],
);

function validDocument(name, rule, made, check) {
  const { kind, signed, file, keys: signers } = made;
  return { name, rule, file, check, result: 'valid', kind, id: idOf(signed), signers, fields: parse(signed) };
}

function refusedDocument(name, rule, { file }, check, result) {
  return { name, rule, file, check, result };
}

const asPolicy = (prior) => ({ as: 'policy', prior });
const asMaintainer = { as: 'maintainer', policy: 'policy 2' };
const asDocument = { as: 'document', maintainers: ['maintainer'] };
const AGENTS = (line) => ['sections:\n  - Current work\n', `sections:\n  - Current work\nagents:\n  ${line}\n`];
const nextPolicy = (change, signers = [ada, ben]) => document('policy', policyText({ ...second, ...change }), signers);
const firstPolicy = (change, signers = [ada]) => document('policy', policyText({ ...genesis, ...change }), signers);
const twice = { kind: 'policy', signed: policy2.signed, file: document('policy', policy2.signed, [ada, ada]).file };
const renamed = {
  file: `${policy2.signed}signatures:\n${[ada, ada].map((key, i) => signerLine('policy', policy2.signed, key, ['ada', 'ben'][i])).join('')}`,
};

export const documents = [
  validDocument('policy 1', ['M21', 'M22'], policy1, asPolicy(null)),
  validDocument('policy 2', ['M21', 'M23'], policy2, asPolicy('policy 1')),
  validDocument('a stop that is held', ['M23'], nextPolicy({ rules: [AGENTS('stop: block')] }), asPolicy('policy 1')),
  validDocument('maintainer', ['M26'], maintainer, asMaintainer),
  validDocument('agent', ['M27'], agent, asDocument),
  validDocument('project', ['M27'], project, asDocument),
  validDocument('task-definition', ['M27'], definition, asDocument),
  refusedDocument(
    'a threshold above the number of keys',
    ['M21'],
    firstPolicy({ threshold: 2 }),
    asPolicy(null),
    'policy_invalid',
  ),
  refusedDocument(
    'a principal twice',
    ['M21'],
    firstPolicy({
      roots: [
        ['ada', ada],
        ['ada', ben],
      ],
    }),
    asPolicy(null),
    'policy_invalid',
  ),
  refusedDocument(
    'a key under two names',
    ['M21'],
    firstPolicy({
      roots: [
        ['ada', ada],
        ['ben', ada],
      ],
    }),
    asPolicy(null),
    'policy_invalid',
  ),
  refusedDocument('a genesis without nonce', ['M22'], firstPolicy({ nonce: null }), asPolicy(null), 'policy_invalid'),
  refusedDocument('a genesis nobody of it signed', ['M22'], firstPolicy({}, [eve]), asPolicy(null), 'policy_invalid'),
  refusedDocument('a version skipped', ['M23'], nextPolicy({ version: 3 }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('another predecessor', ['M23'], nextPolicy({ prev: DIGEST }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('another repository', ['M23'], nextPolicy({ repo: TREE }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('a second nonce', ['M22'], nextPolicy({ nonce: NONCE }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument(
    'not the threshold of the new version',
    ['M23'],
    nextPolicy({}, [ada]),
    asPolicy('policy 1'),
    'policy_invalid',
  ),
  refusedDocument(
    'not the threshold of the old version',
    ['M23'],
    nextPolicy({}, [ben]),
    asPolicy('policy 1'),
    'policy_invalid',
  ),
  refusedDocument(
    'a stop that no word says',
    ['M15'],
    nextPolicy({ rules: [AGENTS('stop: never')] }),
    asPolicy('policy 1'),
    'schema_invalid',
  ),
  refusedDocument(
    'agents with another key',
    ['M15'],
    nextPolicy({ rules: [AGENTS('go: on')] }),
    asPolicy('policy 1'),
    'schema_invalid',
  ),
  refusedDocument('one key signs twice', ['M19'], twice, asPolicy('policy 1'), 'signature_invalid'),
  refusedDocument('a key signs under another name', ['M23'], renamed, asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument(
    'changed after it was signed',
    ['M28'],
    { file: policy2.file.replace('900', '901') },
    asPolicy('policy 1'),
    'signature_invalid',
  ),
  refusedDocument('no signatures', ['M19'], { file: project.signed }, asDocument, 'signature_invalid'),
  refusedDocument(
    'signatures of nobody',
    ['M19'],
    { file: `${project.signed}signatures:\n` },
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'a key after the signatures',
    ['M19'],
    { file: `${project.file}x_a: 1\n` },
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'two lines of signatures:',
    ['M19'],
    { file: `${project.file}signatures:\n${signerLine('project', project.signed, ben)}` },
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'a first version with a predecessor',
    ['M25'],
    maintainerWith('prev: null', `prev: ${DIGEST}`),
    asMaintainer,
    'schema_invalid',
  ),
  refusedDocument(
    'a second version without a predecessor',
    ['M25'],
    maintainerWith('version: 1', 'version: 2'),
    asMaintainer,
    'schema_invalid',
  ),
  // of two faults the code of the first check: SPEC §7.6
  refusedDocument(
    'a key twice in an identity that is below the threshold',
    ['M26', 'M29'],
    maintainerWith('keys:\n', `keys:\n  - key: ${ada.line}\n    state: revoked\n`, [ada]),
    asMaintainer,
    'signer_not_entitled',
  ),
  refusedDocument('a signature as of a record', ['M19'], asRecord(project), asDocument, 'signature_invalid'),
  refusedDocument(
    'a maintainer below the threshold',
    ['M26'],
    document('identity', maintainer.signed, [ada]),
    asMaintainer,
    'signer_unknown',
  ),
  refusedDocument(
    'an agent by a stranger',
    ['M27'],
    document('identity', agentText, [eve]),
    asDocument,
    'signer_unknown',
  ),
  refusedDocument(
    'a bit of the signature flipped',
    ['M28'],
    { file: flipSignature(agent.file) },
    asDocument,
    'signature_invalid',
  ),
];

function maintainerWith(from, to, signers = [ada, ben]) {
  return document('identity', maintainer.signed.replace(from, to), signers);
}

/** Signed well, but as records are. */
function asRecord({ kind, signed }) {
  return { file: `${signed}signature: ${sign(kind, signed, ada).toString('base64')}\n` };
}

function flipSignature(file) {
  const at = file.length - 50;
  return `${file.slice(0, at)}${file[at] === 'A' ? 'B' : 'A'}${file.slice(at + 1)}`;
}
