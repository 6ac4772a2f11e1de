import { HandoffError } from '../core/error.ts';
import { assertRevision } from '../git/objects/asked-name.ts';
import type { Commit, Oid } from '../git/objects/store.ts';
import { readGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings } from './parts.ts';
import { readBranch } from './position.ts';
import { remoteNames } from './tracking.ts';

/** The commit that a person names, by as much of its id as is needed. */
export async function requireCommit({ store }: GitAccess, rev: string): Promise<Commit> {
  assertRevision(rev);
  if (await store.has(`${rev}^{commit}`)) return store.readCommit(rev);
  const message =
    rev === 'HEAD' ? 'There is no commit yet on this branch.' : `There is no commit ${JSON.stringify(rev)} here.`;
  throw new HandoffError('unknown_commit', message, {
    hint: 'git log shows them. Commit the work first; what is elsewhere needs git fetch.',
    data: { commit: rev },
  });
}

/** The branch that the work is on: as it is given, else the current one, else the only one that has the commit. */
export async function requireBranch(
  repository: GitAccess & Directories & Settings,
  given: string | undefined,
  commit: Oid,
): Promise<string> {
  if (given !== undefined) return givenBranch(repository, given.replace(/^refs\/heads\//, ''), commit);
  const checkedOut = readBranch(repository);
  if (checkedOut !== null && (await contains(repository, `refs/heads/${checkedOut}`, commit))) return checkedOut;
  const names = await branchesWith(repository, commit);
  if (names.length === 1) return names[0]!;
  const found = names.length === 0 ? 'No branch has' : `${names.length} branches have`;
  throw new HandoffError('usage', `${found} commit ${commit.slice(0, 12)}: which one is the work on?`, {
    hint:
      names.length === 0 ? 'git branch NAME makes one.' : `Say --branch with one of ${names.slice(0, 8).join(', ')}.`,
    data: { branches: names.slice(0, 64) },
  });
}

async function givenBranch(repository: GitAccess & Settings, name: string, commit: Oid): Promise<string> {
  const remotes = remoteNames(await repository.config()).map((remote) => `refs/remotes/${remote}/${name}`);
  const there: string[] = [];
  // what is no name of a branch could still be an expression that names a commit
  for (const ref of NO_NAME.test(name) ? [] : [`refs/heads/${name}`, ...remotes]) {
    if (await repository.store.has(ref)) there.push(ref);
  }
  if (there.length === 0) {
    throw new HandoffError('usage', `There is no branch ${JSON.stringify(name)} here.`, {
      hint: 'git branch --all shows them; a branch that is elsewhere needs git fetch.',
      data: { branch: name },
    });
  }
  for (const ref of there) if (await contains(repository, ref, commit)) return name;
  throw new HandoffError('usage', `Branch ${name} does not have commit ${commit.slice(0, 12)}.`, {
    hint: 'Name the commit and the branch that belong together, or leave both out on that branch.',
    data: { branch: name, commit },
  });
}

const NO_NAME = /[\s~^:?*[\\]|\.\.|@\{/;

async function contains({ store }: GitAccess, ref: string, commit: Oid): Promise<boolean> {
  const tip = (await store.has(ref)) ? (await store.readCommit(ref)).oid : null;
  return tip !== null && (tip === commit || (await store.isAncestor(commit, tip)));
}

/** Local ones, and those of remotes by the name they have there. */
async function branchesWith(repository: GitAccess & Settings, commit: Oid): Promise<string[]> {
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${commit}`, 'refs/heads/', 'refs/remotes/'];
  const refs = (await readGit(repository.git, args)).toString('utf8').split('\n').slice(0, -1);
  const folders = remoteNames(await repository.config()).map((remote) => `refs/remotes/${remote}/`);
  const names = refs.map((ref) => {
    const folder = ['refs/heads/', ...folders].find((prefix) => ref.startsWith(prefix));
    return folder === undefined ? null : ref.slice(folder.length);
  });
  return [...new Set(names.filter((name) => name !== null && name !== 'HEAD'))] as string[];
}
