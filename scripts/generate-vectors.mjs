// Writes protocol/vectors. Uses nothing of src, on purpose: the texts are spelled out, put together and signed here, so that
// the vectors check the code instead of repeating it. Keys, times and ids are fixed: every run writes the same bytes.
import { createHash, createPrivateKey, createPublicKey, sign as ed25519 } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = values.out ?? join(import.meta.dirname, '../protocol/vectors');

// --- keys -----------------------------------------------------------------------------------------------------------

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const keys = Object.fromEntries(['ada', 'ben', 'donna', 'con-1', 'eve'].map((label) => [label, makeKey(label)]));

function makeKey(label) {
  const seed = hash('sha256', `git-handoff vector key ${label}`);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const bytes = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x, 'base64url');
  const blob = strings('ssh-ed25519', bytes);
  const fingerprint = `SHA256:${hash('sha256', blob).toString('base64').replace(/=+$/, '')}`;
  return { label, seed, privateKey, bytes, line: `ssh-ed25519 ${blob.toString('base64')}`, fingerprint };
}

// --- signing --------------------------------------------------------------------------------------------------------

function hash(algorithm, data) {
  return createHash(algorithm).update(data).digest();
}

/** SSH strings: a big-endian length, then the bytes. */
function strings(...parts) {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}

function message(kind, signed, namespace = `git-handoff/v1/${kind}`) {
  return Buffer.concat([Buffer.from('SSHSIG'), strings(namespace, '', 'sha512', hash('sha512', signed))]);
}

function sign(kind, signed, key) {
  return ed25519(null, message(kind, signed), key.privateKey);
}

function idOf(signed) {
  return `sha256:${hash('sha256', signed).toString('hex')}`;
}

function armour({ bytes }, kind, signature) {
  const fields = strings(
    strings('ssh-ed25519', bytes),
    `git-handoff/v1/${kind}`,
    '',
    'sha512',
    strings('ssh-ed25519', signature),
  );
  const base64 = Buffer.concat([Buffer.from('SSHSIG\0\0\0\x01', 'latin1'), fields]).toString('base64');
  return `-----BEGIN SSH SIGNATURE-----\n${base64.match(/.{1,70}/g).join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

// --- documents ------------------------------------------------------------------------------------------------------

const AT = '2026-02-20T14:30:25.123Z';

function signerLine(kind, signed, key, name = key.label) {
  return `  - ${name} ${key.fingerprint} ${sign(kind, signed, key).toString('base64')}\n`;
}

function document(kind, text, signers) {
  const lines = signers.map((key) => signerLine(kind, text, key));
  return { kind, signed: text, file: `${text}signatures:\n${lines.join('')}`, keys: signers.map(({ label }) => label) };
}

function policyText({ version, prev, repo, nonce, threshold, roots }) {
  const lines = roots.map(([name, key]) => `    - ${name} ${key.line}\n`).join('');
  return `handoff: 1
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
}

const { ada, ben, donna, eve, 'con-1': con } = keys;
const NONCE = '000102030405060708090a0b0c0d0e0f';
const genesis = { version: 1, prev: null, repo: null, nonce: NONCE, threshold: 1, roots: [['ada', ada]] };
const policy1 = document('policy', policyText(genesis), [ada]);
const REPO = idOf(policy1.signed).slice('sha256:'.length);
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

