import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ifThere } from '../disk/if-there.ts';
import { isOid } from '../git/objects/asked-name.ts';
import type { Oid } from '../git/objects/store.ts';
import type { Directories } from '../repository/parts.ts';
import { readPosition } from '../repository/position.ts';
import type { Repository } from '../repository/repository.ts';
import { stagedTree } from '../repository/staged-tree.ts';
import { trackingCommits } from '../repository/tracking.ts';
import { type HookCall, type Judgement, judge, linesOf, passed } from './judgement.ts';
import { protects } from './protected.ts';

/** The merge as it will be: a commit that nothing names, of what is in the index. */
export async function preMergeCommit(repository: Repository, { env }: HookCall): Promise<Judgement[]> {
  const { branch, head } = await readPosition(repository);
  const merged = mergeHeads(repository, env);
  const ref = `refs/heads/${branch}`;
  if (branch === null || head === null || merged.length === 0) return [passed(null, 'nothing is merged')];
  if (!(await protects(repository, head, ref))) return [passed(ref)];
  const made = await repository.store.writeCommit({
    tree: await stagedTree(repository),
    parents: [head, ...merged],
    author: NOBODY,
    committer: NOBODY,
    message: 'a merge that is being judged\n',
  });
  return [
    await judge(repository, ref, { base: head, head: made, knownCommits: await trackingCommits(repository, ref) }),
  ];
}

const NOBODY = 'git-handoff <git-handoff@git-handoff.invalid> 0 +0000';

/** Git writes MERGE_HEAD only after this hook, and names what it merges in the environment; `git commit` reads the file. */
function mergeHeads({ dirs }: Directories, env: NodeJS.ProcessEnv): Oid[] {
  const file = ifThere(() => readFileSync(join(dirs.gitDir, 'MERGE_HEAD'), 'latin1'));
  if (file !== null) return linesOf(file).filter(isOid);
  return Object.keys(env)
    .filter((name) => name.startsWith('GITHEAD_'))
    .map((name) => name.slice('GITHEAD_'.length))
    .filter(isOid);
}
