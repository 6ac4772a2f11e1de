import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { ROOT } from '../../core/paths.ts';
import { listSome } from '../../core/text/list-some.ts';
import { oneAtATime } from '../../disk/one-at-a-time.ts';
import { kindAt, withStanding } from '../../git/index/hidden-index.ts';
import { pathBytes } from '../../git/index/path-bytes.ts';
import { readUncommitted, type Uncommitted } from '../../git/index/uncommitted.ts';
import { putRef } from '../../git/refs/put-ref.ts';
import type { Leaf } from '../../git/trees/tree-graft.ts';
import { isForeignHook } from '../../repository/git-hooks/own-hooks.ts';
import type { Directories, GitAccess, Settings, TimeAndHost } from '../../repository/parts.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { identOf } from '../commits/direct-commit.ts';
import { isHere } from '../commits/recover-records.ts';
import { isOver } from '../sessions/records.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { namePaths, type Saved, savedRef, shownPath } from './saved-name.ts';
import { findSecretFiles } from './saved-secrets.ts';

export interface SaveOptions {
  /** False: what is not committed is only named. */
  save?: boolean;
}

/** What was saved, or only named; null where everything is committed. */
export interface Saving {
  saved: Saved | null;
  warnings: { kind: string; message: string }[];
}

/**
 * Saves what the work tree of a session has and HEAD has not, then has the baton written that names it. SPEC §8.6. The ref comes
 * first: whoever is killed in between leaves one that nothing names, and the same session's next wrap moves it. One process at a time, since
 * a second wrap, which is refused, must not move the ref away from what the first one named. Whatever goes wrong with the saving is a
 * warning: the files are still there, and the baton must be written.
 */
export async function withSaved<T>(
  repository: Repository,
  session: Session,
  { save = true }: SaveOptions,
  position: { head: string | null },
  room: number,
  write: (saved: Saved | null) => Promise<T>,
): Promise<{ written: T } & Saving> {
  const plain = async (saved: Saved | null, warnings: Saving['warnings'] = []) => ({
    written: await write(saved),
    saved,
    warnings,
  });
  if (!isHere(repository, session)) return plain(null);
  const changes = await readUncommitted(repository.git, ROOT).catch(asWarning);
  if ('kind' in changes) return plain(null, [changes]);
  if (changes.length === 0) return plain(null);
  const named = namePaths(changes, room);
  if (!save) return plain({ commit: null, ...named });
  const dirs = dirsOf(repository);
  return oneAtATime(join(dirs.sessions, session.session_id, 'saving'), repository, async () => {
    if (isOver(dirs, session.session_id)) return plain(null); // which says so
    const { commit, warnings } = await trySave(repository, session, changes, position.head);
    return plain({ commit, ...named }, warnings);
  });
}

interface Outcome {
  commit: string | null;
  warnings: Saving['warnings'];
}

async function trySave(
  repository: Repository,
  session: Session,
  changes: readonly Uncommitted[],
  head: string | null,
): Promise<Outcome> {
  const topLevel = requireWorkTree(repository);
  const [inside, own] = [changes.filter(isBeyond), changes.filter((change) => !change.path.endsWith('/'))];
  const beyond = inside.map(({ path }) => shownPath(path));
  const warnings: Saving['warnings'] =
    inside.length === 0 ? [] : [notSaved(`These are repositories of their own: ${listSome(beyond, 5)}.`)];
  try {
    const { paths, tooLarge } = fitting(topLevel, own);
    if (tooLarge.length > 0) warnings.push(tooMuch(tooLarge));
    if (paths.length === 0) return { commit: null, warnings };
    const commit = await commitChanges(repository, topLevel, session, paths, head);
    if (commit === null) return { commit, warnings };
    await putRef(await refPlace(repository), savedRef(session.session_id), commit);
    const files = paths.filter((path) => kindAt(topLevel, path) === 'file');
    const secrets = findSecretFiles(topLevel, files).map(shownPath);
    return { commit, warnings: [...warnings, ...secretWarnings(secrets, session)] };
  } catch (error) {
    return { commit: null, warnings: [...warnings, asWarning(error)] };
  }
}

/** What no commit of this repository can hold. */
function isBeyond({ path, isDirtyInside }: Uncommitted): boolean {
  return isDirtyInside || path.endsWith('/');
}

