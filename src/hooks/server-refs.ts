import type { Oid } from '../git/objects/store.ts';
import { readGit } from '../git/run.ts';
import type { GitAccess } from '../repository/parts.ts';

/** Every ref that is there, by its full name, in the order of names. */
export type Refs = ReadonlyMap<string, Oid>;

/**
 * By one process, which costs what git itself spends to tell a client what there is. By full names alone: where there is no such
 * branch, git would take a tag of that name for it.
 */
export async function readRefs({ git }: GitAccess): Promise<Refs> {
  const out = await readGit(git, ['for-each-ref', '--format=%(objectname) %(refname)']);
  const lines = out.toString('utf8').split('\n').slice(0, -1);
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]));
}
