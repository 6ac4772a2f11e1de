import type { HandoffError } from '../../core/error.ts';

/** A full object id in lower case: 40 hexadecimal digits, or 64 in a SHA-256 repository. */
export type Oid = string;

export interface TreeEntry {
  /** Octal, padded to six digits: `100644`, `040000`. One that git never writes stays as it is, and is neither file nor folder. */
  mode: string;
  /**
   * Names are bytes in git and text here, as `decodeName` has it: two that differ never become one. `writeTree` refuses a name
   * that is no UTF-8 rather than rename the file.
   */
  name: string;
  oid: Oid;
}

export interface Tree {
  oid: Oid;
  /** In the order of the object, duplicates included: a hand-built tree can have them. */
  entries: TreeEntry[];
}

export interface CommitDraft {
  tree: Oid;
  parents: Oid[];
  /** As in the object: `Ada <ada@example.org> 1767323045 +0000`. */
  author: string;
  committer: string;
  message: string;
}

export interface Commit extends CommitDraft {
  oid: Oid;
}

export interface Ref {
  name: string;
  oid: Oid;
}

/**
 * Objects, refs and ancestry of one repository. Bytes, paths and object ids; it knows no records.
 *
 * Null means that a name names nothing. An object that ought to be there and is not (a shallow or partial clone, a
 * damaged repository) is an error, so that it never reads as "there are no records".
 */
export interface GitStore {
  /** The object a revision names, unpeeled; null when it names nothing, as on an unborn branch. */
  resolve(rev: string): Promise<Oid | null>;
  /** The tree of a tree, commit or tag; null when the revision names nothing. More bytes than `limit` is `too_large`. */
  readTree(rev: string, limit?: number): Promise<Tree | null>;
  /** What each of two trees has from the first entry on in which they differ: a folder of thousands that grew at its end. */
  compareTrees(before: Oid, now: Oid): Promise<[TreeEntry[], TreeEntry[]]>;
  /** Which texts stand in the bytes of a tree: names in a folder of thousands, without reading all of them. */
  findInTree(oid: Oid, texts: readonly string[]): Promise<string[]>;
  /** More bytes than `limit` is `too_large`. The bytes may be a view of a larger buffer: copy what you keep. */
  readBlob(oid: Oid, limit?: number): Promise<Uint8Array>;
  /** For each blob what `readBlob` would give, or throw. */
  readBlobs(oids: readonly Oid[], limit?: number): Promise<(Uint8Array | HandoffError)[]>;
  /** More bytes than `limit` is `too_large`. */
  readCommit(rev: string, limit?: number): Promise<Commit>;
  /**
   * A commit and those before it along first parents, up to `end` and without it. Perhaps not all of them: some are asked for at once,
   * and it ends before one that is larger than a commit may be that arrives.
   */
  readLine(oid: Oid, end: Oid): Promise<Commit[]>;
  /** A commit is its own ancestor. Refuses to say no in a shallow repository. */
  isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean>;
  /** All of them; none when the histories are unrelated. Refuses in a shallow repository. */
  mergeBases(a: Oid, b: Oid): Promise<Oid[]>;
  /** The refs under a prefix such as `refs/heads/`, by name; dangling symbolic refs are left out. */
  refs(prefix: string): Promise<Ref[]>;
  isShallow(): Promise<boolean>;
  writeBlob(bytes: Uint8Array): Promise<Oid>;
  /** Sorts the entries as git does; the objects they name must exist. */
  writeTree(entries: readonly TreeEntry[]): Promise<Oid>;
  writeCommit(draft: CommitDraft): Promise<Oid>;
  close(): Promise<void>;
}
