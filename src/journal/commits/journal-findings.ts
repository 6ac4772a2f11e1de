import { finding } from '../../audit/finding.ts';
import { FILE, FOLDER, find, type Source } from '../../audit/source/source.ts';
import { equalBytes } from '../../core/bytes/bytes.ts';
import { asHandoffError, type Finding, type HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import { type Git, readGit } from '../../git/run.ts';
import type { Directories, GitAccess, Messages, StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { readCommitted } from '../sessions/committed.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { restoreHint } from './lost-records.ts';
import { isOnOtherBranch } from './recover-records.ts';
import { journalledFiles } from './restore.ts';

/**
 * What the work tree has lost or changed of what was written here: the journal has a copy of each record, SPEC §8.3. It shows
 * what no chain can, that the end of one is gone.
 */
export async function journalFindings(
  repository: Repository,
  source: Source,
  sessions: readonly Session[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const gone: Gone[] = [];
  for (const session of sessions) {
    const compared = await compare(repository, source, session);
    findings.push(...compared.changed.map((path) => changed(path, session)));
    for (const path of compared.missing) gone.push(await whereElse(repository, session, path));
  }
  return [...findings, ...(await withoutOtherBranches(repository, gone)).map(deleted)];
}

/** A record that the work tree has not. */
interface Gone {
  path: string;
  isInHead: boolean;
  /** Its session was committed on a branch that is not checked out now. */
  isElsewhere: boolean;
}

async function whereElse(
  repository: GitAccess & Directories & StateDirectory,
  { session_id }: Session,
  path: string,
): Promise<Gone> {
  const committed = readCommitted(dirsOf(repository), session_id);
  return {
    path,
    isElsewhere: isOnOtherBranch(repository, committed),
    isInHead: await repository.store.has(`HEAD:${path}`),
  };
}

async function compare(
  repository: StateDirectory & Messages,
  source: Source,
  session: Session,
): Promise<{ changed: string[]; missing: string[] }> {
  const written = writtenFiles(repository, session);
  const folder = written.length === 0 ? null : await find(source, session.folder);
  const entries = folder?.mode === FOLDER ? await source.list(folder) : [];
  const present = new Set(entries.map(pathOf));
  const files = entries.filter(({ mode }) => mode === FILE); // an entry that is no file has a finding of its own
  const contents = await source.readAll(files, MAX_RECORD_BYTES);
  const found = new Map(files.map(({ path }, index) => [path, contents[index]!]));
  const isSame = (content: Uint8Array | HandoffError, bytes: Uint8Array) =>
    content instanceof Uint8Array && equalBytes(content, bytes);
  return {
    changed: written.filter(({ path, bytes }) => found.has(path) && !isSame(found.get(path)!, bytes)).map(pathOf),
    missing: written.filter(({ path }) => !present.has(path)).map(pathOf),
  };
}

function pathOf({ path }: { path: string }): string {
  return path;
}

/** A journal that is spoilt can show nothing; what is in the tree is judged all the same. */
function writtenFiles(repository: StateDirectory & Messages, session: Session): FileToWrite[] {
  try {
    return journalledFiles(dirsOf(repository), session);
  } catch (error) {
    repository.warn(asHandoffError(error).message);
    return [];
  }
}

/** What another branch has, and this one has not, is not lost. What HEAD has should be in the work tree. */
async function withoutOtherBranches({ git }: GitAccess, gone: readonly Gone[]): Promise<Gone[]> {
  const open = gone.filter(({ isInHead, isElsewhere }) => !isInHead && !isElsewhere).map(({ path }) => path);
  const committed = open.length === 0 ? new Set() : await everCommitted(git, open);
  return gone.filter(({ path, isInHead, isElsewhere }) => isInHead || !(isElsewhere || committed.has(path)));
}

async function everCommitted(git: Git, paths: readonly string[]): Promise<Set<string>> {
  const folders = new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))));
  const input = await readGit(git, ['rev-list', '--exclude=refs/stash', '--all', '--full-history', '--', ...folders]);
  const args = ['diff-tree', '--stdin', '-r', '-m', '--root', '--no-commit-id', '--name-only', '--no-renames', '-z'];
  const names = await readGit(git, [...args, '--', ...folders], { input });
  return new Set(names.toString('utf8').split('\0'));
}

function changed(path: string, { session_id }: Session): Finding {
  const copy = `handoff/sessions/${session_id}/records`;
  const hint = `Compare it with the copy under ${copy} in the git directory, and put that in its place.`;
  return finding('record_changed', path, 'the bytes that were written here', 'other bytes', hint);
}

function deleted({ path, isInHead }: Gone): Finding {
  const hint = isInHead ? restoreHint(path) : 'The next git handoff command that writes a record puts it back.';
  return finding('record_deleted', path, 'the record that was written here', 'nothing', hint);
}
