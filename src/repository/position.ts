import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere } from '../disk/if-there.ts';
import { isOid } from '../git/objects/asked-name.ts';
import type { Directories, GitAccess } from './parts.ts';

/** Where the work tree stands. */
export interface Position {
  /** Null when HEAD is detached, or its branch has a name that cannot be written down. */
  branch: string | null;
  /** Null on an unborn branch. */
  head: string | null;
}

export async function readPosition(repository: GitAccess & Directories): Promise<Position> {
  return { branch: readBranch(repository), head: await repository.store.resolve('HEAD') };
}

export function readBranch(repository: Directories): string | null {
  return branchOf(readHead(repository));
}

/** Whether HEAD names a commit: that no branch could be read does not say so. */
export function isDetached(repository: Directories): boolean {
  return isOid(readHead(repository).toString('latin1').trimEnd());
}

export function isRebasing({ dirs }: Directories): boolean {
  return ['rebase-merge', 'rebase-apply'].some((name) => existsSync(join(dirs.gitDir, name)));
}

/** Whether git has stopped in the middle of something, and waits for somebody to go on. */
export function isWaiting(repository: Directories): boolean {
  const { gitDir } = repository.dirs;
  const heads = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];
  return isRebasing(repository) || heads.some((name) => existsSync(join(gitDir, name)));
}

function readHead({ dirs }: Directories): Buffer {
  return ifThere(() => readFileSync(join(dirs.gitDir, 'HEAD'))) ?? Buffer.alloc(0);
}

/** A name that is no UTF-8 cannot be written down; where refs are kept in another form, HEAD names `.invalid`. */
function branchOf(bytes: Buffer): string | null {
  const text = bytes.toString('utf8');
  const branch = /^ref: refs\/heads\/(.+)\n$/.exec(text)?.[1] ?? null;
  return branch !== '.invalid' && Buffer.from(text).equals(bytes) ? branch : null;
}

/** As records hold it. */
export function positionFields({ branch, head }: Position): { branch?: string; head: string | null } {
  return { ...(branch === null ? {} : { branch }), head };
}
