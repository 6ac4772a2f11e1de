import { openStore } from '../world/git-objects.mjs';
import { CODE, GROUND } from '../world/ground.mjs';
import { baton, session, start, thought } from '../world/sessions.mjs';
import { error, ROOT, refOf } from '../world/verdict.mjs';

// How histories are made. A commit is `{oid, tree, files, parents}`.

export const store = openStore();
export const cases = [];
export const refs = {};

/**
 * May `head` take the place of `base`? `push`: as it is; else it is to be merged. `kept` are commits that neither leads to and that
 * are to be had all the same.
 */
export function history(name, rule, { base, head, push = false, root = ROOT, kept = [] }, findings = []) {
  const ref = `refs/histories/${refOf(name)}`;
  Object.assign(refs, base && { [`${ref}/base`]: base.oid }, { [`${ref}/head`]: head.oid });
  for (const [at, { oid }] of kept.entries()) refs[`${ref}/kept-${at + 1}`] = oid;
  const asked = { base: base?.oid ?? null, head: head.oid, push, root };
  const verdict = typeof findings === 'string' ? { error: findings } : { pass: !findings.some(isError), findings };
  cases.push({ name, rule, ...asked, ...verdict });
}

function isError({ severity }) {
  return severity === 'error';
}

/** A commit on top of another one, with some files changed. */
export function on(parent, files, options) {
  return store.commit({ ...parent.files, ...files }, { parents: [parent], ...options });
}

/** A commit that leaves files out. */
export function dropping(parent, paths, options) {
  const files = Object.entries(parent.files).filter(([path]) => !paths.includes(path));
  return store.commit(Object.fromEntries(files), { parents: [parent], ...options });
}

export const EMPTY = store.commit(CODE, { message: 'code' });
/** What `main` is at, unless said otherwise. */
export const GROUND_COMMIT = store.commit({ ...CODE, ...GROUND }, { message: 'the ground' });
export const NEW = { 'src/new.ts': 'new\n' };

/** The usual way: a commit of code, and one of records with a thought for it. */
export function work(base, { files = NEW, name = 'the work', account, more = [], ...options } = {}) {
  const code = on(base, files, { message: 'code' });
  const said = session(name, [start(), thought([code], account), ...more, baton()], { clock: 10, ...options });
  return { code, said, head: on(code, said.files, { message: 'records' }) };
}

/** A commit of records alone. */
export function records(base, ...sessions) {
  return on(base, Object.assign({}, ...sessions.map(({ files }) => files)), { message: 'records' });
}

/** What is said about code that nobody accounts for. */
export function open(commit, ...paths) {
  return [error('writeback_missing', paths[0], commit), ...paths.map((path) => error('files_uncovered', path))];
}