function identityText(name, role, listed) {
  const lines = listed.map(([key, state]) => `  - key: ${key.line}\n    state: ${state}\n`).join('');
  return `handoff: 1
kind: identity
repo: ${REPO}
version: 1
prev: null
at: ${AT}
name: ${name}
role: ${role}
keys:
${lines}`;
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

// --- records --------------------------------------------------------------------------------------------------------

const SESSION = '7c1f09aa-5b1e-4c3d-9f2a-0123456789ab';
const SUCCESSOR = '1d9e44b2-0c0d-4e0f-8a1b-fedcba987654';
const COMMIT = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const TREE = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
const DIGEST = idOf('some output\n');

function head(kind, { session = SESSION, identity = 'donna', seq = 1, prev = null, clock = seq, more = '' } = {}) {
  return `handoff: 1
kind: ${kind}
repo: ${REPO}
session_id: ${session}
identity: ${identity}
seq: ${seq}
prev: ${prev}
clock: ${clock}
at: ${AT}
${more}`;
}

/** A record from its front matter; `body` makes it Markdown. */
function record(kind, front, { body = null, key = donna } = {}) {
  const [open, close] = body === null ? ['', ''] : ['---\n', `---\n${body}`];
  const signed = open + front + close;
  const line = `signature: ${sign(kind, signed, key).toString('base64')}\n`;
  return { kind, front, body, signed, file: open + front + line + close, key: key.label };
}

const LOCK = 'lock:\n  task: P0.1.1\n  token: 3\n';

/** Every key that a kind has, in a session that a person could have lived through. The seal is over what is before it. */
const STORY = {
  start: `intent: set up the package\ntask: P0.1.1\nbranch: main\nhead: null\n`,
  note: 'text: "npm and git are all it needs:\\n\\tno more"\n',
  checkpoint: `text: before the rewrite\nbranch: main\nhead: ${COMMIT}\n`,
  decision: `title: Use YAML\nstatus: accepted\nsupersedes: ${DIGEST}\n`,
  wip: 'key: reader\nstate: open\ntext: half of the scalars\n',
  signal: 'to: con-1\ntype: request\ntext: please look at the vectors\n',
  thought: `task_id: P0.1.1
branch: main
commit_sha: ${COMMIT}
tree: ${TREE}
patch_id: ${COMMIT}
tests_run:
  - npm test
evidence:
  - command:
      - npm
      - test
    exit_code: 0
    duration_ms: 1234
    tree: ${TREE}
    output_digest: ${DIGEST}
summary: The strict reader reads what the writer writes.
blockers:
  - what: no ssh-keygen on Windows
    id: "12"
files_changed:
  - src/core/yaml.ts
related_thought_records: []
`,
  task: 'task_id: P0.1.1\nstatus: in_progress\nprogress: 80\nnotes: nearly there\nreason: the reader works\n',
  review: `task_id: P0.1.1\nverdict: approve\nthought: ${DIGEST}\ncommit_sha: ${COMMIT}\nchecked:\n  - the tests\ntext: good\n`,
  waiver: `commit_sha: ${COMMIT}\nreason: a typo in a comment\ntask_id: P0.1.1\n`,
  audit: 'intent: count every record\ntask_id: P0.1.1\n',
  release: `released_session_id: ${SUCCESSOR}\nreleased_identity: con-1\nreason: stale\n`,
  baton: `summary: half way\nreason: end of the day\nnext_agent: con-1\nfocus:\n  - P0.1.1\nbranch: main\nhead: ${COMMIT}\nsecret_allowed: false\n`,
};
const BODIES = {
  decision: 'People read it in reviews.\n\n---\n\nsignature: of nobody\n',
  baton: '# Current work\n\nHalf way there — «naïve» 🙂, and a tab:\t.\nNo line break at the end',
};

const story = {};
for (const [index, [kind, own]] of Object.entries(STORY).entries()) {
  const prev = index === 0 ? null : idOf(Object.values(story).at(-1).signed);
  const front = head(kind, { seq: index + 1, prev, more: kind === 'start' ? '' : LOCK }) + own;
  story[kind] = record(kind, front, { body: BODIES[kind] ?? null });
}
story.seal = sealOf(Object.values(story));
story.pickup = record(
  'pickup',
  `${head('pickup', { session: SUCCESSOR, identity: 'con-1', clock: 15, more: `inherited_from: ${SESSION}\n` })}predecessor_session_id: ${SESSION}
baton: ${idOf(story.baton.signed)}
task: P0.1.1
branch: main
head: ${COMMIT}
abandoned: false
signals:
  - ${idOf(story.signal.signed)}
released:
  - session_id: ${SESSION}
    identity: donna
    reason: wrapped
reason: to go on
`,
  { key: con },
);

function sealOf(records) {
  const leaves = records.map(({ file }) => hash('sha256', Buffer.concat([Buffer.of(0), Buffer.from(file)])));
  const previous = `previous:\n  tree_size: 1\n  root: ${leaves[0].toString('hex')}\n  proof:\n${consistency(leaves)
    .map((node) => `    - ${node.toString('hex')}\n`)
    .join('')}`;
  const own = `tree_size: ${leaves.length}\nroot: ${rootOf(leaves).toString('hex')}\n${previous}`;
  const prev = idOf(records.at(-1).signed);
  return record('seal', head('seal', { seq: records.length + 1, prev, more: LOCK }) + own);
}

/** RFC 6962 §2.1, as it is written there. */
function rootOf(leaves) {
  if (leaves.length === 1) return leaves[0];
  const k = split(leaves.length);
  return hash('sha256', Buffer.concat([Buffer.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k))]));
}

