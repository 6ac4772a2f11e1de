import { createHash, type Hash } from 'node:crypto';
import type { LineReader } from './line-reader.ts';
import { unquotePath } from './quoted-path.ts';

/** What a commit, or the step from one tree to another, changes outside the folder that is left out. */
export interface CommitChange {
  paths: string[];
  /** Those of them that are, or were, anything else but a file: a link, a submodule; or a file and a folder in the place of each other. */
  unlikeFiles: ReadonlySet<string>;
  /** SPEC §9.3. Null where nothing changed. */
  patchId: string | null;
}

/** One comparison: raw lines, then the patch. Lines of a file begin with a space, `+`, `-` or `\`. */
export function openPatchReader(): LineReader<CommitChange> {
  const paths: string[] = [];
  const odd: string[] = [];
  const patch = openPatchHash();
  return {
    line(line) {
      if (line[0] !== COLON) return patch.line(line);
      const path = unquotePath(line.subarray(line.indexOf(TAB) + 1));
      paths.push(path);
      const [before, after] = [line.toString('latin1', 1, 7), line.toString('latin1', 8, 14)];
      if (![before, after].every(isFileMode)) odd.push(path);
    },
    finish: () => ({ paths, unlikeFiles: new Set([...odd, ...replacedByFolders(paths)]), patchId: patch.finish() }),
  };
}

const COLON = 0x3a;
const TAB = 9;

/** Or nothing at all. */
export function isFileMode(mode: string): boolean {
  return mode === '000000' || mode === '100644' || mode === '100755';
}

/** A file and what is in a folder of the same name cannot both be there: one of them comes, the other goes. */
function replacedByFolders(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return paths.flatMap((path) => {
    const files = foldersOf(path).filter((folder) => all.has(folder));
    return files.length === 0 ? [] : [path, ...files];
  });
}

function foldersOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}

/** The patch id: SPEC §9.3. */
function openPatchHash(): LineReader<string | null> {
  let hash: Hash | null = null;
  let index: Buffer | null = null;
  return {
    line(line) {
      const start = line.toString('latin1', 0, 12);
      if (start.startsWith('diff --git ')) hash ??= createHash('sha256');
      if (!hash) return; // the line that names the commit
      if (start.startsWith('@@ ')) hash.update('@@\n');
      else if (start.startsWith('index ')) index = Buffer.from(line);
      else {
        // too large for git to compare by lines: then the objects are the change
        if (start.startsWith('Binary files') && index) hash.update(index).update('\n');
        hash.update(line).update('\n');
      }
    },
    finish: () => hash?.digest('hex') ?? null,
  };
}
