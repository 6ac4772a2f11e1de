import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../audit/ledger/ledger.ts';
import { FILE, find, type Source } from '../../audit/source/source.ts';
import { HandoffError } from '../../core/error.ts';
import { type Checkpoint, parseCheckpoint } from '../../core/ledger/checkpoint.ts';
import { parseNote } from '../../core/ledger/note.ts';
import { CHECKPOINT, LEDGER } from '../../core/paths.ts';
import { type FileToWrite, removeFile } from '../../disk/tree-files.ts';
import { parseRaw, RAW, type RawChange } from '../../git/changes/raw-diff.ts';
import { readBlobFile } from '../../git/objects/blob-file.ts';
import type { Commit, Oid } from '../../git/objects/store.ts';
import { readGit } from '../../git/run.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';
import { readPosition } from '../../repository/position.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { findStrays } from './strays.ts';
import { DERIVED, staging } from './write.ts';

/** A ledger that is checked out and has all there is. */
interface Standing {
  branch: string;
  headCommit: Commit;
  source: Source;
  ledger: Ledger;
}

/**
 * What an append that was cut off has left in the index and the work tree, or a `git reset` that came between two of its steps: an
 * older ledger that is staged would be committed with whatever comes next. Anything that somebody may have wanted stays.
 */
export async function clearLeftovers(repository: Repository, standing: Standing): Promise<void> {
  const { headCommit, source, ledger } = standing;
  if (!existsSync(join(repository.dirs.gitDir, 'index'))) return;
  const committed = (await find(source, LEDGER))?.oid;
  if (repository.index.folder(LEDGER) !== committed && !(await putBack(repository, standing))) return;
  if (!(await isStillThere(repository, standing))) return;
  const topLevel = requireWorkTree(repository);
  for (const path of findStrays(topLevel, ledger.checkpoint.size))
    if (!(await repository.store.has(`${headCommit.oid}:${path}`))) removeFile(topLevel, path, DERIVED);
}

/** Null where something else than plain files is there. */
async function readStaged({ git }: GitAccess, head: Oid): Promise<RawChange[] | null> {
  const changes = parseRaw(await readGit(git, ['diff-index', '--cached', ...RAW, head, '--', LEDGER]));
  return changes.every(({ before, after }) => [before, after].every((side) => !side || side.mode === FILE))
    ? changes
    : null;
}

/** False where it is not sure that nobody wants it. */
async function putBack(repository: Repository, standing: Standing): Promise<boolean> {
  const { headCommit, source, ledger } = standing;
  const topLevel = requireWorkTree(repository);
  const path = `${LEDGER}/${CHECKPOINT}`;
  const changes = await readStaged(repository, headCommit.oid);
  if (changes?.length === 0) return true; // git knows better what is in the index
  const checkpoint = changes?.find((change) => change.path === path);
  if (!changes || (checkpoint?.after && !(await isOlder(repository, checkpoint.after.oid, ledger.checkpoint))))
    return false;
  const side = { mode: FILE, oid: (await find(source, path))!.oid! };
  const replaced = checkpoint ? changes : [...changes, { path, before: side, after: side }];
  if (!replaced.every((change) => isKnown(topLevel, change))) return false;
  const tiles = changes.filter((change) => change !== checkpoint);
  const old = tiles.filter((tile) => tile.before === null).map((tile) => tile.path);
  const files = await readFiles(repository, tiles);
  if (!(await isStillThere(repository, standing))) return false;
  await staging(repository, [...files, { path, bytes: ledger.bytes, ...DERIVED }], old)();
  repository.warn(`What was staged of ${LEDGER} was not what HEAD has, nor anything newer. It is what HEAD has now.`);
  return true;
}

/** What was checked out since was not compared. */
async function isStillThere(repository: GitAccess & Directories, { branch, headCommit }: Standing): Promise<boolean> {
  const now = await readPosition(repository);
  return now.branch === branch && now.head === headCommit.oid;
}

async function readFiles({ store }: GitAccess, changes: readonly RawChange[]): Promise<FileToWrite[]> {
  const files: FileToWrite[] = [];
  for (const { path, before } of changes)
    if (before) files.push({ path, bytes: Buffer.from(await store.readBlob(before.oid)), ...DERIVED });
  return files;
}

async function isOlder({ store }: GitAccess, oid: Oid, { origin, size }: Checkpoint): Promise<boolean> {
  try {
    const staged = parseCheckpoint(parseNote(await store.readBlob(oid)).text);
    return staged.origin === origin && staged.size < size;
  } catch (error) {
    if (error instanceof HandoffError) return false;
    throw error;
  }
}

/** Whether the work tree has what is staged or committed, or nothing: then nothing is lost. */
function isKnown(topLevel: string, { path, before, after }: RawChange): boolean {
  const file = join(topLevel, path);
  const sides = [before, after].filter((side) => side !== null);
  return !existsSync(file) || sides.some(({ oid }) => readBlobFile(file, Buffer.from(oid, 'hex')) !== null);
}
