import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import { ifThere } from './if-there.ts';

/** More than any file of the state directory has: a record has 256 KiB at most. */
const LIMIT = 1 << 24;
/** To open a pipe would wait for whoever writes to it, which may be nobody. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

/** A file of the state directory, which others may write to as well; null where there is none. Anything but a plain file is an error. */
export function readState(path: string): Buffer | null {
  return readPlain(path, FLAGS | constants.O_NOFOLLOW);
}

export function readStateText(path: string): string | null {
  return readState(path)?.toString('utf8') ?? null;
}

/** The same for what a person keeps where they like, and may have linked to. */
export function readLinked(path: string): Buffer | null {
  return readPlain(path, FLAGS);
}

function readPlain(path: string, flags: number): Buffer | null {
  const file = ifThere(() => open(path, flags));
  if (file === null) return null;
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw notPlain(path, 'something else');
    if (stat.size > LIMIT) throw notPlain(path, `one of ${stat.size} bytes`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** A link is not followed, and a socket cannot be opened. */
function open(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'ENXIO', 'EOPNOTSUPP')) throw notPlain(path, 'something else');
    throw error;
  }
}

function notPlain(path: string, found: string): HandoffError {
  return new HandoffError('io', `${path}: expected a plain file of at most ${LIMIT} bytes, found ${found}.`, {
    hint: 'No git-handoff writes that. See what it is (ls -l), move it away, then run the command again.',
    data: { path },
  });
}