/** RFC 6962 §2.1.2, from the tree of the first leaf. */
function consistency(leaves) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return [...consistency(leaves.slice(0, k)), rootOf(leaves.slice(k))];
}

function split(size) {
  return 2 ** Math.floor(Math.log2(size - 1));
}

// --- cases: records -------------------------------------------------------------------------------------------------

function validRecord(name, rule, made, fields) {
  const { kind, front, body, signed, file, key } = made;
  return { name, rule, file, key, result: 'valid', kind, id: idOf(signed), body, fields: fields ?? parse(front) };
}

/** `file` is text or, where it is no UTF-8, bytes. */
function refused(name, rule, file, result, key = 'donna') {
  const content = typeof file === 'string' ? { file } : { file_base64: file.toString('base64') };
  return { name, rule, ...content, key, result };
}

const NOTE = head('note', { seq: 2, prev: DIGEST });
const note = record('note', `${NOTE}text: a note\n`);
const decisionFront = `${head('decision', { seq: 2, prev: DIGEST })}title: Use YAML\nstatus: accepted\n`;
const decision = record('decision', decisionFront, { body: 'Because.\n' });
const noteOf = (more) => record('note', `${NOTE}${more}`);
const refusedNote = (name, rule, more, result) => refused(name, rule, noteOf(more).file, result);
const cut = (file) => file.replace(/signature: .*\n/, '');

const records = [
  ...Object.entries(story).map(([kind, made]) => validRecord(kind, ['3', '4.1'], made)),
  validRecord('extension keys are kept and signed', ['3.4'], noteOf('text: hi\nx_tool: vim\nx_n: 12\n')),
  validRecord('scalars are typed by the schema', ['3.5'], noteOf('text: 010\nx_text: "no"\n'), {
    ...parse(NOTE),
    text: '010',
    x_text: 'no',
  }),
  validRecord(
    'front matter ends at the first line of dashes',
    ['3.2'],
    record('decision', decisionFront, { body: '---\n---\n' }),
  ),
  validRecord('an empty body', ['3.2'], record('decision', decisionFront, { body: '' })),
  refusedNote('an unknown key', ['3.4'], 'text: hi\ncolour: blue\n', 'schema_invalid'),
  refusedNote('a missing key', ['3.4'], 'x_text: hi\n', 'schema_invalid'),
  refusedNote('a key twice', ['3.5'], 'text: hi\ntext: ho\n', 'yaml_invalid'),
  refusedNote('a comment', ['3.5'], '# hi\ntext: hi\n', 'yaml_invalid'),
  refusedNote('an anchor', ['3.5'], 'text: &a hi\n', 'yaml_invalid'),
  refusedNote('a block scalar', ['3.5'], 'text: |\n  hi\n', 'yaml_invalid'),
  refusedNote('a right-to-left override', ['3.1'], 'text: hi \u202e there\n', 'bytes_invalid'),
  refused('a byte order mark', ['3.1'], `\ufeff${note.file}`, 'bytes_invalid'),
  refused('CRLF', ['3.1'], note.file.replaceAll('\n', '\r\n'), 'bytes_invalid'),
  refused('NUL', ['3.1'], note.file.replace('a note', 'a\0note'), 'bytes_invalid'),
  refused('no UTF-8', ['3.1'], Buffer.from(note.file.replace('a note', 'a \xff note'), 'latin1'), 'bytes_invalid'),
  refused(
    'another version',
    ['3.3'],
    record('note', `${NOTE.replace('handoff: 1', 'handoff: 2')}text: hi\n`).file,
    'schema_invalid',
  ),
  refused(
    'an unknown kind',
    ['3.3'],
    record('poem', `${NOTE.replace('kind: note', 'kind: poem')}text: hi\n`).file,
    'schema_invalid',
  ),
  refused(
    'the kind is not the second line',
    ['3.3'],
    record('note', `handoff: 1\nx_a: 1\nkind: note\n`).file,
    'yaml_invalid',
  ),
  refused('a note as Markdown', ['3.2'], record('note', `${NOTE}text: hi\n`, { body: '' }).file, 'schema_invalid'),
  refused('a decision as YAML', ['3.2'], record('decision', decisionFront).file, 'schema_invalid'),
  refused('a first line of ---js', ['3.2'], decision.file.replace('---', '---js'), 'yaml_invalid'),
  refused('a first line with a space', ['3.2'], decision.file.replace('---', '--- '), 'yaml_invalid'),
  refused('no signature', ['4.1'], cut(note.file), 'signature_invalid'),
  refused(
    'a signature that is not last',
    ['4.1'],
    note.file.replace(/(text: .*\n)(signature: .*\n)/, '$2$1'),
    'signature_invalid',
  ),
  refused('a signature twice', ['4.1'], note.file + note.file.slice(-100), 'schema_invalid'),
  refused('base64 with bits to spare', ['4.1'], spareBits(note.file), 'signature_invalid'),
  refused('a changed field', ['4.2'], note.file.replace('a note', 'a Note'), 'signature_invalid'),
  refused('a changed body', ['4.2'], decision.file.replace('Because', 'because'), 'signature_invalid'),
  refused(
    'signed as another kind',
    ['4.2'],
    withSignature(note, sign('audit', note.signed, donna)),
    'signature_invalid',
  ),
  refused('signed by someone else', ['4.3'], withSignature(note, sign('note', note.signed, eve)), 'signature_invalid'),
  refused(
    'signed without SSHSIG',
    ['4.2'],
    withSignature(note, ed25519(null, Buffer.from(note.signed), donna.privateKey)),
    'signature_invalid',
  ),
];

