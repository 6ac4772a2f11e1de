import type { FieldsOf } from '../../core/record/kinds.ts';
import { findSecrets } from '../../core/text/secrets.ts';
import type { Uncommitted } from '../../git/index/uncommitted.ts';
import { decodeName } from '../../git/objects/name-text.ts';

/** What a baton says of changes that were not committed. SPEC §8.6 */
export type Saved = NonNullable<FieldsOf<'baton'>['saved']>;

/** Where the commit of a session's changes is kept. */
export function savedRef(sessionId: string): string {
  return `refs/handoff/saved/${sessionId.slice(0, 8)}`;
}

const MOST_PATHS = 64;
const MOST_BYTES = 4096;
/** What quotes, indentation and the end of a line add to a path. */
const AROUND = 12;

/** The first of the paths, as many as a baton has room for, and how many more there are. */
export function namePaths(changes: readonly Uncommitted[], room: number): Pick<Saved, 'paths' | 'more'> {
  let left = Math.min(room, MOST_BYTES);
  const paths: string[] = [];
  for (const { path } of changes) {
    const name = shownPath(path);
    const size = Buffer.byteLength(JSON.stringify(name)) * 2 + AROUND; // as escapes, at most twice as long
    // a record in which something looks like a secret is refused, and this one is not worth that
    if (paths.length === MOST_PATHS || size > left || findSecrets(name).length > 0) continue;
    paths.push(name);
    left -= size;
  }
  const more = changes.length - paths.length;
  return { paths, ...(more > 0 ? { more } : {}) };
}

/** A path that is bytes, as people read it. */
export function shownPath(path: string): string {
  return decodeName(Buffer.from(path, 'latin1'));
}
