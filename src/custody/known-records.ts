import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type FileBeyond, openBeyond, openChanged } from '../audit/source/changed-source.ts';
import { openIndex } from '../audit/source/index-source.ts';
import { find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { readCached, writeCached } from '../audit/tree/cache.ts';
import { parseJson } from '../core/bytes/json.ts';
import { ROOT } from '../core/paths.ts';
import { parseRaw, RAW, type RawChange } from '../git/changes/raw-diff.ts';
import { objectFormat, objectId } from '../git/objects/loose-object.ts';
import { readGit } from '../git/run.ts';
import { isHere } from '../journal/commits/recover-records.ts';
import { journalledFiles } from '../journal/commits/restore.ts';
import { isCommitted } from '../journal/sessions/committed.ts';
import { listSessions } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Directories, StateDirectory } from '../repository/parts.ts';
import { cacheFolder, type Repository } from '../repository/repository.ts';

/** The records that are committed, staged, or waiting for a commit. */
export interface KnownRecords {
  source: Source;
  /** The tree of the last commit; null where nothing can be told from it. */
  committed: Source | null;
  /** The paths of session folders that are not as in that tree. */
  changed: ReadonlySet<string>;
}

/** The index holds what is committed and what is staged, the journal what waits for a commit; a bare repository has only commits. */
export async function openKnownRecords(repository: Repository): Promise<KnownRecords> {
  if (!repository.dirs.topLevel) return unchanged(await openTree(repository.store, 'HEAD'));
  const staged = await openStaged(repository);
  const pending = await missingIn(staged.source, uncommitted(repository));
  if (pending.length === 0) return staged;
  const changed = new Set([...staged.changed, ...pending.map(sessionOf)]);
  return { ...staged, source: openBeyond(staged.source, pending), changed };
}

/** The files of this work tree's sessions, without those sessions that have ended and are committed. */
function uncommitted(repository: Directories & StateDirectory): FileBeyond[] {
  const dirs = dirsOf(repository);
  const format = objectFormat(repository.dirs.commonDir);
  return listSessions(dirs)
    .filter((session) => isHere(repository, session) && !isCommitted(dirs, session.session_id))
    .flatMap((session) => journalledFiles(dirs, session))
    .map(({ path, bytes }) => ({ path, bytes, oid: objectId(format, 'blob', bytes) }));
}

async function missingIn(source: Source, files: readonly FileBeyond[]): Promise<FileBeyond[]> {
  const found = await Promise.all(files.map(({ path }) => find(source, path)));
  return files.filter((_, at) => found[at] === null);
}

async function openStaged(repository: Repository): Promise<KnownRecords> {
  const { store, git } = repository;
  const headTree = (await store.resolve('HEAD')) === null ? null : await openTree(store, 'HEAD');
  const changes = headTree && (await changesInIndex(repository, headTree));
  if (!headTree || !changes || changes.length > MOST || changes.some(({ isUnmerged }) => isUnmerged))
    return { source: await openIndex(git, store, [ROOT]), committed: null, changed: new Set() };
  if (changes.length === 0) return unchanged(headTree);
  return { source: openChanged(headTree, changes), committed: headTree, changed: new Set(changes.map(sessionOf)) };
}

/** Whoever stages more than this has them all listed. */
const MOST = 4096;

function unchanged(tree: Source): KnownRecords {
  return { source: tree, committed: tree, changed: new Set() };
}

/** `.handoff/sessions/<identity>/<folder>`; of other files a path that is no session's. */
function sessionOf({ path }: { path: string }): string {
  return path.split('/').slice(0, 4).join('/');
}

interface KnownChanges {
  index: string;
  handoff: string;
  changes: RawChange[];
}

/** To compare, git reads the whole index: what it answered holds until somebody writes the index or commits records. */
async function changesInIndex(repository: Repository, headTree: Source): Promise<RawChange[]> {
  const index = repository.index.version();
  const handoff = (await headTree.root()).find(({ name }) => name === ROOT)?.oid ?? '';
  const file = repository.build === null ? null : join(cacheFolder(repository, 'staged'), nameOf(repository));
  const cached = file === null ? null : parseJson<Partial<KnownChanges>>(readCached(file));
  if (cached?.index === index && cached.handoff === handoff && areChanges(cached.changes)) return cached.changes;
  const args = ['diff-index', '--cached', ...RAW, '--ita-visible-in-index', headTree.oid!, '--', ROOT];
  const changes = parseRaw(await readGit(repository.git, args));
  if (file && repository.index.version() === index) writeCached(file, { index, handoff, changes });
  return changes;
}

/** Somebody else may have written the file. */
function areChanges(changes: unknown): changes is RawChange[] {
  return Array.isArray(changes) && changes.every((change) => typeof change?.path === 'string');
}

/** Each work tree has an index of its own. */
function nameOf({ worktree }: Directories): string {
  return createHash('sha256').update(worktree).digest('hex');
}
