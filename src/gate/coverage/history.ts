import type { Oid } from '../../git/objects/store.ts';
import { readGit } from '../../git/run.ts';
import type { Repository } from '../../repository/repository.ts';

/** Those of some commits that are here, and that another one does not have behind it. */
export async function notBehind({ git, store }: Repository, base: Oid, commits: readonly Oid[]): Promise<Set<Oid>> {
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
  repository: Repository,
  tips: readonly Oid[],
  commit: Oid,
  paths: readonly string[],
): Promise<boolean> {
  if (paths.length === 0 || !paths.every(isReadable)) return false;
  return (await listPaths(repository, [...tips, `^${commit}`], paths, ['--max-count=1'])).length === 0;
}

/** The commits of one parent that change one of these paths, the newest first; all of them, or so many. */
export async function listChanging(
  repository: Repository,
  revs: readonly string[],
  paths: readonly string[],
  count?: number,
): Promise<Oid[]> {
  const readable = paths.filter(isReadable);
  if (readable.length === 0) return [];
  const most = count === undefined ? [] : [`--max-count=${count}`];
  return listPaths(repository, revs, readable, ['--topo-order', '--no-merges', ...most]);
}

/** Git reads a path a line, and bytes are no text. */
function isReadable(path: string): boolean {
  return !/[\n\r\ufffd]/.test(path);
}

/** A merge that hides a side is looked behind. */
async function listPaths(
  { git }: Repository,
  revs: readonly string[],
  paths: readonly string[],
  flags: readonly string[],
): Promise<Oid[]> {
  const input = [...revs, '--', ...paths].map((line) => `${line}\n`).join('');
  const out = await readGit(git, ['rev-list', '--full-history', ...flags, '--stdin'], { input });
  return out.toString('latin1').split('\n').slice(0, -1);
}
