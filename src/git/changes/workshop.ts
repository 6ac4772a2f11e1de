import { mkdirSync, mkdtempSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { formatCommit } from '../objects/commit-object.ts';
import { type ObjectType, objectFormat, writeLooseObject } from '../objects/loose-object.ts';
import type { Oid } from '../objects/store.ts';
import type { Git } from '../run.ts';

/**
 * A bare repository of our own that sees the objects of another one and nothing else of it: no attributes, no drivers, no
 * configuration, no refs. So what git makes there depends on objects alone, and what it writes is gone afterwards.
 */
export interface Workshop {
  git: Git;
  write(type: ObjectType, bytes: Uint8Array): Oid;
  /** A commit by nobody, for git to find what two trees have in common. */
  writeCommit(tree: Oid, parents: readonly Oid[], copied?: Copied): Oid;
  close(): void;
}

/** What a commit has of another one whose place it takes. */
interface Copied {
  oid: Oid;
  /** When it was committed, in seconds: of several merge bases git takes the oldest first. */
  date: string;
}

export function openWorkshop(git: Git, commonDir: string): Workshop {
  const format = objectFormat(commonDir);
  const dir = makeDirectory();
  const objects = join(dir, 'objects');
  mkdirSync(objects);
  mkdirSync(join(dir, 'refs'));
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(dir, 'config'), CONFIG[format]);
  const write: Workshop['write'] = (type, bytes) => writeLooseObject(objects, format, type, bytes);
  return {
    git: { ...git, dir, set: environment(git, dir, commonDir) },
    write,
    writeCommit(tree, parents, { oid = '', date = '0' }: Partial<Copied> = {}) {
      const ident = `${NOBODY} ${date} +0000`;
      const draft = { tree, parents: [...parents], author: ident, committer: ident, message: oid };
      return write('commit', formatCommit(draft));
    },
    close: () => removeDirectory(dir),
  };
}

function makeDirectory(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'git-handoff-'));
  } catch (cause) {
    throw new HandoffError('io', `No temporary directory could be made: ${(cause as Error).message}`, {
      hint: 'Free space, or set TMPDIR to a directory that can be written to.',
      cause,
    });
  }
}

/** Mostly nothing was made in it, and Node takes longer to load what removes all below a folder than to remove these. */
function removeDirectory(dir: string): void {
  try {
    for (const name of ['objects', 'refs']) rmdirSync(join(dir, name));
    for (const name of ['HEAD', 'config']) unlinkSync(join(dir, name));
    rmdirSync(dir);
  } catch {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Attributes of the user count wherever the configuration is, unless a file is named in their place. */
const CORE = `[core]\n\tbare = true\n\tattributesFile = ${devNull}\n`;
const CONFIG = {
  sha1: `${CORE}\trepositoryFormatVersion = 0\n`,
  sha256: `${CORE}\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n`,
};

function environment({ set = {} }: Git, dir: string, commonDir: string): Record<string, string> {
  const theirs = set.GIT_OBJECT_DIRECTORY ?? join(commonDir, 'objects');
  const others = set.GIT_ALTERNATE_OBJECT_DIRECTORIES;
  return {
    GIT_DIR: dir,
    GIT_OBJECT_DIRECTORY: join(dir, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: [quoted(theirs), ...(others ? [others] : [])].join(delimiter),
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_SYSTEM: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    ...(set.GIT_ALLOC_LIMIT ? { GIT_ALLOC_LIMIT: set.GIT_ALLOC_LIMIT } : {}),
  };
}

/** As git reads a list of paths: in quotes, with escapes as in C. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

const NOBODY = 'git-handoff <git-handoff@git-handoff.invalid>';
