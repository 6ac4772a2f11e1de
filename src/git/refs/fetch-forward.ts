import { quoteWord } from '../../core/text/quote.ts';
import { gitFailure } from '../run.ts';
import { converse, type Remote, remoteFailure, shownName } from './remote.ts';

/** A branch of a remote, and the ref that git keeps for it here. */
export interface TrackedBranch {
  ref: string;
  tracking: string;
}

/**
 * Fetches these branches, and nothing else that was configured. Only forward: that a remote has another history than it had is for a
 * person to accept.
 */
export async function fetchForward(remote: Remote, branches: readonly TrackedBranch[], why: string): Promise<void> {
  const refspecs = branches.map(({ ref, tracking }) => `${ref}:${tracking}`);
  const args = [...FETCH, '--end-of-options', remote.name, ...refspecs];
  const result = await converse(remote, args);
  if (result.code === 0) return;
  const isRewritten = /\[rejected\].*\(non-fast-forward\)/.test(result.stderr);
  const reason = isRewritten ? 'a branch there has another history than it had' : gitFailure(args, result).message;
  throw remoteFailure(remote, reason, `${why}: git fetch ${quoteWord(shownName(remote))}, then try again.`);
}

const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--refmap=', '--no-prune'],
  ...['--no-recurse-submodules', '--no-auto-maintenance', '--no-force', '--no-filter'],
];
