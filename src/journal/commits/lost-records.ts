import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { finding } from '../../audit/finding.ts';
import type { Finding } from '../../core/error.ts';
import { parseRecordName, ROOT } from '../../core/paths.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { type Git, readGit, runGit } from '../../git/run.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';
import { requireWorkTree } from '../../repository/repository.ts';

/**
 * Records that HEAD has, and the work tree has not: the end of a chain is not missed by the rest of it. Each is looked for, since
 * git can be told to look at none. What a sparse checkout leaves out is not lost.
 */
export async function readLost(repository: GitAccess & Directories): Promise<string[]> {
  const { git, store } = repository;
  const topLevel = requireWorkTree(repository);
  if (!(await store.has(`HEAD:${SESSIONS}`))) return [];
  const paths = namesIn(await readGit(git, ['ls-tree', '-r', '--name-only', '--full-tree', '-z', 'HEAD', SESSIONS]));
  const gone = paths.filter((path) => isRecord(path) && !lstatSync(join(topLevel, path), { throwIfNoEntry: false }));
  const isSparse = gone.length > 0 && (await isSparseCheckout(git));
  const left = new Set(isSparse ? namesIn(await readGit(git, ['ls-files', '-t', '-z', '--', SESSIONS])) : []);
  return gone.filter((path) => !left.has(`S ${path}`));
}

const SESSIONS = `${ROOT}/sessions`;

async function isSparseCheckout(git: Git): Promise<boolean> {
  const { stdout } = await runGit(git, ['config', '--type=bool', '--get', 'core.sparseCheckout']);
  return stdout.toString('latin1') === 'true\n';
}

function namesIn(output: Buffer): string[] {
  return output.toString('utf8').split('\0').slice(0, -1);
}

function isRecord(path: string): boolean {
  const names = path.split('/');
  return names.length === 5 && parseRecordName(names[4]!) !== null;
}

export function lostFromHead(path: string): Finding {
  return finding('record_deleted', path, 'the record that HEAD has', 'nothing', restoreHint(path));
}

/** Brings back what HEAD has, whether or not the index still has it. */
export function restoreHint(path: string): string {
  return `git restore --source=HEAD --staged --worktree -- ${quoteWord(path)}`;
}
