import { REPO } from '../documents.mjs';
import { head, record } from '../records.mjs';
import { hash, idOf } from '../signing.mjs';
import { consistency, leafOf, rootOf } from '../tree.mjs';
import { KEYS } from './documents.mjs';
import { patchId, pathsBetween } from './patches.mjs';

const MARKDOWN = ['baton', 'decision'];

/** A UUIDv4 that follows from a name. */
function uuidOf(name) {
  const hex = hash('sha256', `session ${name}`).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * A session by its name. Steps are `[kind, keys, change]`: the text of the keys that the kind has of its own, and what the head of
 * the record, its signer or its body have otherwise. A seal has no keys: they follow from what is before it.
 */
export function session(
  name,
  steps,
  { by = 'donna', key = KEYS[by], clock = 0, time = '20260220T143025', repo = REPO } = {},
) {
  const id = uuidOf(name);
  const folder = `.handoff/sessions/${by}/${time}-${id.slice(0, 8)}`;
  const records = [];
  for (const [kind, keys, change = {}] of steps) {
    const { key: signer = key, body = 'Done.\n', ...rest } = change;
    const seq = rest.seq ?? records.length + 1;
    const at = { session: id, identity: by, seq, clock: clock + seq, prev: records.at(-1)?.id ?? null, ...rest };
    const front = head(kind, at).replace(REPO, repo) + (kind === 'seal' ? sealOver(records) : keys);
    const made = record(kind, front, { key: signer, body: MARKDOWN.includes(kind) ? body : null });
    const path = `${folder}/${String(seq).padStart(4, '0')}-${kind}.${MARKDOWN.includes(kind) ? 'md' : 'yaml'}`;
    records.push({ path, id: idOf(made.signed), file: made.file, kind });
  }
  const files = Object.fromEntries(records.map(({ path, file }) => [path, file]));
  return { id, folder, records, files, of: (kind) => records.find((each) => each.kind === kind) };
}

function sealOver(records) {
  const leaves = records.map(({ file }) => leafOf(file));
  const own = `tree_size: ${leaves.length}\nroot: ${rootOf(leaves).toString('hex')}\n`;
  const old = records.findLastIndex(({ kind }) => kind === 'seal');
  if (old < 0) return own;
  const proof = consistency(leaves, old).map((node) => `    - ${node.toString('hex')}\n`);
  const root = rootOf(leaves.slice(0, old)).toString('hex');
  return `${own}previous:\n  tree_size: ${old}\n  root: ${root}\n  proof:\n${proof.join('')}`;
}

export const start = (change) => ['start', '', change];
export const note = (text, change) => ['note', `text: ${text}\n`, change];
export const baton = (change) => ['baton', '', change];
export const seal = (change) => ['seal', null, change];
export const says = (status, change, id = 'P0.1') => ['task', `task_id: ${id}\nstatus: ${status}\n`, change];
export const waiver = ({ oid }) => ['waiver', `commit_sha: ${oid}\nreason: a typo in a comment\n`];
export const review = (verdict, { id }) => ['review', `task_id: P0.1\nverdict: ${verdict}\nthought: ${id}\n`];
export const lock = (token, id = 'P0.1') => ({ more: `lock:\n  task: ${id}\n  token: ${token}\n` });
export const pickup = ({ id, of }) => [
  'pickup',
  `predecessor_session_id: ${id}\nbaton: ${of('baton').id}\n`,
  inherits({ id }),
];
export const inherits = ({ id }) => ({ more: `inherited_from: ${id}\n` });

/** Of commits, the oldest first, that follow one another on top of `base`. */
export function thought(commits, { base = filesBefore(commits[0]), files, id = 'P0.1', own = '', change } = {}) {
  const last = commits.at(-1);
  const ids = commits.filter(({ parents }) => parents.length < 2).map((each) => patchId(filesBefore(each), each.files));
  const paths = files ?? pathsBetween(base, last.files);
  const keys = `task_id: ${id}
branch: feature
commit_sha: ${last.oid}
tree: ${last.tree}
patch_id: ${patchId(base, last.files)}
commit_patch_ids:${listOf(ids.toReversed())}
tests_run: []
${own}summary: It does what it should.
blockers: []
files_changed:${listOf(paths)}
related_thought_records: []
`;
  return ['thought', keys, change];
}

function filesBefore({ parents }) {
  return parents[0]?.files ?? {};
}

function listOf(items) {
  return items.length === 0 ? ' []' : items.map((item) => `\n  - ${item}`).join('');
}