/** More is named and not saved: it would be copied here, and again by whoever pushes and fetches it. */
const MOST_BYTES = 100 * 1024 * 1024;

interface Sized {
  path: string;
  size: number;
}

/** The smallest first, as long as there is room: one large file must not keep the others from being saved. */
function fitting(topLevel: string, changes: readonly Uncommitted[]): { paths: string[]; tooLarge: Sized[] } {
  const sized = changes.map(({ path }): Sized => ({ path, size: sizeOf(topLevel, path) }));
  const fits = new Set<Sized>();
  let left = MOST_BYTES;
  for (const each of sized.toSorted((a, b) => a.size - b.size)) {
    if (each.size > left) break;
    left -= each.size;
    fits.add(each);
  }
  return {
    paths: sized.filter((each) => fits.has(each)).map(({ path }) => path),
    tooLarge: sized.filter((each) => !fits.has(each)),
  };
}

function sizeOf(topLevel: string, path: string): number {
  return kindAt(topLevel, path) === 'file' ? lstatSync(pathBytes(topLevel, path)).size : 0;
}

/** On top of HEAD. Null where the work tree has the files of HEAD: what is uncommitted is in the index alone, or in a submodule. */
async function commitChanges(
  repository: Repository,
  topLevel: string,
  session: Session,
  paths: readonly string[],
  head: string | null,
): Promise<string | null> {
  const { git, dirs, host, store } = repository;
  const checkout = { git, dirs, processes: host, topLevel };
  const leaves = await withStanding(checkout, paths, async (standing) => {
    const odd = [...standing].filter(([, leaf]) => leaf === 'other').map(([path]) => shownPath(path));
    if (odd.length > 0) repository.warn(`No file, and not saved: ${listSome(odd, 5)}`);
    return new Map([...standing].filter((each): each is [string, Leaf | null] => each[1] !== 'other'));
  });
  const before = head === null ? null : (await store.readCommit(head)).tree;
  const tree = await store.graftTree(before, leaves);
  if (tree === (before ?? (await store.graftTree(null, new Map())))) return null;
  const by = await identsOf(repository, session.identity);
  const message = `handoff: what ${session.identity} had not committed in session ${session.session_id.slice(0, 8)}\n`;
  return store.writeCommit({ tree, parents: head === null ? [] : [head], ...by, message });
}

async function identsOf({ env, config, now }: Settings & TimeAndHost, identity: string) {
  const settings = await config();
  const nobody = `${identity} <${identity}@git-handoff.invalid> ${Math.floor(now().getTime() / 1000)} +0000`;
  const [author = nobody, committer = nobody] = (['AUTHOR', 'COMMITTER'] as const).map(
    (role) => identOf(role, env, settings, identity, now()) ?? nobody,
  );
  return { author, committer };
}

/** git itself makes the ref where a setting says how refs or objects are written, or where a hook has to be told of it. */
async function refPlace({ git, dirs, host, store, config }: GitAccess & Directories & Settings & TimeAndHost) {
  const settings = await config();
  const isPlain =
    (await store.objectWriter()) !== null &&
    !isForeignHook(dirs, 'reference-transaction') &&
    settings.get('extensions.refstorage') === undefined &&
    settings.get('core.logallrefupdates') !== 'always';
  return { git, dirs, processes: host, isPlain };
}

function notSaved(why: string): Saving['warnings'][number] {
  return { kind: 'not_saved', message: `Named in the baton, and not saved. ${why}` };
}

function tooMuch(files: readonly Sized[]): Saving['warnings'][number] {
  const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
  const names = files.map(({ path, size }) => `${shownPath(path)} (${megabytes(size)})`);
  return notSaved(
    `No more than ${megabytes(MOST_BYTES)} is saved: ${listSome(names, 5)}. Commit what matters, or let git ignore the rest.`,
  );
}

function secretWarnings(paths: readonly string[], session: Session): Saving['warnings'] {
  if (paths.length === 0) return [];
  const message = `Saved, and it looks like a secret: ${listSome(paths, 5)}. It stays here until somebody pushes ${savedRef(session.session_id)}; wrap --no-save only names files, and what git ignores is left out.`;
  return [{ kind: 'secret_saved', message }];
}

function asWarning(error: unknown): Saving['warnings'][number] {
  if (!hasCode(error)) throw error;
  return notSaved(`It could not be read or written: ${error.message}. The files are where they were.`);
}
