import type { Ref } from '../objects/store.ts';
import { type Git, readGit } from '../run.ts';

/** More branches than anybody works on; a clone of a huge project may still have fetched so many. */
export const MOST_TIPS = 4096;

export interface BranchTips {
  tips: Ref[];
  /** There are more, and nobody has looked at them. */
  isCut: boolean;
}

/** Where the branches of this clone are, and where those of its remotes were when they were last heard of; its own come first. */
export async function readBranchTips(git: Git): Promise<BranchTips> {
  const args = ['for-each-ref', `--count=${MOST_TIPS + 1}`, '--format=%(objectname) %(refname)'];
  const output = await readGit(git, [...args, 'refs/heads/', 'refs/remotes/']);
  const refs = output.toString('utf8').split('\n').slice(0, -1).map(parseLine);
  return { tips: refs.slice(0, MOST_TIPS).filter(isBranch), isCut: refs.length > MOST_TIPS };
}

function parseLine(line: string): Ref {
  const space = line.indexOf(' ');
  return { oid: line.slice(0, space), name: line.slice(space + 1) };
}

/** `refs/remotes/origin/HEAD` is another name of a branch that is listed as well. */
function isBranch({ name }: Ref): boolean {
  return !/^refs\/remotes\/[^/]+\/HEAD$/.test(name);
}
