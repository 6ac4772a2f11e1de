import type { Oid } from '../git/objects/store.ts';
import { type Git, readGit } from '../git/run.ts';
import type { GitAccess } from './parts.ts';

/** Whether a branch, or another ref, has a file at this path. */
export type IsInRef = (path: string) => Promise<boolean>;

/** The refs are read once, and not before the first question: most verbs have none. */
export function askRefs({ git, store }: GitAccess): IsInRef {
  let tips: Promise<Oid[]> | undefined;
  return async (path) => {
    tips ??= readTips(git);
    for (const tip of await tips) if (await store.has(`${tip}:${path}`)) return true;
    return false;
  };
}

/** Branches come first. A stash keeps nothing: it is there to be dropped. */
async function readTips(git: Git): Promise<Oid[]> {
  const output = await readGit(git, ['for-each-ref', '--format=%(objectname) %(refname)']);
  const refs = output.toString('latin1').split('\n').slice(0, -1);
  return [...new Set(refs.filter((line) => !line.endsWith(' refs/stash')).map((line) => line.split(' ')[0]!))];
}
