import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { type GitConfig, readConfig } from '../config.ts';
import { discoverRepository } from '../discover.ts';
import { type Git, gitFailure, readGit, runGit } from '../run.ts';
import { addToFolder, type Choose, type Edits, editTree, type Trees } from '../trees/tree-edit.ts';
import { compareLeaves, graftTree, type LeafChange, type Leaves } from '../trees/tree-graft.ts';
import { assertOid, assertRefPrefix, assertRevision, isOid } from './asked-name.ts';
import { CatFile, type GitObject, type ObjectHeader } from './cat-file.ts';
import { MAX_COMMIT_BYTES, parseCommit } from './commit-object.ts';
import { KeptTrees } from './kept-trees.ts';
import { type ObjectType, objectFormat } from './loose-object.ts';
import { type ObjectWriter, objectWriterFor, writeByGit } from './object-writer.ts';
import { Revisions } from './revision.ts';
import { SharedCatFile } from './shared-cat-file.ts';
import type { Commit, GitStore, Oid, Ref, Tree, TreeEntry } from './store.ts';
import { missingObject, noSuchRevision, shallowAncestry, wrongType } from './store-error.ts';
import { findTexts, parseAdded, parseDifference, parseTree } from './tree-object.ts';
import { WritingStore } from './writing-store.ts';

/** The store on the git binary: one process for everything read, started when first needed. */
export interface NativeGitStore extends GitStore {
  /** Whether a name names anything here. */
  has(rev: string): Promise<boolean>;
  /** What each revision names, all of them asked at once; null for one that names nothing, or an object that is not here. */
  headers(revs: readonly string[]): Promise<(ObjectHeader | null)[]>;
  /** Asks for trees before anybody reads them one by one. Those that are not there are nobody's concern, and large ones not kept. */
  askAhead(revs: readonly string[]): void;
  /** Null where it was configured how objects are written: then git has to write them. */
  objectWriter(): Promise<ObjectWriter | null>;
  /** The tree with more files in one of its folders; null when none are wanted. */
  addToFolder(tree: Oid, folder: string, choose: Choose): Promise<Oid | null>;
  /** The tree with these files written anew, or without those that are null. A folder that is left empty goes. */
  editTree(tree: Oid, edits: Edits): Promise<Oid>;
  /** The tree with other things at these paths; null is an empty one. */
  graftTree(tree: Oid | null, leaves: Leaves): Promise<Oid>;
  /** Every path at which two trees differ. */
  compareLeaves(before: Oid | null, after: Oid | null): Promise<Map<string, LeafChange>>;
  /** All scopes, as git sees them; read by the process that reads objects. */
  config(): Promise<GitConfig>;
  /** Starts the process that reads objects, for whoever will ask for some and has something else to do first. */
  getReady(): void;
  /** As `close`, for whoever is about to end and need not wait for git. */
  leave(): void;
  /** The same store as another work tree of the repository sees it; it starts no process, and ends with this one. */
  seenFrom(git: Git, head: string): NativeGitStore;
}

export function openNativeStore(git: Git): NativeGitStore {
  return new NativeStore(git);
}

/**
 * Commits that are asked for at once, one step after the other: most branches that are judged have no more. What is behind the end has
 * been there before, and may be as large as it likes, so that a short line does not ask for much of it.
 */
const IN_LINE = [1, 3, 12];

type Asked = GitObject | null | HandoffError;

/** Puts what follows on the line. False where it ends, or cannot be followed. */
function followLine(line: Commit[], objects: readonly Asked[], end: Oid): boolean {
  for (const object of objects) {
    const before = line.at(-1)?.parents[0];
    if (object === null || object instanceof HandoffError || before === end) return false;
    if (before !== undefined && before !== object.oid) return false; // somebody has grafted another one there
    line.push(parseCommit(object.oid, object.bytes));
  }
  return line.at(-1)?.parents[0] !== end;
}

