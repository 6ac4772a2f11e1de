import type { FileToWrite } from '../../disk/tree-files.ts';
import { objectFormat, objectId } from '../../git/objects/loose-object.ts';
import type { TreeEntry } from '../../git/objects/store.ts';
import type { Directories, GitAccess, StateDirectory } from '../../repository/parts.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { changedRecords } from './restore.ts';

/** The paths of a session's newest records that HEAD has with other bytes than were signed. */
export async function changedAtHead(
  repository: GitAccess & Directories & StateDirectory,
  session: Session,
): Promise<string[]> {
  const { store } = repository;
  const rev = `HEAD:${session.folder}`;
  // `has` first: to be sure that a name names nothing, `resolve` asks another process
  const folder = (await store.has(rev)) ? await store.resolve(rev) : null;
  const tree = folder === null ? null : await store.readTree(folder);
  return changedIn(repository, session, tree?.entries ?? []).map(({ path }) => path);
}

/** A session's newest records that a folder has with other bytes than were signed. */
export function changedIn(
  repository: Directories & StateDirectory,
  session: Session,
  present: readonly TreeEntry[],
): FileToWrite[] {
  const format = objectFormat(repository.dirs.commonDir);
  const ids = new Map(present.map(({ name, oid }) => [name, oid]));
  return changedRecords(dirsOf(repository), session, (name, bytes) => {
    const oid = ids.get(name);
    return oid !== undefined && oid !== objectId(format, 'blob', bytes);
  });
}
