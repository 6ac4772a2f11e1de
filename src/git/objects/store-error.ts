import { HandoffError } from '../../core/error.ts';
import type { Oid } from './store.ts';

export const NO_REPOSITORY = { hint: 'Run `git init` here, or name a repository with `-C <directory>`.' };

export function tooLarge(oid: Oid, size: number, limit: number): HandoffError {
  return new HandoffError('too_large', `Object ${oid} has ${size} bytes; the limit is ${limit}`, {
    data: { size, limit, expected: `at most ${limit} bytes`, found: `${size} bytes` },
  });
}

/** Null for an object that is larger than whoever reads it takes. */
export function nullIfTooLarge(error: unknown): null {
  if (error instanceof HandoffError && error.code === 'too_large') return null;
  throw error;
}

export function missingObject(rev: string): HandoffError {
  return new HandoffError('io', `The repository has no object for ${rev}`, {
    hint: 'If this is a shallow or partial clone, fetch the rest: `git fetch --unshallow` or `git fetch --refetch --no-filter`.',
  });
}

/** An entry can promise a blob and name a tree: what the object is decides, not what the tree says. */
export function wrongType(oid: Oid, expected: string, found: string): HandoffError {
  return new HandoffError('mode_invalid', `Object ${oid} should be a ${expected} and is a ${found}`);
}

export function noSuchRevision(rev: string): HandoffError {
  return new HandoffError('unknown_commit', `There is no commit named ${JSON.stringify(rev)}`, {
    hint: 'git branch --all and git log list what there is; git fetch brings what the remote has.',
  });
}

export function shallowAncestry(): HandoffError {
  return new HandoffError('unsupported', 'A shallow repository cannot tell how two commits are related', {
    hint: 'Fetch the whole history: `git fetch --unshallow`.',
  });
}
