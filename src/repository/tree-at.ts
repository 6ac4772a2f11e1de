import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import type { Oid } from '../git/objects/store.ts';
import { noSuchRevision } from '../git/objects/store-error.ts';
import { readGit } from '../git/run.ts';
import type { GitAccess, Messages } from './parts.ts';

/** The tree of a commit, or of this branch before a date. */
export async function treeAt(repository: GitAccess & Messages, since: string): Promise<Source> {
  const { store } = repository;
  // a date is never looked for among refs: whoever may push could call a tag by it
  const commit = DATE.test(since) ? await commitBefore(repository, since) : await store.resolve(`${since}^{commit}`);
  if (commit === null) throw noSuchRevision(since);
  return openTree(store, commit);
}

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z| ?[+-]\d{2}:?\d{2})?)?$/;

/**
 * The newest commit of this branch that has none behind it from after the date. Whoever makes a commit chooses its date, so one
 * that says it is older than what it was built on is not believed. Which commit was meant is told: only a person can know.
 */
async function commitBefore(repository: GitAccess & Messages, date: string): Promise<Oid | null> {
  const [all, older] = [await listFirstParents(repository), new Set(await listFirstParents(repository, date))];
  const commit = all[all.findLastIndex((oid) => !older.has(oid)) + 1] ?? null;
  if (commit !== null)
    repository.warn(`Before ${date} is taken to be commit ${commit.slice(0, 12)}, by the dates that commits have.`);
  return commit;
}

/** The newest first. */
async function listFirstParents({ git }: GitAccess, before?: string): Promise<Oid[]> {
  const dated = before === undefined ? [] : [`--before=${before}`];
  const found = await readGit(git, ['rev-list', '--first-parent', ...dated, 'HEAD', '--']);
  return found.toString('latin1').split('\n').slice(0, -1);
}
