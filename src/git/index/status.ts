import { type Git, readGit } from '../run.ts';

/** Whether the work tree is what HEAD has, outside the folder that is left out. `untracked`: new files count as well. */
export async function isClean(git: Git, leftOut: string, untracked: boolean): Promise<boolean> {
  const args = ['status', '--porcelain', '-z', `--untracked-files=${untracked ? 'normal' : 'no'}`, '--no-renames'];
  const scope = ['--ignore-submodules=none', '--', '.', `:(top,exclude,literal)${leftOut}`];
  const out = await readGit({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } }, [...args, ...scope]);
  return out.length === 0;
}
