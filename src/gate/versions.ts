import type { VersionReader } from '../audit/trust/succession.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import type { GitStore } from '../git/objects/store.ts';
import type { Range } from '../git/refs/range.ts';

/** So many are held at once. */
const AT_ONCE = 64;

/**
 * What the commits of a change have at a path. Asked only where a document is more than one version further, and each commit makes
 * one version at most: where there are fewer of them, nothing is read.
 */
export function versionReader(store: GitStore, { commits }: Range): VersionReader {
  return async function* (path, count) {
    if (count > commits.length) return;
    const found = await Promise.all(commits.map(({ oid }) => store.resolve(`${oid}:${path}`)));
    const blobs = [...new Set(found)].filter((oid) => oid !== null);
    for (let at = 0; at < blobs.length; at += AT_ONCE) {
      const files = await store.readBlobs(blobs.slice(at, at + AT_ONCE), MAX_RECORD_BYTES);
      yield* files.filter((file) => file instanceof Uint8Array);
    }
  };
}
