import type { RepositoryDirs } from '../discover.ts';
import type { Ref } from '../objects/store.ts';
import { type Git, readGit } from '../run.ts';
import { readRefFiles } from './ref-files.ts';

/** Where the branches of this clone are, and where those of its remotes were when they were last heard of; its own come first. */
export async function readBranchTips(git: Git, dirs: RepositoryDirs): Promise<Ref[]> {
  return readRefFiles(dirs, FOLDERS, isBranch) ?? (await askForRefs(git)).filter(({ name }) => isBranch(name));
}

const FOLDERS = ['refs/heads/', 'refs/remotes/'];

async function askForRefs(git: Git): Promise<Ref[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)'];
  return (await readGit(git, [...args, ...FOLDERS])).toString('utf8').split('\n').slice(0, -1).map(parseLine);
}

function parseLine(line: string): Ref {
  const space = line.indexOf(' ');
  return { oid: line.slice(0, space), name: line.slice(space + 1) };
}

/** `refs/remotes/origin/HEAD` is another name of a branch that is listed as well. */
function isBranch(name: string): boolean {
  return !/^refs\/remotes\/[^/]+\/HEAD$/.test(name);
}
