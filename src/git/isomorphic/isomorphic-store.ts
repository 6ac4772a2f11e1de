import type { PromiseFsClient } from 'isomorphic-git';
import { asHandoffError, HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { assertOid, assertRefPrefix, assertRevision, isFullRef, isOid } from '../objects/asked-name.ts';
import { MAX_COMMIT_BYTES, parseCommit, parseTag } from '../objects/commit-object.ts';
import type { ObjectType } from '../objects/loose-object.ts';
import type { Commit, GitStore, Oid, Ref, Tree, TreeEntry } from '../objects/store.ts';
import {
  missingObject,
  noSuchRevision,
  nullIfTooLarge,
  shallowAncestry,
  tooLarge,
  wrongType,
} from '../objects/store-error.ts';
import { findTexts, parseDifference, parseTree } from '../objects/tree-object.ts';
import { WritingStore } from '../objects/writing-store.ts';
import { assertSupported, type IsomorphicPlace, isShallow } from './isomorphic-limits.ts';

/** A working directory, whose `.git` is the repository, or a git directory itself. */
export type IsomorphicOptions = { fs: PromiseFsClient; cache?: object } & ({ dir: string } | { gitdir: string });

type Isomorphic = typeof import('isomorphic-git');

interface StoredObject {
  oid: Oid;
  type: string;
  bytes: Uint8Array;
}

/**
 * The store for where there is no git binary: reads, and writes objects, but moves no ref. It refuses every repository
 * and question on which it could answer differently from git.
 */
export async function openIsomorphicStore(options: IsomorphicOptions): Promise<GitStore> {
  const place = { fs: options.fs, gitdir: 'gitdir' in options ? options.gitdir : `${options.dir}/.git` };
  await assertSupported(place);
  return new IsomorphicStore(await import('isomorphic-git'), place, options.cache ?? {});
}

class IsomorphicStore extends WritingStore implements GitStore {
  readonly #library: Isomorphic;
  readonly #place: IsomorphicPlace;
  readonly #cache: object;

  constructor(library: Isomorphic, place: IsomorphicPlace, cache: object) {
    super();
    this.#library = library;
    this.#place = place;
    this.#cache = cache;
  }

  async resolve(rev: string): Promise<Oid | null> {
    const oid = await this.#name(rev);
    if (oid === null) return null;
    if (await this.#find(oid)) return oid;
    if (isOid(rev)) return null;
    throw missingObject(`${rev} (${oid})`);
  }

  async readTree(rev: string, limit = Number.POSITIVE_INFINITY): Promise<Tree | null> {
    const oid = await this.#name(rev);
    if (oid === null) return null;
    const tree = await this.#peel(oid, 'tree');
    if (tree.bytes.length > limit) throw tooLarge(tree.oid, tree.bytes.length, limit);
    return { oid: tree.oid, entries: parseTree(tree.oid, tree.bytes) };
  }

  async compareTrees(before: Oid, now: Oid): Promise<[TreeEntry[], TreeEntry[]]> {
    const [a, b] = await Promise.all([before, now].map((oid) => this.#peel(oid, 'tree')));
    return parseDifference([before, a!.bytes], [now, b!.bytes]);
  }

  async findInTree(oid: Oid, texts: readonly string[]): Promise<string[]> {
    assertOid(oid);
    return findTexts((await this.#peel(oid, 'tree'))!.bytes, texts);
  }

  /** The limit is judged after the bytes are inflated: the library cannot ask for a size alone. */
  async readBlob(oid: Oid, limit = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    assertOid(oid);
    const { type, bytes } = await this.#read(oid);
    if (bytes.length > limit) throw tooLarge(oid, bytes.length, limit);
    if (type !== 'blob') throw wrongType(oid, 'blob', type);
    return bytes;
  }

  async readBlobs(oids: readonly Oid[], limit?: number): Promise<(Uint8Array | HandoffError)[]> {
    oids.forEach(assertOid);
    return Promise.all(oids.map((oid) => this.readBlob(oid, limit).catch(asHandoffError)));
  }

  async readCommit(rev: string, limit = Number.POSITIVE_INFINITY): Promise<Commit> {
    const oid = await this.#name(rev);
    if (oid === null) throw noSuchRevision(rev);
    const commit = await this.#peel(oid, 'commit');
    if (commit.bytes.length > limit) throw tooLarge(commit.oid, commit.bytes.length, limit);
    return parseCommit(commit.oid, commit.bytes);
  }

  async readLine(oid: Oid, end: Oid): Promise<Commit[]> {
    if (oid === end) return [];
    const first = await this.readCommit(oid, MAX_COMMIT_BYTES).catch(nullIfTooLarge);
    return first ? [first] : [];
  }

  async isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean> {
    for (const oid of [ancestor, descendant]) await this.#assertCommit(oid);
    const shallow = await this.isShallow();
    const found = (await this.#history([descendant], shallow)).has(ancestor);
    if (!found && shallow) throw shallowAncestry();
    return found;
  }

  async mergeBases(a: Oid, b: Oid): Promise<Oid[]> {
    if (await this.isShallow()) throw shallowAncestry();
    for (const oid of [a, b]) await this.#assertCommit(oid);
    const [ofA, ofB] = [await this.#history([a]), await this.#history([b])];
    const common = [...ofA.keys()].filter((oid) => ofB.has(oid));
    const older = new Set((await this.#history(common.flatMap((oid) => ofA.get(oid)!))).keys());
    return common.filter((oid) => !older.has(oid));
  }

  async refs(prefix: string): Promise<Ref[]> {
    assertRefPrefix(prefix);
    const names = await this.#library.listRefs({ ...this.#place, filepath: prefix.slice(0, -1) });
    const refs: Ref[] = [];
    // The library also lists lock files, and what packed tags point at as `refs/tags/v1^{}`.
    const real = [...new Set(names)].map((tail) => prefix + tail).filter((name) => isFullRef(name));
    for (const name of real.sort(compareBytes)) {
      const oid = await this.#ref(name);
      if (oid) refs.push({ name, oid });
    }
    return refs;
  }

  isShallow(): Promise<boolean> {
    return isShallow(this.#place);
  }

  async close(): Promise<void> {}

  protected write(type: ObjectType, object: Uint8Array): Promise<Oid> {
    return this.#library.writeObject({ ...this.#place, type, object, format: 'content' });
  }

  async #name(rev: string): Promise<Oid | null> {
    assertRevision(rev);
    if (isOid(rev)) return rev;
    if (rev === 'HEAD' || isFullRef(rev)) return this.#ref(rev);
    const message = `Expected HEAD, a full ref name or a full object id, got ${JSON.stringify(rev)}`;
    throw new HandoffError('unsupported', message, NATIVE);
  }

  async #ref(ref: string): Promise<Oid | null> {
    try {
      // for a name that is not there the library, as git, would go on to look for a tag that is called so
      const isThere = (await this.#library.expandRef({ ...this.#place, ref })) === ref;
      return isThere ? await this.#library.resolveRef({ ...this.#place, ref }) : null;
    } catch (error) {
      if (hasCode(error, 'NotFoundError')) return null;
      throw new HandoffError('io', `The ref ${ref} cannot be read`, { cause: error });
    }
  }

  async #find(oid: Oid): Promise<StoredObject | null> {
    try {
      const found = await this.#library.readObject({ ...this.#place, cache: this.#cache, oid, format: 'content' });
      return { oid, type: found.type, bytes: found.object as Uint8Array };
    } catch (error) {
      if (hasCode(error, 'NotFoundError')) return null;
      throw new HandoffError('io', `Object ${oid} cannot be read`, { cause: error });
    }
  }

  async #read(oid: Oid): Promise<StoredObject> {
    const found = await this.#find(oid);
    if (!found) throw missingObject(oid);
    return found;
  }

  async #peel(oid: Oid, wanted: 'tree' | 'commit'): Promise<StoredObject> {
    const found = await this.#read(oid);
    if (found.type === wanted) return found;
    if (found.type === 'tag') return this.#peelTag(oid, found.bytes, wanted);
    if (found.type === 'commit') return this.#peel(parseCommit(oid, found.bytes).tree, wanted);
    throw wrongType(oid, wanted, found.type);
  }

  /** To git a tag that calls a commit a tree names nothing. */
  async #peelTag(oid: Oid, bytes: Uint8Array, wanted: 'tree' | 'commit'): Promise<StoredObject> {
    const { target, type } = parseTag(oid, bytes);
    const found = await this.#read(target);
    if (found.type !== type) throw wrongType(target, type, found.type);
    return this.#peel(target, wanted);
  }

  async #assertCommit(oid: Oid): Promise<void> {
    assertOid(oid);
    const { type } = await this.#read(oid);
    if (type !== 'commit') throw wrongType(oid, 'commit', type);
  }

  // Everything reachable, each with its parents. In a shallow repository the walk ends where the history does.
  async #history(from: readonly Oid[], mayEnd = false): Promise<Map<Oid, Oid[]>> {
    const parents = new Map<Oid, Oid[]>();
    const waiting = [...from];
    for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
      if (parents.has(oid)) continue;
      const found = mayEnd ? await this.#find(oid) : await this.#read(oid);
      if (!found) continue;
      parents.set(oid, parseCommit(oid, found.bytes).parents);
      waiting.push(...parents.get(oid)!);
    }
    return parents;
  }
}

const NATIVE = { hint: 'Use the native store, which needs the git binary.' };

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
