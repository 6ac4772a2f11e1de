import type { Oid } from '../../git/objects/store.ts';
import { readGit } from '../../git/run.ts';
import type { GitAccess } from '../../repository/parts.ts';

/** Those of some commits that are here, and that another one does not have behind it. */
export async function notBehind({ git, store }: GitAccess, base: Oid, commits: readonly Oid[]): Promise<Set<Oid>> {
  const here: Oid[] = [];
  for (const oid of new Set(commits)) if (await store.has(`${oid}^{commit}`)) here.push(oid);
  if (here.length === 0) return new Set();
  const input = [...here, `^${base}`].map((rev) => `${rev}\n`).join('');
  const out = (await readGit(git, ['rev-list', '--stdin'], { input })).toString('latin1');
  const listed = new Set(out.split('\n'));
  return new Set(here.filter((oid) => listed.has(oid)));
}

/** Whether these have done nothing to some paths since they and a commit parted. */
export async function isUntouched(
  repository: GitAccess,
  tips: readonly Oid[],
  commit: Oid,
  paths: readonly string[],
): Promise<boolean> {
  if (paths.length === 0 || !paths.every(isReadable)) return false;
  const revs = [...tips, `^${commit}`];
  if ((await listPaths(repository, revs, paths, ['--no-merges', '--max-count=1'])).length > 0) return false;
  const merges = await listPaths(repository, revs, paths, ['--merges', `--max-count=${MOST_MERGES}`]);
  if (merges.length === 0) return true;
  return merges.length < MOST_MERGES && !(await differFromAll(repository, merges, paths));
}

/** Whoever has more of them is taken for one that has touched the paths. */
const MOST_MERGES = 256;

/**
 * Whether one of these merges differs from each of its parents in some of the paths. Git lists a merge already where it differs from one
 * parent that is looked at, such as an old branch that never had the paths as they are.
 */
async function differFromAll(
  { git, store }: GitAccess,
  merges: readonly Oid[],
  paths: readonly string[],
): Promise<boolean> {
  const parents = new Map<Oid, readonly Oid[]>();
  for (const oid of merges) parents.set(oid, (await store.readCommit(oid)).parents);
  const pairs = [...parents].flatMap(([oid, from]) => from.map((parent) => `${oid} ${parent}\n`));
  const args = ['diff-tree', '--stdin', '-r', '--no-renames', '--name-only', '--', ...paths];
  const lines = (await readGit(git, args, { input: pairs.join('') })).toString('latin1').split('\n');
  const differing = lines.filter((line) => parents.has(line)); // each comparison that finds something begins with the merge's id
  return merges.some((oid) => differing.filter((line) => line === oid).length === parents.get(oid)!.length);
}

/** The commits of one parent that change one of these paths, the newest first; all of them, or so many. */
export async function listChanging(
  repository: GitAccess,
  revs: readonly string[],
  paths: readonly string[],
  count?: number,
): Promise<Oid[]> {
  const readable = paths.filter(isReadable);
  if (readable.length === 0) return [];
  const most = count === undefined ? [] : [`--max-count=${count}`];
  return listPaths(repository, revs, readable, ['--topo-order', '--no-merges', ...most]);
}

/** Git reads a path a line, and bytes are no text. A path that leaves the tree ends git, and whoever wrote it into a thought is somebody else. */
function isReadable(path: string): boolean {
  return !/[\n\r\ufffd]/.test(path) && !path.split('/').some((part) => part === '' || part === '.' || part === '..');
}

/** A merge that hides a side is looked behind. */
async function listPaths(
  { git }: GitAccess,
  revs: readonly string[],
  paths: readonly string[],
  flags: readonly string[],
): Promise<Oid[]> {
  const input = [...revs, '--', ...paths].map((line) => `${line}\n`).join('');
  const out = await readGit(git, ['rev-list', '--full-history', ...flags, '--stdin'], { input });
  return out.toString('latin1').split('\n').slice(0, -1);
}
