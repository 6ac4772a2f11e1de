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

/** Whether these have done nothing to some paths since they and a commit parted. A merge that hides a side is looked behind. */
export async function isUntouched(
  { git }: Repository,
  tips: readonly Oid[],
  commit: Oid,
  paths: readonly string[],
): Promise<boolean> {
  if (paths.length === 0) return false;
  if (paths.some((path) => /[\n\r\ufffd]/.test(path))) return false; // git reads a path a line, and bytes are no text
  const input = [...tips, `^${commit}`, '--', ...paths].map((line) => `${line}\n`).join('');
  const out = await readGit(git, ['rev-list', '--full-history', '--max-count=1', '--stdin'], { input });
  return out.length === 0;
}
