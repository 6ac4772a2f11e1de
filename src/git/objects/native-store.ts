import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { type GitConfig, readConfig } from '../config.ts';
import { discoverRepository, type RepositoryDirs } from '../discover.ts';
import { abbreviationIn, ambiguous, readBeginning } from '../refs/ref-names.ts';
import { type Git, gitFailure, readGit, runGit } from '../run.ts';
import { CatFile, type GitObject, type ObjectHeader } from './cat-file.ts';
import { formatCommit, parseCommit } from './commit-object.ts';
import { type ObjectFormat, type ObjectType, objectFormat, writeLooseObject } from './loose-object.ts';
import {
  assertOid,
  assertRefPrefix,
  assertRevision,
  type Commit,
  type CommitDraft,
  type GitStore,
  isOid,
  missingObject,
  noSuchRevision,
  type Oid,
  type Ref,
  shallowAncestry,
  type Tree,
  type TreeEntry,
  wrongType,
} from './store.ts';
import { addToFolder, type Choose, type Edits, editTree, type Trees } from './tree-edit.ts';
import { findTexts, formatTree, parseAdded, parseDifference, parseTree } from './tree-object.ts';

/** The store on the git binary: one process for everything read, started when first needed. */
export interface NativeGitStore extends GitStore {
  /** Whether a name names anything here. */
  has(rev: string): Promise<boolean>;
  /** Asks for trees before anybody reads them one by one. Those that are not there are nobody's concern, and large ones not kept. */
  askAhead(revs: readonly string[]): void;
  /** Null where it was configured how objects are written: then git has to write them. */
  objectWriter(): Promise<ObjectWriter | null>;
  /** The tree with more files in one of its folders; null when none are wanted. */
  addToFolder(tree: Oid, folder: string, choose: Choose): Promise<Oid | null>;
  /** The tree with these files written anew, or without those that are null. A folder that is left empty goes. */
  editTree(tree: Oid, edits: Edits): Promise<Oid>;
  /** All scopes, as git sees them; read by the process that reads objects. */
  config(): Promise<GitConfig>;
  /** As `close`, for whoever is about to end and need not wait for git. */
  leave(): void;
}

export function openNativeStore(git: Git): NativeGitStore {
  return new NativeStore(git);
}

/** Writes objects at once, without a process. */
export interface ObjectWriter {
  format: ObjectFormat;
  write(type: ObjectType, bytes: Uint8Array): Oid;
}

/** Bytes of a tree that is one of thousands of entries: of those the last is kept, and of all others many. */
const LARGE_TREE = 1 << 14;
const SMALL_KEPT = 64;

/** Commits that are asked for at once: most branches that are judged have no more. */
const IN_LINE = 16;

