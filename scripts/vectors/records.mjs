import { sign as ed25519 } from 'node:crypto';
import { parse } from 'yaml';
import { REPO } from './documents.mjs';
import { AT, con, DIGEST, donna, eve, idOf, sign, TREE } from './signing.mjs';
import { consistency, leafOf, rootOf } from './tree.mjs';

const SESSION = '7c1f09aa-5b1e-4c3d-9f2a-0123456789ab';
export const SUCCESSOR = '1d9e44b2-0c0d-4e0f-8a1b-fedcba987654';
const COMMIT = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export function head(
  kind,
  { session = SESSION, identity = 'donna', seq = 1, prev = null, clock = seq, more = '' } = {},
) {
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
export function record(kind, front, { body = null, key = donna } = {}) {
  const [open, close] = body === null ? ['', ''] : ['---\n', `---\n${body}`];
  const signed = open + front + close;
  const line = `signature: ${sign(kind, signed, key).toString('base64')}\n`;
  return { kind, front, body, signed, file: open + front + line + close, key: key.label };
}

const LOCK = 'lock:\n  task: P0.1.1\n  token: 3\n';

/** Every key that a kind has, in a session that a person could have lived through. The seal is over what is before it. */
const STORY = {
  start: `intent: set up the package\ntask: P0.1.1\nbranch: main\nhead: null\n`,
  note: 'text: "npm and git are all it needs:\\n\\tno more"\nsecret_allowed: false\n',
  checkpoint: `text: before the rewrite\nbaton: sha256:${'0b'.repeat(32)}\nbranch: main\nhead: ${COMMIT}\nsecret_allowed: false\n`,
  decision: `title: Use YAML\nstatus: accepted\nsupersedes: ${DIGEST}\nsecret_allowed: false\n`,
  wip: 'key: reader\nstate: open\ntext: half of the scalars\nsecret_allowed: false\n',
  signal: 'to: con-1\ntype: request\ntext: please look at the vectors\nsecret_allowed: false\n',
  thought: `task_id: P0.1.1
branch: main
commit_sha: ${COMMIT}
tree: ${TREE}
patch_id: ${'5f'.repeat(32)}
commit_patch_ids:
  - ${'6e'.repeat(32)}
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
no_code: false
`,
  task: 'task_id: P0.1.1\nstatus: in_progress\nprogress: 80\nnotes: nearly there\nreason: the reader works\n',
  review: `task_id: P0.1.1\nverdict: approve\nthought: ${DIGEST}\ncommit_sha: ${COMMIT}\nchecked:\n  - the tests\ntext: good\n`,
  waiver: `commit_sha: ${COMMIT}\nreason: a typo in a comment\ntask_id: P0.1.1\n`,
  audit: 'intent: count every record\ntask_id: P0.1.1\n',
  release: `released_session_id: ${SUCCESSOR}\nreleased_identity: con-1\nreason: stale\n`,
  baton: `summary: half way\nreason: end of the day\ninjection_prompt: You continue the work of con-1. Read the handoff first.\nnext_agent: con-1\nfocus:\n  - P0.1.1\nbranch: main\nhead: ${COMMIT}\nsaved:\n  commit: ${COMMIT}\n  paths:\n    - src/reader.ts\n    - "a name # with a sign"\n  more: 3\nreconstructed: false\nsecret_allowed: false\n`,
};
const BODIES = {
  decision: 'People read it in reviews.\n\n---\n\nsignature: of nobody\n',
  baton: '# Current work\n\nHalf way there — «naïve» 🙂, and a tab:\t.\nNo line break at the end',
};

const story = {};
for (const [kind, own] of Object.entries(STORY)) {
  const before = Object.values(story);
  const prev = before.length === 0 ? null : idOf(before.at(-1).signed);
  const front = head(kind, { seq: before.length + 1, prev, more: kind === 'start' ? '' : LOCK }) + own;
  story[kind] = record(kind, front, { body: BODIES[kind] ?? null });
  if (kind === 'release') story['the first seal'] = sealOf(Object.values(story));
}
story.seal = sealOf(Object.values(story), 12);
story.pickup = record(
  'pickup',
  `${head('pickup', { session: SUCCESSOR, identity: 'con-1', clock: 16, more: `inherited_from: ${SESSION}\n` })}predecessor_session_id: ${SESSION}
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

function sealOf(records, after = null) {
  const leaves = records.map(({ file }) => leafOf(file));
  const previous = after === null ? '' : previousOf(leaves, after);
  const own = `tree_size: ${leaves.length}\nroot: ${rootOf(leaves).toString('hex')}\n${previous}`;
  const prev = idOf(records.at(-1).signed);
  return record('seal', head('seal', { seq: records.length + 1, prev, more: LOCK }) + own);
}

function previousOf(leaves, after) {
  const proof = consistency(leaves, after).map((node) => `    - ${node.toString('hex')}\n`);
  const root = rootOf(leaves.slice(0, after)).toString('hex');
  return `previous:\n  tree_size: ${after}\n  root: ${root}\n  proof:\n${proof.join('')}`;
}

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
export const note = record('note', `${NOTE}text: a note\n`);
const decisionFront = `${head('decision', { seq: 2, prev: DIGEST })}title: Use YAML\nstatus: accepted\n`;
export const decision = record('decision', decisionFront, { body: 'Because.\n' });
const noteOf = (more) => record('note', `${NOTE}${more}`);
const refusedNote = (name, rule, more, result) => refused(name, rule, noteOf(more).file, result);
const cut = (file) => file.replace(/signature: .*\n/, '');

export const records = [
  ...Object.entries(story).map(([kind, made]) => validRecord(kind, ['M15', 'M16'], made)),
  validRecord('extension keys are kept and signed', ['M15'], noteOf('text: hi\nx_tool: vim\nx_n: 12\n')),
  validRecord('scalars are typed by the schema', ['M14'], noteOf('text: 010\nx_text: "no"\n'), {
    ...parse(NOTE),
    text: '010',
    x_text: 'no',
  }),
  validRecord(
    'front matter ends at the first line of dashes',
    ['M8'],
    record('decision', decisionFront, { body: '---\n---\n' }),
  ),
  validRecord('an empty body', ['M8'], record('decision', decisionFront, { body: '' })),
  refusedNote('an odd scalar where no schema speaks', ['M14'], 'text: hi\nx_n: 010\n', 'schema_invalid'),
  // no schema types a scalar where it wants a map, so M14 comes with the YAML: SPEC §7.6
  refusedNote(
    'an odd scalar where a map should be, and a key twice',
    ['M13', 'M14'],
    'lock: 5.\ntext: hi\ntext: ho\n',
    'schema_invalid',
  ),
  refusedNote('an unknown key', ['M15'], 'text: hi\ncolour: blue\n', 'schema_invalid'),
  refusedNote('a missing key', ['M15'], 'x_text: hi\n', 'schema_invalid'),
  refusedNote('a key twice', ['M13'], 'text: hi\ntext: ho\n', 'yaml_invalid'),
  refusedNote('a comment', ['M12'], '# hi\ntext: hi\n', 'yaml_invalid'),
  refusedNote('an anchor', ['M12'], 'text: &a hi\n', 'yaml_invalid'),
  refusedNote('a block scalar', ['M12'], 'text: |\n  hi\n', 'yaml_invalid'),
  refusedNote('a right-to-left override', ['M7'], 'text: hi \u202e there\n', 'bytes_invalid'),
  refusedNote('a tab in a quoted scalar', ['M12'], 'text: "a\tb"\n', 'yaml_invalid'),
  // of several faults the code of the first check: SPEC §7.6
  refusedNote('a tab after a right-to-left override', ['M7', 'M12'], 'text: "\u202e\t"\n', 'yaml_invalid'),
  refusedNote('a comment before a right-to-left override', ['M7', 'M12'], '# hi\ntext: "\u202e"\n', 'bytes_invalid'),
  refusedNote('an unknown key, and an anchor', ['M12', 'M15'], 'colour: blue\ntext: &a hi\n', 'yaml_invalid'),
  refused('an anchor, and no signature', ['M12', 'M16'], cut(noteOf('text: &a hi\n').file), 'signature_invalid'),
  refused(
    'an unknown key, and a signature by someone else',
    ['M15', 'M35'],
    record('note', `${NOTE}text: hi\ncolour: blue\n`, { key: eve }).file,
    'schema_invalid',
  ),
  refused('a byte order mark', ['M5'], `\ufeff${note.file}`, 'bytes_invalid'),
  refused('CRLF', ['M5'], note.file.replaceAll('\n', '\r\n'), 'bytes_invalid'),
  refused('NUL', ['M5'], note.file.replace('a note', 'a\0note'), 'bytes_invalid'),
  refused('no UTF-8', ['M5'], Buffer.from(note.file.replace('a note', 'a \xff note'), 'latin1'), 'bytes_invalid'),
  refused(
    'another version',
    ['M11'],
    record('note', `${NOTE.replace('handoff: 1', 'handoff: 2')}text: hi\n`).file,
    'schema_invalid',
  ),
  refused(
    'an unknown kind',
    ['M11'],
    record('poem', `${NOTE.replace('kind: note', 'kind: poem')}text: hi\n`).file,
    'schema_invalid',
  ),
  refused(
    'the kind is not the second line',
    ['M10'],
    record('note', `${NOTE.replace('kind:', 'x_a: 1\nkind:')}text: hi\n`).file,
    'yaml_invalid',
  ),
  refused('a note as Markdown', ['M9'], record('note', `${NOTE}text: hi\n`, { body: '' }).file, 'schema_invalid'),
  refused('a decision as YAML', ['M9'], record('decision', decisionFront).file, 'schema_invalid'),
  refused('a first line of ---js', ['M8'], decision.file.replace('---', '---js'), 'yaml_invalid'),
  refused(
    'a closing line of dashes without a line end',
    ['M8'],
    record('decision', decisionFront, { body: '' }).file.slice(0, -1),
    'yaml_invalid',
  ),
  refused('a first line with a space', ['M8'], decision.file.replace('---', '--- '), 'yaml_invalid'),
  refused('no signature', ['M16'], cut(note.file), 'signature_invalid'),
  refused(
    'a signature that is not last',
    ['M16'],
    note.file.replace(/(text: .*\n)(signature: .*\n)/, '$2$1'),
    'signature_invalid',
  ),
  refused('a signature twice', ['M16'], note.file + note.file.slice(-100), 'schema_invalid'),
  refused('base64 with bits to spare', ['M16'], spareBits(note.file), 'signature_invalid'),
  refused('a changed field', ['M18'], note.file.replace('a note', 'a Note'), 'signature_invalid'),
  refused('a changed body', ['M18'], decision.file.replace('Because', 'because'), 'signature_invalid'),
  refused(
    'signed as another kind',
    ['M17'],
    withSignature(note, sign('audit', note.signed, donna)),
    'signature_invalid',
  ),
  refused(
    'signed by someone else',
    ['M18', 'M35'],
    withSignature(note, sign('note', note.signed, eve)),
    'signature_invalid',
  ),
  refused(
    'signed without SSHSIG',
    ['M17'],
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
