import { HandoffError } from '../../core/error.ts';
import { listSome } from '../../core/text/list-some.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import { objectFormat, objectId } from '../../git/objects/loose-object.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';

/** Makes sure that a commit made by git holds what was signed, byte for byte: filters and hooks of others may have changed it. */
export async function assertHeld(
  repository: GitAccess & Directories,
  commit: Oid,
  files: readonly FileToWrite[],
): Promise<void> {
  const format = objectFormat(repository.dirs.commonDir);
  const found = await Promise.all(files.map(({ path }) => repository.store.resolve(`${commit}:${path}`)));
  const changed = files.filter(({ bytes }, at) => found[at] !== null && found[at] !== objectId(format, 'blob', bytes));
  if (changed.length > 0)
    throw changedByGit(
      commit,
      changed.map(({ path }) => path),
    );
}

function changedByGit(commit: Oid, paths: readonly string[]): HandoffError {
  const message = `Commit ${commit.slice(0, 12)} holds other bytes than were signed, in ${listSome(paths, 1)}: a filter or a hook of this repository changed them.`;
  return new HandoffError('record_changed', message, {
    hint: `Nothing is lost. git check-attr --all -- ${paths[0]} tells which filter it was: take .handoff/ out of it, then git add --renormalize -- .handoff and git commit --no-verify -m "as signed" -- .handoff`,
    data: { commit, paths: paths.slice(0, 64), written: true },
  });
}
