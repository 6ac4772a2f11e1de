import { checkpointText, cosigned, LOG_KEY, ORIGIN, OTHER_KEY, signed, WITNESS_KEY } from './checkpoints.mjs';
import { REPO } from './documents.mjs';
import { head, record, SUCCESSOR } from './records.mjs';
import { RULES } from './rules.mjs';
import { con, donna, eve, idOf } from './signing.mjs';
import { inclusion, leafOf, rootOf } from './tree.mjs';

const OWN = { start: '', note: 'text: hi\n', baton: '' };
const BODY = '# Current work\n\nHalf way.  \n\n  - and an indent\n\n';

/** The records of a session and a seal over them; `root` and `size` are what the seal says where it lies. */
function session(id, { identity = 'donna', key = donna, repo = REPO, body = BODY, root, size = 3 } = {}) {
  const made = [];
  const add = (kind, own) => {
    const seq = made.length + 1;
    const prev = made.length === 0 ? null : idOf(made.at(-1).signed);
    const front = head(kind, { session: id, identity, seq, prev }).replace(REPO, repo) + own;
    const path = `.handoff/sessions/${identity}/20260220T143025-${id.slice(0, 8)}`;
    const name = `${String(seq).padStart(4, '0')}-${kind}.${kind === 'baton' ? 'md' : 'yaml'}`;
    made.push({ ...record(kind, front, { key, body: kind === 'baton' ? body : null }), path: `${path}/${name}`, key });
  };
  for (const [kind, own] of Object.entries(OWN)) add(kind, own);
  const tree = root ?? rootOf(made.map(({ file }) => leafOf(file))).toString('hex');
  add('seal', `tree_size: ${size}\nroot: ${tree}\n`);
  return made;
}

const IDS = ['7c1f09aa-5b1e-4c3d-9f2a-0123456789ab', SUCCESSOR, '2c1f09aa-5b1e-4c3d-9f2a-0123456789ab'];
const OURS = session(IDS[0]);
const OTHERS = [session(IDS[1], { identity: 'con-1', key: con }), session(IDS[2])];

/** The parts of a proof of one record of a session, whose seal is the first in the ledger. */
function partsOf(made, index, others = OTHERS) {
  const leaves = made.slice(0, -1).map(({ file }) => leafOf(file));
  const seal = made.at(-1);
  const seals = [seal, ...others.map((records) => records.at(-1))].map(({ file }) => leafOf(file));
  const isSeal = index === made.length - 1;
  return {
    repo: REPO,
    record: leafPart(made[index]),
    session: isSeal ? null : pathPart(leaves, index),
    seal: isSeal ? null : leafPart(seal),
    ledger: pathPart(seals, 0),
    vkey: LOG_KEY,
    note: noteOf({ size: seals.length, root: rootOf(seals) }),
  };
}

function noteOf(change, { key, name } = {}) {
  const text = checkpointText(change);
  return `${text}\n${signed(text, { key, name })}`;
}

function leafPart({ path, signed: bytes, key, file }) {
  return { path, id: idOf(bytes), key: key.line, file };
}

function pathPart(leaves, index) {
  return { index, size: leaves.length, siblings: inclusion(leaves, index).map((node) => node.toString('hex')) };
}

function write({ repo, record: leaf, session: path, seal, ledger, vkey, note }) {
  return [
    `handoff: 1\nkind: proof\nrepo: ${repo}\n# The record\nrecord:\n${leafText(leaf)}`,
    path === null ? '' : `# To the root in the seal\nsession:\n${pathText(path)}`,
    seal === null ? '' : `seal:\n${leafText(seal)}`,
    `# To the root in the checkpoint\nledger:\n${pathText(ledger)}`,
    `vkey: ${vkey}\n${literal('note', note, '')}`,
  ].join('');
}

function leafText({ path, id, key, file }) {
  return `  path: ${path}\n  id: ${id}\n  key: ${key}\n${literal('file', file, '  ')}`;
}

function pathText({ index, size, siblings }) {
  const list = siblings.length === 0 ? ' []\n' : `\n${siblings.map((hex) => `    - ${hex}\n`).join('')}`;
  return `  index: ${index}\n  size: ${size}\n  siblings:${list}`;
}

