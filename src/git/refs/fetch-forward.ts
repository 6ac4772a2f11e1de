import { quoteWord } from '../../core/text/quote.ts';
import { gitFailure } from '../run.ts';
import { converse, type Remote, remoteFailure, shownName } from './remote.ts';

/** A branch of a remote, and the ref that keeps it here. */
export interface TrackedBranch {
  ref: string;
  tracking: string;
  /** The ref is none that `git fetch` would bring up to date by itself. */
  isOurs?: boolean;
}

/**
 * Fetches these branches, and nothing else that was configured. Only forward: that a remote has another history than it had is for a
 * person to accept.
 */
export async function fetchForward(remote: Remote, branches: readonly TrackedBranch[], why: string): Promise<void> {
  await fetchRefs(remote, branches, { why, refspecs: branches.map(refspec), flags: [] });
}

/** Of each of them only the newest commit; whether that one follows the one before cannot be told then. */
export async function fetchNewest(remote: Remote, branches: readonly TrackedBranch[], why: string): Promise<void> {
  await fetchRefs(remote, branches, { why, refspecs: branches.map(forced), flags: ['--depth=1'] });
}

interface Fetching {
  why: string;
  refspecs: readonly string[];
  flags: readonly string[];
}

async function fetchRefs(remote: Remote, branches: readonly TrackedBranch[], fetching: Fetching): Promise<void> {
  const { why, refspecs, flags } = fetching;
  const args = [...FETCH, ...flags, '--end-of-options', remote.name, ...refspecs];
  const result = await converse(remote, args);
  if (result.code === 0) return;
  const isRewritten = /\[rejected\].*\(non-fast-forward\)/.test(result.stderr);
  const reason = isRewritten ? 'a branch there has another history than it had' : gitFailure(args, result).message;
  const unconfigured = branches.filter(({ isOurs }) => isOurs).map((branch) => quoteWord(forced(branch)));
  const typed = ['git fetch', quoteWord(shownName(remote)), ...unconfigured];
  throw remoteFailure(remote, reason, `${why}: ${typed.join(' ')}, then try again.`);
}

function refspec({ ref, tracking }: TrackedBranch): string {
  return `${ref}:${tracking}`;
}

function forced(branch: TrackedBranch): string {
  return `+${refspec(branch)}`;
}

const FETCH = [
  ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--refmap=', '--no-prune'],
  ...['--no-recurse-submodules', '--no-auto-maintenance', '--no-force', '--no-filter'],
];
