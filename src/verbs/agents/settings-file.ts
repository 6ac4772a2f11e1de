import { accessSync, constants, lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readState } from '../../disk/state-file.ts';

/** A file of a user's, as it was when we looked. */
export interface SettingsFile {
  /** As the program names it. */
  path: string;
  /** Where its bytes are: a link in the path is followed, and stays. */
  target: string;
  /** Null: it is not there. */
  text: string | null;
  mode: number;
}

/** The folders that a link may not lead out of. */
export interface Boundary {
  roots: readonly string[];
  name: string;
}

/** Reads a file that is to be changed. Whatever could not be changed safely is refused before anything is. */
export function readSettings(path: string, boundary: Boundary): SettingsFile {
  const target = resolveInside(path, boundary);
  const stat = ifThere(() => lstatSync(target));
  if (stat === null) {
    assertFolder(path, dirname(target));
    return { path, target, text: null, mode: 0o644 };
  }
  assertWritable(path, stat);
  return { path, target, text: decode(path, readState(target)!), mode: stat.mode & 0o7777 };
}

/** Dotfiles are often links, and are followed, but not to where the file would be somebody else's. */
function resolveInside(path: string, { roots, name }: Boundary): string {
  const target = resolveLinks(path);
  if (roots.some((root) => isInside(target, resolveLinks(root)))) return target;
  throw settingsRefused(path, `leads to ${target}, which is outside ${name}`, 'Replace the link by a file of its own.');
}

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

export function resolveLinks(path: string): string {
  const stat = ifThere(() => lstatSync(path));
  if (stat?.isSymbolicLink()) return followed(path);
  if (stat) return realpathSync(path);
  const above = dirname(path);
  return above === path ? path : join(resolveLinks(above), path.slice(above.length).replace(/^\/+/, ''));
}

function followed(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ELOOP', 'ENOTDIR')) throw error;
    throw settingsRefused(path, 'is a link that leads nowhere', 'Remove the link, or make what it names.');
  }
}

function assertWritable(path: string, stat: Stats): void {
  if (!stat.isFile()) throw settingsRefused(path, `is ${kindOf(stat)}, no file`, 'Move it away, and try again.');
  // for root everything is writable, and the bits say what the user meant
  if ((stat.mode & 0o222) === 0) throw settingsRefused(path, 'is read-only', `chmod u+w, and try again.`);
}

function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a directory';
  return stat.isFIFO() ? 'a pipe' : 'something else';
}

/** The nearest folder that is there has to take a new one. */
function assertFolder(path: string, folder: string): void {
  const stat = ifThere(() => lstatSync(folder));
  if (stat === null) assertFolder(path, dirname(folder));
  else assertTakesFiles(path, folder, stat);
}

function assertTakesFiles(path: string, folder: string, stat: Stats): void {
  if (!stat.isDirectory()) throw settingsRefused(path, `cannot be made: ${folder} is no directory`, 'Move that away.');
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (!hasCode(error)) throw error;
    throw settingsRefused(path, `cannot be made: ${folder} is read-only`, `chmod u+w ${folder}, and try again.`);
  }
}

function decode(path: string, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw settingsRefused(path, 'is not UTF-8', 'Save it as UTF-8, and try again.');
}

export function settingsRefused(path: string, reason: string, hint: string): HandoffError {
  return new HandoffError('settings_refused', `${path} ${reason}. Nothing was changed.`, { hint, data: { path } });
}
