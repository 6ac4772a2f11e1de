import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeUnsynced } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { RepositoryDirs } from '../../git/discover.ts';
import type { GitResult } from '../../git/run.ts';

/** What git has of a revert, a pick or a squashed merge that waits for somebody, and throws away with the first commit after it. */
const WAITING = ['REVERT_HEAD', 'MERGE_MSG', 'SQUASH_MSG', 'MERGE_RR'];

/** A commit of records is not the one that somebody was about to make: what that needs is there afterwards as before. */
export async function keepingUnderWay(
  { gitDir }: RepositoryDirs,
  commit: () => Promise<GitResult>,
): Promise<GitResult> {
  const before = WAITING.map((name) => [join(gitDir, name), read(join(gitDir, name))] as const);
  const result = await commit();
  for (const [path, bytes] of before) if (bytes && !read(path)) writeUnsynced(path, bytes);
  return result;
}

function read(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path)) ?? undefined;
}

/** How somebody ends what keeps git from a commit of records: that one takes them along. */
export function howToEnd(stderr: string): string | null {
  const verb = /during a (merge|cherry-pick|rebase)/.exec(stderr)?.[1];
  if (verb === undefined) return null;
  return verb === 'merge' ? 'git commit' : `git ${verb} --continue`;
}
