import type { HandoffError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/store.ts';

/** A file or folder somewhere: in a commit's tree, in the index, or on disk. */
export interface Entry {
  /** From the top of the repository, with slashes. */
  path: string;
  name: string;
  /** As git writes it: 040000, 100644, 100755, 120000, 160000. */
  mode: string;
  /** What git calls its content; null where git has not seen it. */
  oid: Oid | null;
}

/** Something that holds a repository's files. Everything that is judged is read through this. */
export interface Source {
  /** The oid of the whole, if it has one: the key to what was found in it last time. */
  readonly oid: Oid | null;
  root(): Promise<Entry[]>;
  list(folder: Entry): Promise<Entry[]>;
  /** What each of two folders has from the first entry on in which they differ; where folders have ids. */
  compare?(before: Entry, now: Entry): Promise<[Entry[], Entry[]]>;
  /** Which texts the names in a folder hold, where folders have ids; perhaps some that they do not. */
  mentions?(folder: Entry, texts: readonly string[]): Promise<string[]>;
  read(file: Entry, limit: number): Promise<Uint8Array>;
  /** For each what `read` would give, or throw. */
  readAll(files: readonly Entry[], limit: number): Promise<(Uint8Array | HandoffError)[]>;
}

/** An entry by its path, or null. Walks names only; symbolic links are entries, never followed. */
export async function find(source: Source, path: string): Promise<Entry | null> {
  let entries = await source.root();
  let entry: Entry | undefined;
  for (const name of path.split('/')) {
    if (entry) entries = entry.mode === FOLDER ? await source.list(entry) : [];
    entry = entries.find((candidate) => candidate.name === name);
    if (!entry) return null;
  }
  return entry ?? null;
}

export const FOLDER = '040000';
export const FILE = '100644';
