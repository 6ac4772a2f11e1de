import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Ledger } from '../../audit/ledger.ts';
import { find, type Source } from '../../audit/source.ts';
import { type Checkpoint, parseCheckpoint } from '../../core/checkpoint.ts';
import { HandoffError } from '../../core/error.ts';
import { parseNote } from '../../core/note.ts';
import { CHECKPOINT, LEDGER } from '../../core/paths.ts';
import { readBlobFile } from '../../git/blob-file.ts';
import { readGit } from '../../git/run.ts';
import { type Commit, isNullOid, type Oid } from '../../git/store.ts';
import { type FileToWrite, removeFile } from '../../journal/files.ts';
import { type Repository, requireWorkTree } from '../repository.ts';
import { findStrays } from './strays.ts';
import { DERIVED, staging } from './write.ts';

/** A ledger that is checked out and has all there is. */
interface Standing {
  head: Commit;
  source: Source;
  ledger: Ledger;
}

/**
 * What an append that was cut off has left in the index and the work tree, or a `git reset` that came between two of its steps: an
 * older ledger that is staged would be committed with whatever comes next. Anything that somebody may have wanted stays.
 */
export async function clearLeftovers(repository: Repository, standing: Standing): Promise<void> {
  const { head, source, ledger } = standing;
  if (!existsSync(join(repository.dirs.gitDir, 'index'))) return;
  const committed = (await find(source, LEDGER))?.oid;
  if (repository.index.folder(LEDGER) !== committed && !(await putBack(repository, standing))) return;
  const topLevel = requireWorkTree(repository);
  for (const path of findStrays(topLevel, ledger.checkpoint.size))
    if (!(await repository.store.has(`${head.oid}:${path}`))) removeFile(topLevel, path, DERIVED);
}

/** A path at which the index differs from HEAD; null where one of them has no file. */
interface StagedChange {
  path: string;
  committed: Oid | null;
  staged: Oid | null;
}

/** Null where something else than plain files is there. */
async function readStaged({ git }: Repository, head: Oid): Promise<StagedChange[] | null> {
  const args = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', head, '--', LEDGER];
  const parts = (await readGit(git, args)).toString('utf8').split('\0').slice(0, -1);
  const changes = parts.flatMap((line, n) => (n % 2 === 0 ? [{ line, path: parts[n + 1]! }] : []));
  if (!changes.every(({ line }) => /^:(?:100644|0{6}) (?:100644|0{6}) .* [ADM]$/.test(line))) return null;
  return changes.map(({ line, path }) => {
    const [committed, staged] = line.split(' ').slice(2, 4);
    return { path, committed: orNull(committed!), staged: orNull(staged!) };
  });
}

function orNull(oid: Oid): Oid | null {
  return isNullOid(oid) ? null : oid;
}

/** False where it is not sure that nobody wants it. */
async function putBack(repository: Repository, { head, source, ledger }: Standing): Promise<boolean> {
  const topLevel = requireWorkTree(repository);
  const path = `${LEDGER}/${CHECKPOINT}`;
  const changes = await readStaged(repository, head.oid);
  if (changes?.length === 0) return true; // git knows better what is in the index
  const checkpoint = changes?.find((change) => change.path === path);
  if (!changes || (checkpoint?.staged && !(await isOlder(repository, checkpoint.staged, ledger.checkpoint))))
    return false;
  const oid = (await find(source, path))!.oid;
  const replaced = checkpoint ? changes : [...changes, { path, committed: oid, staged: oid }];
  if (!replaced.every((change) => isKnown(topLevel, change))) return false;
  const tiles = changes.filter((change) => change !== checkpoint);
  const old = tiles.filter((tile) => tile.committed === null).map((tile) => tile.path);
  const files = await readFiles(repository, tiles);
  await staging(repository, [...files, { path, bytes: ledger.bytes, ...DERIVED }], old)();
  repository.warn(`What was staged of ${LEDGER} was not what HEAD has, nor anything newer. It is what HEAD has now.`);
  return true;
}

async function readFiles({ store }: Repository, changes: readonly StagedChange[]): Promise<FileToWrite[]> {
  const files: FileToWrite[] = [];
  for (const { path, committed } of changes)
    if (committed !== null) files.push({ path, bytes: Buffer.from(await store.readBlob(committed)), ...DERIVED });
  return files;
}

async function isOlder({ store }: Repository, oid: Oid, { origin, size }: Checkpoint): Promise<boolean> {
  try {
    const staged = parseCheckpoint(parseNote(await store.readBlob(oid)).text);
    return staged.origin === origin && staged.size < size;
  } catch (error) {
    if (error instanceof HandoffError) return false;
    throw error;
  }
}

/** Whether the work tree has what is staged or committed, or nothing: then nothing is lost. */
function isKnown(topLevel: string, { path, staged, committed }: StagedChange): boolean {
  const file = join(topLevel, path);
  const isBlob = (oid: Oid | null) => oid !== null && readBlobFile(file, Buffer.from(oid, 'hex')) !== null;
  return !existsSync(file) || isBlob(staged) || isBlob(committed);
}