class NativeStore implements NativeGitStore {
  readonly #git: Git;
  readonly #catFile: CatFile;
  readonly #trees: Trees = {
    read: (oid) => this.#treeBytes(oid),
    write: (type, bytes) => this.#write(type, bytes),
  };
  #dirs: RepositoryDirs | undefined;
  #writer: Promise<ObjectWriter | null> | undefined;
  #large: { oid: Oid; parts: Uint8Array[] } | undefined;
  /** Also by the ids of commits. What an id names never changes. */
  readonly #small: Map<Oid, { oid: Oid; bytes: Uint8Array }> = new Map();

  constructor(git: Git) {
    this.#git = git;
    this.#catFile = new CatFile(git);
  }

  async resolve(rev: string): Promise<Oid | null> {
    const isNamed = this.#names(rev);
    if (isNamed !== true && !(await isNamed)) return null;
    const header = await this.#catFile.info(rev);
    if (!header && !isOid(rev)) await this.#assertAbsent(rev);
    return header?.oid ?? null;
  }

  async has(rev: string): Promise<boolean> {
    const isNamed = this.#names(rev);
    if (isNamed !== true && !(await isNamed)) return false;
    return (await this.#catFile.info(rev)) !== null;
  }

  askAhead(revs: readonly string[]): void {
    for (const rev of revs) {
      assertRevision(rev);
      const asked = this.#catFile.contents(rev);
      asked.then((found) => found?.type === 'tree' && this.#keep(found.oid, found)).catch(() => {});
    }
  }

  async readTree(rev: string): Promise<Tree | null> {
    const isNamed = this.#names(rev);
    if (isNamed !== true && !(await isNamed)) return null;
    const tree = this.#small.get(rev) ?? (await this.#catFile.contents(`${rev}^{tree}`));
    if (tree && isOid(rev)) this.#keep(rev, tree);
    if (tree) return { oid: tree.oid, entries: parseTree(tree.oid, tree.bytes) };
    await this.#assertAbsent(rev, 'tree');
    return null;
  }

  async compareTrees(before: Oid, now: Oid): Promise<[TreeEntry[], TreeEntry[]]> {
    for (const oid of [before, now]) assertOid(oid);
    const [old, parts] = await Promise.all([this.#catFile.info(before), this.#treeParts(now)]);
    // most folders of thousands grow at the end: to see that, what they were need not come through the pipe
    const added = old?.type === 'tree' ? parseAdded([before, old.size], now, parts) : null;
    return added ? [[], added] : parseDifference([before, await this.#readTree(before)], [now, Buffer.concat(parts)]);
  }

  async findInTree(oid: Oid, texts: readonly string[]): Promise<string[]> {
    assertOid(oid);
    return findTexts(await this.#treeBytes(oid), texts);
  }

  async readBlob(oid: Oid, limit?: number): Promise<Uint8Array> {
    assertOid(oid);
    const bytes = blobBytes(oid, await this.#catFile.contents(oid, limit));
    if (bytes instanceof HandoffError) throw bytes;
    return bytes;
  }

  async readBlobs(oids: readonly Oid[], limit?: number): Promise<(Uint8Array | HandoffError)[]> {
    oids.forEach(assertOid);
    const blobs = new Array<Uint8Array | HandoffError>(oids.length);
    await this.#catFile.contentsOfAll(oids, limit, (index, object) => {
      blobs[index] = blobBytes(oids[index]!, object);
    });
    return blobs;
  }

  async readCommit(rev: string): Promise<Commit> {
    const isNamed = this.#names(rev);
    if (isNamed !== true && !(await isNamed)) throw noSuchRevision(rev);
    const commit = await this.#catFile.contents(`${rev}^{commit}`);
    if (commit) return parseCommit(commit.oid, commit.bytes);
    await this.#assertAbsent(rev, 'commit');
    throw noSuchRevision(rev);
  }

  /** To ask for one after the other takes a while each, since which it is only its successor tells. */
  async readLine(oid: Oid, end: Oid): Promise<Commit[]> {
    for (const each of [oid, end]) assertOid(each);
    const objects: (GitObject | null | HandoffError)[] = [];
    const revs = Array.from({ length: oid === end ? 0 : IN_LINE }, (_, before) => `${oid}~${before}^{commit}`);
    await this.#catFile.contentsOfAll(revs, undefined, (at, object) => {
      objects[at] = object;
    });
    const line: Commit[] = [];
    for (const [next, object] of objects.entries()) {
      if (object === null || object instanceof HandoffError || line.at(-1)?.parents[0] === end) break;
      if (next > 0 && line[next - 1]!.parents[0] !== object.oid) break; // somebody has grafted another one there
      line.push(parseCommit(object.oid, object.bytes));
    }
    return line.length > 0 || oid === end ? line : [await this.readCommit(oid)]; // which says what is wrong
  }

  async isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean> {
    const { code } = await this.#mergeBase('--is-ancestor', ancestor, descendant);
    if (code === 1 && (await this.isShallow())) throw shallowAncestry();
    return code === 0;
  }

  async mergeBases(a: Oid, b: Oid): Promise<Oid[]> {
    if (await this.isShallow()) throw shallowAncestry();
    const { code, stdout } = await this.#mergeBase('--all', a, b);
    return code === 0 ? stdout.toString('latin1').trim().split('\n') : [];
  }

  async refs(prefix: string): Promise<Ref[]> {
    assertRefPrefix(prefix);
    const out = await readGit(this.#git, ['for-each-ref', '--format=%(objectname) %(refname)', prefix]);
    const lines = out.toString('utf8').split('\n').slice(0, -1);
    return lines.map((line) => ({ oid: line.slice(0, line.indexOf(' ')), name: line.slice(line.indexOf(' ') + 1) }));
  }

  async isShallow(): Promise<boolean> {
    const { commonDir } = discoverRepository(this.#git.dir, this.#git.env);
    return (statSync(join(commonDir, 'shallow'), { throwIfNoEntry: false })?.size ?? 0) > 0;
  }

  writeBlob(bytes: Uint8Array): Promise<Oid> {
    return this.#write('blob', bytes);
  }

  async writeTree(entries: readonly TreeEntry[]): Promise<Oid> {
    return this.#write('tree', formatTree(entries));
  }

  async writeCommit(draft: CommitDraft): Promise<Oid> {
    return this.#write('commit', formatCommit(draft));
  }

  async config(): Promise<GitConfig> {
    return (await this.#catFile.config()) ?? readConfig(this.#git);
  }

  close(): Promise<void> {
    return this.#catFile.close();
  }

  leave(): void {
    this.#catFile.leave();
  }

  addToFolder(tree: Oid, folder: string, choose: Choose): Promise<Oid | null> {
    return addToFolder(this.#trees, tree, folder.split('/'), choose);
  }

  editTree(tree: Oid, edits: Edits): Promise<Oid> {
    return editTree(this.#trees, tree, edits);
  }

  objectWriter(): Promise<ObjectWriter | null> {
    this.#writer ??= this.#findWriter();
    return this.#writer;
  }

  /**
   * False where the very ref is not there that a revision begins with; throws where it could mean more than one thing. At once
   * where it can: what is asked before the store is closed is still answered.
   */
  #names(rev: string): boolean | Promise<boolean> {
    assertRevision(rev);
    if (isOid(rev)) return true;
    this.#dirs ??= discoverRepository(this.#git.dir, this.#git.env);
    const beginning = readBeginning(this.#dirs, this.#git, rev);
    const digits = beginning === 'ref' ? abbreviationIn(rev) : null;
    return digits === null ? beginning !== 'absent' : this.#assertNoObject(rev, digits);
  }

  /** A ref may be called like the first digits of an id, and git would take the ref. */
  async #assertNoObject(rev: string, digits: string): Promise<true> {
    const found = (await readGit(this.#git, ['rev-parse', `--disambiguate=${digits}`])).toString('latin1');
    if (found === '') return true;
    throw ambiguous(rev, ['a ref of that name', ...found.trim().split('\n').slice(0, 8)]);
  }

  async #treeBytes(oid: Oid): Promise<Uint8Array> {
    const parts = await this.#treeParts(oid);
    if (parts.length === 1) return parts[0]!;
    const bytes = Buffer.concat(parts);
    if (this.#large?.oid === oid) this.#large.parts = [bytes];
    return bytes;
  }

  /** A folder of thousands is compared and then written again: it need not come through the pipe twice. */
  async #treeParts(oid: Oid): Promise<Uint8Array[]> {
    if (this.#large?.oid === oid) return this.#large.parts;
    const kept = this.#small.get(oid);
    if (kept?.oid === oid) return [kept.bytes];
    const tree = assertTree(oid, await this.#catFile.contentsInParts(oid));
    if (tree.size > LARGE_TREE) this.#large = { oid, parts: tree.parts };
    else this.#keep(oid, { oid, bytes: Buffer.concat(tree.parts) });
    return tree.parts;
  }

  /** Unlike the above it does not take the place of the large one that is kept. */
  async #readTree(oid: Oid): Promise<Uint8Array> {
    const kept = this.#small.get(oid);
    if (kept?.oid === oid) return kept.bytes;
    const tree = assertTree(oid, await this.#catFile.contents(oid));
    this.#keep(oid, tree);
    return tree.bytes;
  }

  #keep(oid: Oid, { oid: tree, bytes }: { oid: Oid; bytes: Uint8Array }): void {
    if (bytes.length > LARGE_TREE || this.#small.has(oid)) return;
    if (this.#small.size === SMALL_KEPT) this.#small.delete(this.#small.keys().next().value!);
    this.#small.set(oid, { oid: tree, bytes: Buffer.from(bytes) }); // not the chunk that they came in
  }

  async #write(type: ObjectType, bytes: Uint8Array): Promise<Oid> {
    const writer = await this.objectWriter();
    if (writer) return writer.write(type, bytes);
    const args = ['hash-object', '-t', type, '-w', '--stdin'];
    return (await readGit(this.#git, args, { input: bytes })).toString('latin1').trim();
  }

  async #findWriter(): Promise<ObjectWriter | null> {
    const config = await this.config();
    if (config.keys().some((key) => /^core\.(?:sharedrepository|fsync|fsyncmethod|fsyncobjectfiles)$/.test(key)))
      return null;
    const { commonDir } = discoverRepository(this.#git.dir, this.#git.env);
    const objects = this.#git.set?.GIT_OBJECT_DIRECTORY ?? join(commonDir, 'objects');
    const format = objectFormat(commonDir);
    return { format, write: (type, bytes) => writeLooseObject(objects, format, type, bytes) };
  }

  async #mergeBase(...args: string[]) {
    for (const oid of args.slice(-2)) assertOid(oid);
    const result = await runGit(this.#git, ['merge-base', ...args]);
    if (result.code > 1) throw gitFailure(['merge-base'], result);
    return result;
  }

  // cat-file says "missing" for a name that names nothing and for an object that is gone; only the first is an absence.
  async #assertAbsent(rev: string, wanted?: 'tree' | 'commit'): Promise<void> {
    const found = await this.#catFile.info(`${rev}^{}`);
    const fits = found?.type === wanted || (found?.type === 'commit' && wanted === 'tree');
    if (found && wanted && !fits) throw wrongType(found.oid, wanted, found.type);
    if (found || isOid(rev)) throw missingObject(rev);
    const { code, stdout } = await runGit(this.#git, ['rev-parse', '--verify', '--quiet', rev]);
    if (code === 0) throw missingObject(`${rev} (${stdout.toString('latin1').trim()})`);
  }
}

function assertTree<T extends ObjectHeader>(oid: Oid, object: T | null): T {
  if (object?.type === 'tree') return object;
  throw object ? wrongType(oid, 'tree', object.type) : missingObject(oid);
}

function blobBytes(oid: Oid, object: GitObject | null | HandoffError): Uint8Array | HandoffError {
  if (object === null) return missingObject(oid);
  if (object instanceof HandoffError) return object;
  return object.type === 'blob' ? object.bytes : wrongType(oid, 'blob', object.type);
}
