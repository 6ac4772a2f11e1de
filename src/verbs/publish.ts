import type { Extent } from '../journal/commit.ts';
import { record } from '../journal/commit.ts';
import { type FileToWrite, removeFile, writeFiles } from '../journal/files.ts';
import { type Repository, requireWorkTree } from './repository.ts';

/** Flags of every verb that writes. */
export interface PublishOptions {
  commit?: boolean;
  stage?: boolean;
}

export interface Plan {
  files: FileToWrite[];
  removed?: string[];
  message: string;
  identity: string;
}

/** Applies a plan: files, index, commit. The only way a verb changes the tree. Returns the commit's id, or null. */
export async function publish(repository: Repository, plan: Plan, options: PublishOptions): Promise<string | null> {
  const topLevel = requireWorkTree(repository);
  await writeFiles(topLevel, plan.files);
  for (const path of plan.removed ?? []) await removeFile(topLevel, path);
  const change = { ...plan, written: plan.files.map(({ path }) => path) };
  return record(repository.git, await repository.config(), change, extentOf(options));
}

function extentOf({ commit, stage }: PublishOptions): Extent {
  if (stage === false) return 'write';
  return commit === false ? 'stage' : 'commit';
}
