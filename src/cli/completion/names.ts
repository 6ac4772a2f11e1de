import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isIdentityName } from '../../core/names.ts';
import { parseSessionFolder, parseTaskName, ROOT } from '../../core/paths.ts';

/** What a repository can complete a word with. */
export type NameKind = 'tasks' | 'identities' | 'sessions';

/** More are of no use to anybody who types, and cost time. */
const MOST_NAMES = 1000;

/**
 * For shells, while somebody types: no git, no record is read, only names of files. Whoever may commit chooses those, and a shell may
 * expand what it is given. So only what names a task, an identity or a session goes out: letters, digits, dot, dash and underscore.
 */
export function completeNames(kind: string, cwd: string): string[] {
  const top = topOf(cwd);
  if (top === null || !isNameKind(kind)) return [];
  return READ[kind](join(top, ROOT)).slice(0, MOST_NAMES);
}

function isNameKind(kind: string): kind is NameKind {
  return Object.hasOwn(READ, kind);
}

const READ: Readonly<Record<NameKind, (root: string) => string[]>> = {
  tasks: (root) => namesIn(join(root, 'tasks')).flatMap((name) => parseTaskName(name) ?? []),
  identities: (root) => namesIn(join(root, 'identities')).filter(isIdentityName),
  sessions: (root) => {
    const owners = namesIn(join(root, 'sessions')).filter(isIdentityName);
    const folders = owners.flatMap((owner) => namesIn(join(root, 'sessions', owner)));
    // the newest first: a folder's name begins with its time
    return folders
      .sort()
      .reverse()
      .flatMap((name) => parseSessionFolder(name)?.sid8 ?? []);
  },
};

/** Nobody who types wants to hear why there is nothing to offer. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The top of the work tree that a folder is in, if it has records. */
function topOf(cwd: string): string | null {
  for (let dir = cwd; ; dir = dirname(dir)) {
    if (existsSync(join(dir, ROOT))) return dir;
    if (existsSync(join(dir, '.git')) || dirname(dir) === dir) return null;
  }
}