function withSignature({ signed }, signature) {
  return `${signed}signature: ${signature.toString('base64')}\n`;
}

/** The last character before the padding carries four bits that mean nothing; they must be zero. */
function spareBits(file) {
  const last = file.at(-4);
  const next = String.fromCharCode(last.charCodeAt(0) + 1);
  return `${file.slice(0, -4)}${next}==\n`;
}

// --- cases: documents -----------------------------------------------------------------------------------------------

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
const nextPolicy = (change, signers = [ada, ben]) => document('policy', policyText({ ...second, ...change }), signers);
const firstPolicy = (change, signers = [ada]) => document('policy', policyText({ ...genesis, ...change }), signers);
const twice = { kind: 'policy', signed: policy2.signed, file: document('policy', policy2.signed, [ada, ada]).file };
const renamed = {
  file: `${policy2.signed}signatures:\n${[ada, ada].map((key, i) => signerLine('policy', policy2.signed, key, ['ada', 'ben'][i])).join('')}`,
};

const documents = [
  validDocument('policy 1', ['5.1', '5.2'], policy1, asPolicy(null)),
  validDocument('policy 2', ['5.1', '5.2'], policy2, asPolicy('policy 1')),
  validDocument('maintainer', ['5.4'], maintainer, asMaintainer),
  validDocument('agent', ['5.4'], agent, asDocument),
  validDocument('project', ['5.4'], project, asDocument),
  validDocument('task-definition', ['5.4'], definition, asDocument),
  refusedDocument(
    'a threshold above the number of keys',
    ['5.1'],
    firstPolicy({ threshold: 2 }),
    asPolicy(null),
    'policy_invalid',
  ),
  refusedDocument(
    'a principal twice',
    ['5.1'],
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
    ['5.1'],
    firstPolicy({
      roots: [
        ['ada', ada],
        ['ben', ada],
      ],
    }),
    asPolicy(null),
    'policy_invalid',
  ),
  refusedDocument('a genesis without nonce', ['5.2'], firstPolicy({ nonce: null }), asPolicy(null), 'policy_invalid'),
  refusedDocument('a genesis nobody of it signed', ['5.2'], firstPolicy({}, [eve]), asPolicy(null), 'policy_invalid'),
  refusedDocument('a version skipped', ['5.2'], nextPolicy({ version: 3 }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('another predecessor', ['5.2'], nextPolicy({ prev: DIGEST }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('another repository', ['5.2'], nextPolicy({ repo: TREE }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('a second nonce', ['5.2'], nextPolicy({ nonce: NONCE }), asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument(
    'not the threshold of the new version',
    ['5.2'],
    nextPolicy({}, [ada]),
    asPolicy('policy 1'),
    'policy_invalid',
  ),
  refusedDocument(
    'not the threshold of the old version',
    ['5.2'],
    nextPolicy({}, [ben]),
    asPolicy('policy 1'),
    'policy_invalid',
  ),
  refusedDocument('one principal counted twice', ['5.2', '4.4'], twice, asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument('a key signs under another name', ['5.2', '4.4'], renamed, asPolicy('policy 1'), 'policy_invalid'),
  refusedDocument(
    'changed after it was signed',
    ['4.4'],
    { file: policy2.file.replace('900', '901') },
    asPolicy('policy 1'),
    'signature_invalid',
  ),
  refusedDocument('no signatures', ['4.4'], { file: project.signed }, asDocument, 'signature_invalid'),
  refusedDocument(
    'signatures of nobody',
    ['4.4'],
    { file: `${project.signed}signatures:\n` },
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'a key after the signatures',
    ['4.4'],
    { file: `${project.file}x_a: 1\n` },
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'a signature as of a record',
    ['4.4'],
    record('project', project.signed),
    asDocument,
    'signature_invalid',
  ),
  refusedDocument(
    'a maintainer below the threshold',
    ['5.4'],
    document('identity', maintainer.signed, [ada]),
    asMaintainer,
    'signer_unknown',
  ),
  refusedDocument(
    'an agent by a stranger',
    ['5.4'],
    document('identity', agentText, [eve]),
    asDocument,
    'signer_unknown',
  ),
  refusedDocument(
    'a bit of the signature flipped',
    ['4.3'],
    { file: flipSignature(agent.file) },
    asDocument,
    'signature_invalid',
  ),
];

function flipSignature(file) {
  const at = file.length - 50;
  return `${file.slice(0, at)}${file[at] === 'A' ? 'B' : 'A'}${file.slice(at + 1)}`;
}

// --- cases: signatures ----------------------------------------------------------------------------------------------

const L = 2n ** 252n + 27742317777372353535851937790883648493n;

function signatureCase(name, rule, made, change = {}) {
  const { kind, signed } = made;
  const key = keys[made.key ?? 'ada'];
  const signature = sign(kind, signed, key);
  const shown = { public_key: key.bytes, message: message(kind, signed), signature, ...change };
  return {
    name,
    rule,
    kind,
    signed_bytes: signed,
    id: idOf(signed),
    sha512: hash('sha512', signed).toString('hex'),
    ...Object.fromEntries(Object.entries(shown).map(([field, bytes]) => [field, bytes.toString('hex')])),
    ...(Object.keys(change).length === 0
      ? {
          namespace: `git-handoff/v1/${kind}`,
          fingerprint: key.fingerprint,
          sshsig: armour(key, kind, signature),
          result: 'valid',
        }
      : { result: 'signature_invalid' }),
  };
}

/** S + L satisfies the equation that S satisfies. */
function addL(signature) {
  return Buffer.concat([signature.subarray(0, 32), littleEndian(fromLittleEndian(signature.subarray(32)) + L)]);
}

/** With the neutral element as key, R = S·B satisfies the equation for every message. */
function forAnyMessage({ seed, bytes }) {
  const scalar = hash('sha512', seed).subarray(0, 32);
  scalar[0] &= 248;
  scalar[31] = (scalar[31] & 63) | 64;
  return Buffer.concat([bytes, littleEndian(fromLittleEndian(scalar) % L)]);
}

function fromLittleEndian(bytes) {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}

function littleEndian(value) {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
}

function flip(bytes, bit) {
  const flipped = Buffer.from(bytes);
  flipped[bit >> 3] ^= 1 << (bit & 7);
  return flipped;
}

const NEUTRAL = Buffer.from(`01${'00'.repeat(31)}`, 'hex');
const valid = sign('note', note.signed, donna);

const signatures = [
  signatureCase('a YAML record', ['2.3', '4.1', '4.2'], note),
  signatureCase('a Markdown record', ['2.3', '4.1', '4.2'], decision),
  signatureCase('a document', ['2.3', '4.2', '4.4'], policy1),
  signatureCase('the namespace of another kind', ['4.2'], note, { message: message('audit', note.signed) }),
  signatureCase('the namespace of another version', ['4.2'], note, {
    message: message('note', note.signed, 'git-handoff/v2/note'),
  }),
  signatureCase('another key', ['4.3'], note, { public_key: eve.bytes }),
  signatureCase('a bit of R flipped', ['4.3'], note, { signature: flip(valid, 9) }),
  signatureCase('a bit of S flipped', ['4.3'], note, { signature: flip(valid, 300) }),
  signatureCase('S + L', ['4.3'], note, { signature: addL(valid) }),
  signatureCase('a signature of 63 bytes', ['4.3'], note, { signature: valid.subarray(0, 63) }),
  signatureCase('a signature of 65 bytes', ['4.3'], note, { signature: Buffer.concat([valid, Buffer.of(0)]) }),
  signatureCase('a key of small order', ['4.3'], note, { public_key: NEUTRAL, signature: forAnyMessage(eve) }),
  signatureCase('R of small order', ['4.3'], note, { signature: Buffer.concat([NEUTRAL, valid.subarray(32)]) }),
  signatureCase('a key that is not canonical', ['4.3'], note, {
    public_key: Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex'),
  }),
];

// --- cases: chains --------------------------------------------------------------------------------------------------

/** Records as `[kind, change]`; each is linked to the one before, unless the change says otherwise. */
function chain(name, rule, steps, faults = []) {
  const made = [];
  for (const [index, [kind, { own, ...change } = {}]] of steps.entries()) {
    const before = made.at(-1);
    const front =
      head(kind, { seq: index + 1, prev: before ? idOf(before.signed) : null, ...change }) + (own ?? OWN[kind]);
    made.push(record(kind, front, { body: kind === 'baton' ? 'Done.\n' : null }));
  }
  return { name, rule, key: 'donna', files: made.map(({ file }) => file), faults };
}

const OWN = {
  start: '',
  note: 'text: hi\n',
  baton: '',
  seal: `tree_size: 1\nroot: ${TREE}\n`,
  pickup: `predecessor_session_id: ${SUCCESSOR}\nbaton: null\n`,
};
const lock = (token) => ({ more: `lock:\n  task: P0.1.1\n  token: ${token}\n` });
const inherited = { more: `inherited_from: ${SUCCESSOR}\n` };
const broken = (seq) => ({ code: 'chain_broken', seq });

const chains = [
  chain('start, note, baton, seal', ['6.4'], [['start'], ['note'], ['baton'], ['seal']]),
  chain(
    'a session that continues another',
    ['6.4'],
    [
      ['pickup', inherited],
      ['note', inherited],
    ],
  ),
  chain(
    'a lock taken again',
    ['6.5'],
    [
      ['start', lock(3)],
      ['note', lock(3)],
      ['note', lock(4)],
    ],
  ),
  chain('a number missing', ['6.4'], [['start'], ['note', { seq: 3, clock: 2 }]], [broken(3)]),
  chain('a number twice', ['6.4'], [['start'], ['note'], ['seal', { seq: 2, clock: 3 }]], [broken(2)]),
  chain('another predecessor', ['6.4'], [['start'], ['note', { prev: DIGEST }]], [broken(2)]),
  chain('a predecessor of the first', ['6.4'], [['start', { prev: DIGEST }]], [broken(1)]),
  chain('opened by a note', ['6.4'], [['note']], [broken(1)]),
  chain('opened twice', ['6.4'], [['start'], ['start']], [broken(2)]),
  chain('a clock that stands still', ['6.4'], [['start'], ['note', { clock: 1 }]], [broken(2)]),
  chain('a note after the baton', ['6.4'], [['start'], ['baton'], ['note']], [broken(3)]),
  chain('another session', ['6.4'], [['start'], ['note', { session: SUCCESSOR }]], [broken(2)]),
  chain('an inheritance forgotten', ['6.4'], [['pickup', inherited], ['note']], [broken(2)]),
  chain('an inheritance made up', ['6.4'], [['start'], ['note', inherited]], [broken(2)]),
  chain(
    'a token that goes down',
    ['6.5'],
    [
      ['start', lock(3)],
      ['note', lock(2)],
    ],
    [{ code: 'stale_token', seq: 2 }],
  ),
  chain(
    'a token that goes down later',
    ['6.5'],
    [['start', lock(3)], ['note'], ['note', lock(2)]],
    [{ code: 'stale_token', seq: 3 }],
  ),
];

// --- files ----------------------------------------------------------------------------------------------------------

const published = Object.values(keys).map(({ label, seed, bytes, line, fingerprint }) => {
  return { label, seed: seed.toString('hex'), public_key: bytes.toString('hex'), line, fingerprint };
});

mkdirSync(out, { recursive: true });
for (const [name, cases] of Object.entries({ keys: published, signatures, records, documents, chains })) {
  writeFileSync(join(out, `${name}.json`), `${JSON.stringify(cases, null, 1)}\n`);
}
