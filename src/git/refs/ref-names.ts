import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { RepositoryDirs } from '../discover.ts';
import { orNull } from '../or-null.ts';
import { type Git, runGitSync } from '../run.ts';
import { followRef, readRefFile } from './symbolic-ref.ts';

// git looks for a name in six places and takes the first that has it (gitrevisions(7)), so whoever may push a tag called
// `main`, or even `refs/heads/main`, could say what the name of a branch means.

/** What a revision begins with: a name, an id, or nothing that refs have a say in. */
export type Beginning = 'id' | 'ref' | 'absent' | 'other';

/**
 * What the name is that a revision begins with. A full name means that ref and no other, also where it is not there; a short one
 * that more than one ref has is refused.
 */
export function readBeginning(dirs: RepositoryDirs, git: Git, rev: string): Beginning {
  const name = nameIn(rev);
  if (ID.test(name)) return 'id';
  if (name === '') return 'other';
  const isThere = areRefsFiles(dirs) ? openRefs(dirs) : askForRefs(git);
  if (name === 'HEAD' || name === '@') return isBorn(dirs, isThere) ? 'ref' : 'absent';
  if (name.startsWith('refs/')) return isThere(name) ? 'ref' : 'absent';
  const found = placesOf(name).filter(isThere);
  if (found.length > 1) throw ambiguous(name, found);
  return found.length === 1 ? 'ref' : 'other';
}

/** The digits of an id that a name would be if no ref had it: as they are, or as `git describe` writes them. */
export function abbreviationIn(rev: string): string | null {
  return /(?:^|-g)([0-9a-f]{4,63})$/.exec(nameIn(rev))?.[1] ?? null;
}

export function ambiguous(name: string, meanings: readonly string[]): HandoffError {
  return new HandoffError('usage', `${JSON.stringify(name)} can mean ${meanings.join(' or ')}.`, {
    hint: `Say which one, in full: ${meanings.at(-1)}`,
    data: { name, candidates: meanings },
  });
}

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** Up to what leads on from it: `~2`, `^{commit}`, `@{1}`, `:path`. */
function nameIn(rev: string): string {
  return /^(?:[^~^:@]|@(?!\{))*/.exec(rev)![0];
}

/** As git looks for a short name, but for what lies in the git directory itself. */
function placesOf(name: string): string[] {
  const folders = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];
  return [...folders.map((folder) => folder + name), `refs/remotes/${name}/HEAD`];
}

/** On an unborn branch git would go on to look for a tag that is called HEAD. */
function isBorn(dirs: RepositoryDirs, isThere: IsThere): boolean {
  const headRef = followRef(dirs, 'HEAD');
  return headRef === 'HEAD' || headRef === OTHER_FORM || isThere(headRef);
}

type IsThere = (ref: string) => boolean;

/** What HEAD names where refs are not files but tables. */
const OTHER_FORM = 'refs/heads/.invalid';

export function areRefsFiles(dirs: RepositoryDirs): boolean {
  return readRefFile(dirs, 'HEAD') !== `ref: ${OTHER_FORM}`;
}

function askForRefs(git: Git): IsThere {
  return (ref) => runGitSync(git, ['show-ref', '--verify', '--quiet', ref]).code === 0;
}

/** Whether a ref is there by exactly this name. Reads files, starts nothing. */
function openRefs(dirs: RepositoryDirs): IsThere {
  let packed: string | undefined;
  return (ref) => {
    if (readLoose(dirs, ref)) return true;
    packed ??= readPacked(dirs);
    return packed.includes(` ${ref}\n`);
  };
}

function readLoose({ gitDir, commonDir }: RepositoryDirs, ref: string): boolean {
  if (ref.split('/').some((part) => part === '' || part === '.' || part === '..')) return false;
  return [...new Set([gitDir, commonDir])].some((dir) => {
    const stat = orNull(() => lstatSync(join(dir, ref)));
    return stat !== null && !stat.isDirectory();
  });
}

function readPacked({ commonDir }: RepositoryDirs): string {
  return orNull(() => readFileSync(join(commonDir, 'packed-refs'), 'utf8')) ?? '';
}
