import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { type FileToWrite, removeFile, writeFiles } from '../../disk/tree-files.ts';
import { assertUnlocked } from '../../git/index/locked-index.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { stateDirs } from '../sessions/registry.ts';
import { commitByGit } from './commit.ts';

/** Flags of every verb that writes. */
export interface PublishOptions {
  commit?: boolean;
  /** True: also where nothing is committed. False: only write the files. */
  stage?: boolean;
}

export interface Plan {
  files: FileToWrite[];
  removed?: string[];
  message: string;
  identity: string;
}

/**
 * Applies a plan for documents: the files, the index where it is asked for or committed, the commit. Returns its id, or null.
 * Records and the ledger go other ways (decision 0031).
 */
export async function publish(repository: Repository, plan: Plan, options: PublishOptions): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  const { files, removed = [] } = plan;
  const isCommitting = options.stage !== false && options.commit !== false;
  const isStaging = isCommitting || options.stage === true;
  const { scratch } = stateDirs(repository.stateDir);
  const written = files.map(({ path }) => path);
  const before = await readBefore(topLevel, written);
  try {
    writeFiles(topLevel, files, scratch);
    if (isStaging) assertUnlocked(repository.dirs, await repository.index.add(written));
  } catch (error) {
    await putBack(topLevel, before, scratch); // as if nothing had been tried, so that it can be tried again
    throw error;
  }
  for (const path of removed) removeFile(topLevel, path);
  if (isCommitting) return commitByGit(repository, { ...plan, written });
  if (isStaging) assertUnlocked(repository.dirs, await repository.index.add(removed));
  return null;
}

/** What stood at a path: bytes, nothing, or something that is no file and was never touched. */
type Before = Map<string, Uint8Array | 'nothing' | 'other'>;

async function readBefore(topLevel: string, paths: readonly string[]): Promise<Before> {
  const before: Before = new Map();
  for (const path of paths) before.set(path, await readIfThere(join(topLevel, path)));
  return before;
}

async function readIfThere(path: string): Promise<Uint8Array | 'nothing' | 'other'> {
  try {
    return await readFile(path);
  } catch (error) {
    if (!hasCode(error)) throw error;
    return error.code === 'ENOENT' ? 'nothing' : 'other';
  }
}

async function putBack(topLevel: string, before: Before, scratch: string): Promise<void> {
  for (const [path, bytes] of before) {
    if (bytes === 'nothing') await rm(join(topLevel, path), { force: true });
    else if (bytes !== 'other') writeFiles(topLevel, [{ path, bytes, replaces: true }], scratch);
  }
}
