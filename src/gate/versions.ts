import type { VersionReader } from '../audit/trust/succession.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import type { Oid } from '../git/objects/store.ts';
import type { Range } from '../git/refs/range.ts';
import { readGit } from '../git/run.ts';
import type { GitAccess } from '../repository/parts.ts';

/** So many are held at once. */
const AT_ONCE = 64;

/** The change, and the trunk that its branch may lag behind. */
interface Step {
  base: Oid;
  range: Range;
  tip: Oid | null;
}

/**
 * What the commits of a change have at a path, and those of the trunk: a branch that takes a document from there, and no code, has no
 * commit of the versions in between. Asked only where a document is more than one version further, and each commit makes one version
 * at most: where there are fewer of them, nothing is read.
 */
export function versionReader({ git, store }: GitAccess, { base, range, tip }: Step): VersionReader {
  return async function* (path, count) {
    const onTrunk = tip === null ? [] : await commitsAt(git, path, tip, base);
    const commits = [...range.commits.map(({ oid }) => oid), ...onTrunk];
    if (count > commits.length) return;
    const found = await Promise.all(commits.map((oid) => store.resolve(`${oid}:${path}`)));
    const blobs = [...new Set(found)].filter((oid) => oid !== null);
    for (let at = 0; at < blobs.length; at += AT_ONCE) {
      const files = await store.readBlobs(blobs.slice(at, at + AT_ONCE), MAX_RECORD_BYTES);
      yield* files.filter((file) => file instanceof Uint8Array);
    }
  };
}

/** The commits that change it, which `tip` has and `base` has not: few of all that a trunk is ahead. */
async function commitsAt(git: GitAccess['git'], path: string, tip: Oid, base: Oid): Promise<Oid[]> {
  const args = ['rev-list', '--full-history', tip, '--not', base, '--', `:(top,literal)${path}`];
  const magic = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  return (await readGit(magic, args)).toString('latin1').split('\n').slice(0, -1);
}
