import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openChanged } from '../audit/source/changed-source.ts';
import { openIndex } from '../audit/source/index-source.ts';
import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { readCached, writeCached } from '../audit/tree/cache.ts';
import { parseJson } from '../core/bytes/json.ts';
import { ROOT } from '../core/paths.ts';
import { parseRaw, RAW, type RawChange } from '../git/changes/raw-diff.ts';
import { readGit } from '../git/run.ts';
import { cacheFolder, type Repository } from './repository.ts';

/** The records that are committed or staged. */
export interface StagedRecords {
  source: Source;
  /** The tree of the last commit; null where nothing can be told from it. */
  committed: Source | null;
  /** The paths of session folders in which the index differs from that tree. */
  changed: ReadonlySet<string>;
}

/** The index holds what is committed and what is staged; a bare repository has only the former. */
export async function openStagedRecords(repository: Repository): Promise<StagedRecords> {
  const { dirs, store, git } = repository;
  if (!dirs.topLevel) return unchanged(await openTree(store, 'HEAD'));
  const head = (await store.resolve('HEAD')) === null ? null : await openTree(store, 'HEAD');
  const changes = head && (await changesInIndex(repository, head));
  if (!head || !changes || changes.length > MOST || changes.some(({ isUnmerged }) => isUnmerged))
    return { source: await openIndex(git, store, [ROOT]), committed: null, changed: new Set() };
  if (changes.length === 0) return unchanged(head);
  return { source: openChanged(head, changes), committed: head, changed: new Set(changes.map(sessionOf)) };
}

/** Whoever stages more than this has them all listed. */
const MOST = 4096;

function unchanged(tree: Source): StagedRecords {
  return { source: tree, committed: tree, changed: new Set() };
}

/** `.handoff/sessions/<identity>/<folder>`; of other files a path that is no session's. */
function sessionOf({ path }: RawChange): string {
  return path.split('/').slice(0, 4).join('/');
}

interface KnownChanges {
  index: string;
  handoff: string;
  changes: RawChange[];
}

/** To compare, git reads the whole index: what it answered holds until somebody writes the index or commits records. */
async function changesInIndex(repository: Repository, head: Source): Promise<RawChange[]> {
  const index = repository.index.version();
  const handoff = (await head.root()).find(({ name }) => name === ROOT)?.oid ?? '';
  const file = repository.build === null ? null : join(cacheFolder(repository, 'staged'), nameOf(repository));
  const known = file === null ? null : parseJson<Partial<KnownChanges>>(readCached(file));
  if (known?.index === index && known.handoff === handoff && areChanges(known.changes)) return known.changes;
  const args = ['diff-index', '--cached', ...RAW, '--ita-visible-in-index', head.oid!, '--', ROOT];
  const changes = parseRaw(await readGit(repository.git, args));
  if (file && repository.index.version() === index) writeCached(file, { index, handoff, changes });
  return changes;
}

/** Somebody else may have written the file. */
function areChanges(changes: unknown): changes is RawChange[] {
  return Array.isArray(changes) && changes.every((change) => typeof change?.path === 'string');
}

/** Each work tree has an index of its own. */
function nameOf({ worktree }: Repository): string {
  return createHash('sha256').update(worktree).digest('hex');
}