class NativeStore extends WritingStore implements NativeGitStore {
  readonly #git: Git;
  readonly #catFile: CatFile;
  readonly #revisions: Revisions;
  readonly #kept: KeptTrees;
  readonly #trees: Trees = {
    read: (oid) => this.#kept.read(oid),
    write: (type, bytes) => this.write(type, bytes),
  };
  #writer: Promise<ObjectWriter | null> | undefined;

  constructor(git: Git, catFile = new CatFile(git)) {
    super();
    this.#git = git;
    this.#catFile = catFile;
    this.#revisions = new Revisions(git, this.#catFile);
    this.#kept = new KeptTrees(this.#catFile);
  }

  seenFrom(git: Git, head: string): NativeGitStore {
    return new NativeStore(git, new SharedCatFile(git, this.#catFile, head));
  }

  async resolve(rev: string): Promise<Oid | null> {
    const isNamed = this.#revisions.mayName(rev);
    if (isNamed !== true && !(await isNamed)) return null;
    const header = await this.#catFile.info(rev);
    if (!header && !isOid(rev)) await this.#revisions.assertAbsent(rev);
    return header?.oid ?? null;
  }

  async has(rev: string): Promise<boolean> {
    const isNamed = this.#revisions.mayName(rev);
    if (isNamed !== true && !(await isNamed)) return false;
    return (await this.#catFile.info(rev)) !== null;
  }

  headers(revs: readonly string[]): Promise<(ObjectHeader | null)[]> {
    revs.forEach(assertRevision);
    return Promise.all(revs.map((rev) => this.#catFile.info(rev)));
  }

  askAhead(revs: readonly string[]): void {
    for (const rev of revs) {
      assertRevision(rev);
      const asked = this.#catFile.contents(rev);
      asked.then((found) => found?.type === 'tree' && this.#kept.keep(found.oid, found)).catch(() => {});
    }
  }

  async readTree(rev: string, limit?: number): Promise<Tree | null> {
    const isNamed = this.#revisions.mayName(rev);
    if (isNamed !== true && !(await isNamed)) return null;
    const tree = this.#kept.smallOf(rev) ?? (await this.#catFile.contents(`${rev}^{tree}`, limit));
    if (tree && isOid(rev)) this.#kept.keep(rev, tree);
    if (tree) return { oid: tree.oid, entries: parseTree(tree.oid, tree.bytes) };
    await this.#revisions.assertAbsent(rev, 'tree');
    return null;
  }

  async compareTrees(before: Oid, now: Oid): Promise<[TreeEntry[], TreeEntry[]]> {
    for (const oid of [before, now]) assertOid(oid);
    const [old, parts] = await Promise.all([this.#catFile.info(before), this.#kept.readParts(now)]);
    // most folders of thousands grow at the end: to see that, what they were need not come through the pipe
    const added = old?.type === 'tree' ? parseAdded([before, old.size], now, parts) : null;
    return added
      ? [[], added]
      : parseDifference([before, await this.#kept.readOnce(before)], [now, Buffer.concat(parts)]);
  }

  async findInTree(oid: Oid, texts: readonly string[]): Promise<string[]> {
    assertOid(oid);
    return findTexts(await this.#kept.read(oid), texts);
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

  async readCommit(rev: string, limit?: number): Promise<Commit> {
    const isNamed = this.#revisions.mayName(rev);
    if (isNamed !== true && !(await isNamed)) throw noSuchRevision(rev);
    const commit = await this.#catFile.contents(`${rev}^{commit}`, limit);
    if (commit) return parseCommit(commit.oid, commit.bytes);
    await this.#revisions.assertAbsent(rev, 'commit');
    throw noSuchRevision(rev);
  }

  /** To ask for one after the other takes a while each, since which it is only its successor tells. */
  async readLine(oid: Oid, end: Oid): Promise<Commit[]> {
    for (const each of [oid, end]) assertOid(each);
    const line: Commit[] = [];
    let asked = 0;
    for (const count of oid === end ? [] : IN_LINE) {
      const revs = Array.from({ length: count }, (_, at) => `${oid}~${asked + at}^{commit}`);
      const objects = await this.#objectsOf(revs);
      if (asked === 0 && objects[0] instanceof HandoffError) return [];
      asked += count;
      if (!followLine(line, objects, end)) break;
    }
    return line.length > 0 || oid === end ? line : [await this.readCommit(oid)]; // which says what is wrong
  }

  async #objectsOf(revs: readonly string[]): Promise<Asked[]> {
    const objects: Asked[] = [];
    await this.#catFile.contentsOfAll(revs, MAX_COMMIT_BYTES, (at, object) => {
      objects[at] = object;
    });
    return objects;
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

  async config(): Promise<GitConfig> {
    return (await this.#catFile.config()) ?? readConfig(this.#git);
  }

  getReady(): void {
    this.#catFile.getReady();
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

  graftTree(tree: Oid | null, leaves: Leaves): Promise<Oid> {
    return graftTree(this.#trees, tree, leaves, this.#width());
  }

  compareLeaves(before: Oid | null, after: Oid | null): Promise<Map<string, LeafChange>> {
    return compareLeaves(this.#trees, before, after, this.#width());
  }

  objectWriter(): Promise<ObjectWriter | null> {
    this.#writer ??= this.#findWriter();
    return this.#writer;
  }

  protected async write(type: ObjectType, bytes: Uint8Array): Promise<Oid> {
    const writer = await this.objectWriter();
    return writer ? writer.write(type, bytes) : writeByGit(this.#git, type, bytes);
  }

  /** How many bytes an id has. */
  #width(): number {
    const { commonDir } = discoverRepository(this.#git.dir, this.#git.env);
    return objectFormat(commonDir) === 'sha256' ? 32 : 20;
  }

  async #findWriter(): Promise<ObjectWriter | null> {
    return objectWriterFor(this.#git, await this.config());
  }

  async #mergeBase(...args: string[]) {
    for (const oid of args.slice(-2)) assertOid(oid);
    const result = await runGit(this.#git, ['merge-base', ...args]);
    if (result.code > 1) throw gitFailure(['merge-base'], result);
    return result;
  }
}

function blobBytes(oid: Oid, object: GitObject | null | HandoffError): Uint8Array | HandoffError {
  if (object === null) return missingObject(oid);
  if (object instanceof HandoffError) return object;
  return object.type === 'blob' ? object.bytes : wrongType(oid, 'blob', object.type);
}
