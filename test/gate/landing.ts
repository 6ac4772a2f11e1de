import { spawnSync } from 'node:child_process';
import type { Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { type Change, checkout, code, commitRecords, headOf, staged } from './scenario.ts';

/** Merges and, where git leaves something to decide, leaves it as git left it. */
export function mergeAsItIs(place: Place, other: string): void {
  const { dir } = place;
  const run = (...args: string[]) => spawnSync('git', ['-C', dir, ...args], { env: isolatedEnv }).status === 0;
  if (run('merge', '--quiet', '--no-edit', '--no-ff', other)) return;
  if (run('add', '--all')) git(dir, 'commit', '--quiet', '--no-edit', '--message', 'merge');
  else {
    git(dir, 'merge', '--abort'); // of a submodule that is nowhere git adds nothing
    mergeAsWritten(place, other);
  }
}

/** The merge that git itself writes, marks included, of HEAD and another commit. */
export function mergeAsWritten(place: Place, other: string): void {
  const { dir } = place;
  const parents = [headOf(dir), git(dir, 'rev-parse', other)];
  const args = ['-C', dir, 'merge-tree', '--write-tree', '--no-messages', ...parents];
  const tree = spawnSync('git', args, { env: isolatedEnv, encoding: 'utf8' }).stdout.split('\n')[0]!;
  const made = git(dir, 'commit-tree', tree, ...parents.flatMap((oid) => ['-p', oid]), '-m', 'merge');
  git(dir, 'reset', '--quiet', '--hard', made);
}

/** Main gets a branch as one commit, records included, as a forge does it. */
export function squash(place: Place, name = 'feature', onto = 'main'): string {
  checkout(place, onto);
  git(place.dir, 'merge', '--quiet', '--squash', name);
  git(place.dir, 'commit', '--quiet', '--message', `squash of ${name}`);
  return headOf(place.dir);
}

/** Takes code back and leaves the records. */
export function revert(place: Place, rev: string): string {
  git(place.dir, 'revert', '--no-commit', '--no-edit', rev);
  git(place.dir, 'checkout', '--quiet', 'HEAD', '--', '.handoff');
  return staged(place, () => {}, `revert of ${rev}`);
}

/** Brings the records of a branch, and nothing else of it. */
export function takeRecords(place: Place, from: string): void {
  git(place.dir, 'checkout', '--quiet', from, '--', '.handoff');
  commitRecords(place);
}

/** Main goes on while a branch is away. */
export function mainMoves(place: Place, files: Record<string, string>, back = 'feature'): void {
  checkout(place, 'main');
  code(place, files, 'meanwhile');
  checkout(place, back);
}

/** A branch was pushed for review: whoever judges has its commits. */
export function inReview({ dir }: Place, name = 'feature'): Required<Pick<Change, 'environment'>> {
  return {
    environment: (gitDir) => {
      git(gitDir, 'fetch', '--quiet', '--no-tags', dir, `+refs/heads/${name}:refs/review/${name}`);
    },
  };
}
