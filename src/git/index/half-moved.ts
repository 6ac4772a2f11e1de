import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { parseRaw, RAW, type RawChange } from '../changes/raw-diff.ts';
import type { Oid } from '../objects/store.ts';
import { type Git, readGitSync } from '../run.ts';

/** From which commit to which, and a folder whose files can all be made again. */
export interface Way {
  from: Oid;
  to: Oid;
  derived: string;
}

/**
 * A move that was killed has replaced files that the index knows nothing of, and git takes them for somebody's work. Those that are
 * as they are to be go into the index. In the folder that can be made again, those that git has as well are put back. What is
 * staged otherwise, and anything else, is left as it is.
 */
export function takeHalfMoved(git: Git, { from, to, derived }: Way): void {
  const staged = new Set(parseRaw(readGitSync(git, ['diff-index', '--cached', ...RAW, from])).map(({ path }) => path));
  const changes = parseRaw(readGitSync(git, ['diff-tree', ...RAW, from, to])).filter(({ path }) => !staged.has(path));
  const found = hashFiles(git, changes);
  const isDone = ({ path, after }: RawChange) => (after?.oid ?? null) === found.get(path);
  const done = changes.filter(isDone).map(({ path }) => path);
  readGitSync(git, ['update-index', '--add', '--remove', '-z', '--stdin'], lines(done, '\0'));
  const others = changes.filter((each) => !isDone(each) && each.before && each.path.startsWith(`${derived}/`));
  const here = knownTo(git, [...found.values()]);
  const isReplaceable = (oid: Oid | null | undefined) => oid === null || (oid !== undefined && here.has(oid));
  const old = others.filter(({ path }) => isReplaceable(found.get(path))).map(({ path }) => path);
  readGitSync(git, ['checkout-index', '--force', '-u', '-z', '--stdin'], lines(old, '\0'));
}

/** The id that git would give to each file as it is now; null where there is none. What is no plain file has no id. A line that begins with a quote would be taken for a quoted one. */
function hashFiles(git: Git, changes: readonly RawChange[]): Map<string, Oid | null> {
  const found = new Map<string, Oid | null>();
  const files: string[] = [];
  for (const { path } of changes) {
    const stat = lstatSync(join(git.dir, path), { throwIfNoEntry: false });
    if (!stat) found.set(path, null);
    else if (stat.isFile() && !path.includes('\n')) files.push(path);
  }
  const oids = readGitSync(
    git,
    ['hash-object', '--stdin-paths'],
    lines(
      files.map((path) => `./${path}`),
      '\n',
    ),
  )
    .toString('latin1')
    .split('\n');
  for (const [n, path] of files.entries()) found.set(path, oids[n]!);
  return found;
}

function knownTo(git: Git, oids: readonly (Oid | null)[]): Set<string> {
  const asked = oids.filter((oid) => oid !== null);
  const answers = readGitSync(git, ['cat-file', '--batch-check=%(objectname)'], lines(asked, '\n')).toString('latin1');
  const answered = answers.split('\n').slice(0, -1);
  return new Set(answered.filter((line) => !line.endsWith(' missing')));
}

function lines(texts: readonly string[], end: string): string {
  return texts.map((text) => `${text}${end}`).join('');
}
