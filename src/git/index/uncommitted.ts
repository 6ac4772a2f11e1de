import { type Git, readGit } from '../run.ts';

/** A path at which the work tree is not what HEAD has. */
export interface Uncommitted {
  /** Bytes, one a character. A folder that is a repository of its own ends in a slash. */
  path: string;
  /** For a submodule: whether it has changes of its own, which no commit of this repository can hold. */
  isDirtyInside: boolean;
}

/** All of them outside the folder that is left out; files that git ignores are none. */
export async function readUncommitted(git: Git, leftOut: string): Promise<Uncommitted[]> {
  const scope = ['--', '.', `:(top,exclude,literal)${leftOut}`];
  const out = await readGit({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } }, [...STATUS, ...scope]);
  return out
    .toString('latin1')
    .split('\0')
    .slice(0, -1)
    .map(parseLine)
    .filter((line) => line !== null);
}

const STATUS = [
  ...['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', '--no-ahead-behind'],
  '--ignore-submodules=none',
];

/** How many fields come before the path; a renamed file is shown as one that went and one that came. */
const FIELDS: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

function parseLine(line: string): Uncommitted | null {
  const count = FIELDS[line[0]!];
  if (count === undefined) return null;
  const fields = line.split(' ', count);
  const path = line.slice(fields.join(' ').length + 1);
  return { path, isDirtyInside: /^S.(?:M|.U)/.test(fields[2] ?? '') };
}