/** JSON's escapes are YAML's, for the hidden characters that are used here. */
function literal(key, text, pad) {
  if (/[\t\u200b\u202e]/.test(text)) {
    const quoted = JSON.stringify(text).replace(/[\u200b\u202e]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
    return `${pad}${key}: ${quoted}\n`;
  }
  const chomping = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const lines = text.replace(/\n$/, '').replace(/^(?=.)/gm, `${pad}  `);
  return `${pad}${key}: |${chomping}\n${lines}\n`;
}

const KEYS = { vkeys: [LOG_KEY], witnesses: [] };
const CHECKED = ['record', 'record_signature', 'session', 'seal_signature', 'ledger', 'checkpoint'];
const SEAL_CHECKED = ['record', 'record_signature', 'ledger', 'checkpoint'];

function valid(name, rule, parts, { checked = CHECKED, trusted = true, ...keys } = {}) {
  return {
    name,
    rule: [rule].flat().map((each) => RULES[each]),
    file: write(parts),
    ...KEYS,
    ...keys,
    result: 'valid',
    record: parts.record.id,
    checked,
    trusted,
  };
}

function refused(name, rule, parts, keys = {}) {
  return { name, rule: [RULES[rule]], file: write(parts), ...KEYS, ...keys, result: 'proof_invalid' };
}

function refusedFile(name, change) {
  return { name, rule: [RULES.file], file: change(write(NOTE)), ...KEYS, result: 'proof_invalid' };
}

const NOTE = partsOf(OURS, 1);
const SEAL = partsOf(OURS, 3);
const change = (parts, key, fields) => ({ ...parts, [key]: { ...parts[key], ...fields } });
const ofBody = (body) => partsOf(session(IDS[0], { body }), 2);
const sealedBy = (seal) => partsOf([...OURS.slice(0, 3), seal.at(-1)], 1);
const witnessed = NOTE.note + cosigned(NOTE.note.slice(0, NOTE.note.lastIndexOf('\n\n') + 1));
const ourRoot = rootOf(OURS.slice(0, 3).map(({ file }) => leafOf(file))).toString('hex');
const otherRoot = /root: (.*)/.exec(OTHERS[0].at(-1).file)[1];

export const proofs = [
  valid('a note', ['binding', 'session', 'ledger', 'keys'], NOTE),
  valid('a baton, and a text that ends in a blank line', 'file', partsOf(OURS, 2)),
  valid('a text without a line end', 'file', ofBody('no line end')),
  valid('a text with hidden characters', 'file', ofBody('a tab:\t and a right-to-left override: \u202e\n')),
  valid('a seal itself', 'binding', SEAL, { checked: SEAL_CHECKED }),
  valid('a ledger of one seal', 'ledger', partsOf(OURS, 1, [])),
  valid(
    'a witness who is asked for',
    'keys',
    { ...NOTE, note: witnessed },
    {
      witnesses: [WITNESS_KEY],
      checked: [...CHECKED, 'witness witness.example/w1'],
    },
  ),
  valid('no key, which shows that it is whole and not whose it is', 'keys', NOTE, { vkeys: [], trusted: false }),
  valid('two keys, of which the second has signed', 'keys', NOTE, { vkeys: [OTHER_KEY, LOG_KEY] }),
  valid('the record that is given', 'binding', NOTE, { given: NOTE.record.file }),
  refusedFile('another version', (file) => file.replace('handoff: 1', 'handoff: 2')),
  refusedFile('an unknown key', (file) => file.replace('vkey:', 'x_a: 1\nvkey:')),
  refusedFile('keys in another order', (file) => file.replace(/^( {2}index: .*\n)( {2}size: .*\n)/m, '$2$1')),
  refusedFile('a comment that is indented', (file) => file.replace('# The record', '  # The record')),
  refusedFile('a block with an indentation indicator', (file) => file.replace('note: |', 'note: |2')),
  refusedFile('a negative index', (file) => file.replace('index: 1', 'index: -1')),
  refusedFile('a session without a seal', (file) => file.replace(/^seal:\n(?: .*\n)*/m, '')),
  refused('another id', 'binding', change(NOTE, 'record', { id: SEAL.record.id })),
  refused('another key', 'binding', change(NOTE, 'record', { key: eve.line })),
  refused('another record than the one that is given', 'binding', NOTE, { given: partsOf(OURS, 0).record.file }),
  refused('a record that is given without its last line end', 'binding', NOTE, {
    given: NOTE.record.file.replace(/\n$/, ''),
  }),
  refused('the path of another record', 'binding', change(NOTE, 'record', { path: partsOf(OURS, 0).record.path })),
  refused('another repository', 'binding', { ...NOTE, repo: '00'.repeat(32) }),
  refused('the index of another record', 'session', change(NOTE, 'session', { index: 0 })),
  refused('a path cut off', 'session', change(NOTE, 'session', { siblings: NOTE.session.siblings.slice(1) })),
  refused('another size', 'session', change(NOTE, 'session', { size: 4 })),
  refused('the root of another session', 'session', partsOf(session(IDS[0], { root: otherRoot }), 1)),
  refused(
    'a seal of another identity',
    'session',
    sealedBy(session(IDS[0], { identity: 'eve', key: eve, root: ourRoot })),
  ),
  refused('a seal of another session', 'session', sealedBy(session(IDS[2], { root: ourRoot }))),
  refused('a seal over fewer than are before it', 'session', partsOf(session(IDS[0], { size: 2 }), 1)),
  refused('the place of another seal', 'ledger', change(SEAL, 'ledger', { index: 1 })),
  refused(
    'a ledger path that goes on',
    'ledger',
    change(SEAL, 'ledger', { siblings: [...SEAL.ledger.siblings, ourRoot] }),
  ),
  refused('a smaller ledger', 'ledger', change(SEAL, 'ledger', { size: 2 })),
  refused('a seal that is not in the ledger', 'ledger', { ...SEAL, note: noteOf({}) }),
  refused('a note of another origin', 'keys', { ...SEAL, note: noteOf({ origin: `${ORIGIN}0` }, { name: ORIGIN }) }),
  refused('a note that its own key did not sign', 'keys', { ...SEAL, vkey: OTHER_KEY }),
  refused('a key that nobody gave', 'keys', SEAL, { vkeys: [OTHER_KEY] }),
  refused('two keys, neither of which has signed', 'keys', SEAL, { vkeys: [OTHER_KEY, WITNESS_KEY] }),
  refused(
    'a note that its own key did not sign, where no key is given',
    'keys',
    { ...SEAL, vkey: OTHER_KEY },
    { vkeys: [] },
  ),
  refused('a witness who did not sign', 'keys', SEAL, { witnesses: [WITNESS_KEY] }),
];
