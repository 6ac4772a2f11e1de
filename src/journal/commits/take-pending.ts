import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { find } from '../../audit/source/source.ts';
import { openTree } from '../../audit/source/tree-source.ts';
import { type FileToWrite, writeFiles } from '../../disk/tree-files.ts';
import { type Git, readGit, runGit } from '../../git/run.ts';
import { askRefs } from '../../repository/ask-refs.ts';
import type { Directories, GitAccess, Settings, StateDirectory } from '../../repository/parts.ts';
import { isRebasing } from '../../repository/position.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { stagedGit, stagedTree } from '../../repository/staged-tree.ts';
import { clearPending } from '../sessions/pending-marks.ts';
import { isOver } from '../sessions/records.ts';
import { listSessions, type Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { isHere, lastPath } from './recover-records.ts';
import { journalledFiles, missingRecords } from './restore.ts';

/**
 * Takes the records that no commit holds into the commit that `git commit` is about to make, so that they land with the code
 * they are about. For the hook pre-commit: `GIT_INDEX_FILE` names what will be committed. A rebase writes commits of old work
 * anew, and gets nothing. Decision 0027
 */
export async function takePending(repository: Repository): Promise<void> {
  const git = stagedGit(repository);
  const index = git.set?.GIT_INDEX_FILE;
  if (index === undefined || isRebasing(repository) || !(await mayTake(repository, index))) return;
  const topLevel = requireWorkTree(repository);
  const lines: string[] = [];
  for (const session of await pendingSessions(repository)) {
    writeFiles(topLevel, missingRecords(topLevel, dirsOf(repository), session), dirsOf(repository).scratch);
    for (const { path, bytes } of await lackingAtHead(repository, session))
      lines.push(`100644 ${await repository.store.writeBlob(bytes)}\t${path}`);
  }
  if (lines.length > 0) for (const each of indexesOf(repository, index)) await addTo(git, each, lines);
}

/**
 * git throws a copy of the index away when nothing comes of the commit. In the index itself the records would stay staged, and be
 * in the way of the next merge; git gives up right after this hook where nothing was staged before it.
 */
async function mayTake(repository: GitAccess & Directories & Settings, index: string): Promise<boolean> {
  if (index.endsWith('.lock')) return true;
  const { store } = repository;
  const staged = await stagedTree(repository);
  const head = await store.resolve('HEAD');
  if (head !== null) return (await store.readCommit(head)).tree !== staged;
  return (await store.readTree(staged))?.entries.length !== 0;
}

/** `git commit -- PATH` commits a copy made from HEAD, and has the index that will be in place afterwards ready beside it. */
function indexesOf({ dirs }: Directories, index: string): string[] {
  const next = join(dirs.gitDir, 'index.lock');
  return basename(index).startsWith('next-index-') && existsSync(next) ? [index, next] : [index];
}

/** By id, so that no filter changes what was signed. Then git looks at the files, so as not to take them for changed ones. */
async function addTo(git: Git, index: string, lines: readonly string[]): Promise<void> {
  const at = { ...git, set: { ...git.set, GIT_INDEX_FILE: index } };
  await readGit(at, ['update-index', '-z', '--index-info'], { input: lines.map((line) => `${line}\0`).join('') });
  const paths = lines.map((line) => line.slice(line.indexOf('\t') + 1));
  await runGit(at, ['add', '--refresh', '--', ...new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))))]);
}

/** The sessions of this work tree with a record that neither HEAD nor any branch has. One that has ended and is committed is left out. */
async function pendingSessions(repository: GitAccess & Directories & StateDirectory): Promise<Session[]> {
  const dirs = dirsOf(repository);
  const isInRef = askRefs(repository);
  const pending: Session[] = [];
  for (const session of listSessions(dirs).filter((each) => isHere(repository, each))) {
    const newest = lastPath(dirs, session);
    if (newest === null) continue;
    const isHeld = (await repository.store.has(`HEAD:${newest}`)) || (await isInRef(newest));
    if (!isHeld) pending.push(session);
    else if (isOver(dirs, session.session_id)) clearPending(repository.dirs.gitDir, session);
  }
  return pending;
}

async function lackingAtHead(repository: GitAccess & StateDirectory, session: Session): Promise<FileToWrite[]> {
  const { store } = repository;
  const held = new Set<string>();
  if ((await store.resolve('HEAD')) !== null) {
    const headTree = await openTree(store, 'HEAD');
    const folder = await find(headTree, session.folder);
    for (const { path } of folder ? await headTree.list(folder) : []) held.add(path);
  }
  return journalledFiles(dirsOf(repository), session).filter(({ path }) => !held.has(path));
}
