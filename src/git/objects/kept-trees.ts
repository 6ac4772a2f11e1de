import type { CatFile, ObjectHeader } from './cat-file.ts';
import type { Oid } from './store.ts';
import { missingObject, wrongType } from './store-error.ts';

interface KeptTree {
  oid: Oid;
  bytes: Uint8Array;
}

/** Bytes of a tree that is one of thousands of entries: of those the last is kept, and of all others many. */
const LARGE_TREE = 1 << 14;
const SMALL_KEPT = 64;

/** Trees that were read already. What an id names never changes, so what is kept is never wrong. */
export class KeptTrees {
  readonly #catFile: CatFile;
  #large: { oid: Oid; parts: Uint8Array[] } | undefined;
  /** Also by the ids of commits. */
  readonly #small: Map<Oid, KeptTree> = new Map();

  constructor(catFile: CatFile) {
    this.#catFile = catFile;
  }

  /** The small tree that was kept for this id, of a tree or of a commit. */
  smallOf(oid: Oid): KeptTree | undefined {
    return this.#small.get(oid);
  }

  /** Keeps a small tree by its own id or by that of its commit. */
  keep(oid: Oid, tree: KeptTree): void {
    if (tree.bytes.length > LARGE_TREE || this.#small.has(oid)) return;
    if (this.#small.size === SMALL_KEPT) this.#small.delete(this.#small.keys().next().value!);
    this.#small.set(oid, { oid: tree.oid, bytes: Buffer.from(tree.bytes) }); // not the chunk that they came in
  }

  async read(oid: Oid): Promise<Uint8Array> {
    const parts = await this.readParts(oid);
    if (parts.length === 1) return parts[0]!;
    const bytes = Buffer.concat(parts);
    if (this.#large?.oid === oid) this.#large.parts = [bytes];
    return bytes;
  }

  /** A folder of thousands is compared and then written again: it need not come through the pipe twice. */
  async readParts(oid: Oid): Promise<Uint8Array[]> {
    if (this.#large?.oid === oid) return this.#large.parts;
    const kept = this.#small.get(oid);
    if (kept?.oid === oid) return [kept.bytes];
    const tree = assertTree(oid, await this.#catFile.contentsInParts(oid));
    if (tree.size > LARGE_TREE) this.#large = { oid, parts: tree.parts };
    else this.keep(oid, { oid, bytes: Buffer.concat(tree.parts) });
    return tree.parts;
  }

  /** Reads a tree that is needed once: it does not take the place of the large one that is kept. */
  async readOnce(oid: Oid): Promise<Uint8Array> {
    const kept = this.#small.get(oid);
    if (kept?.oid === oid) return kept.bytes;
    const tree = assertTree(oid, await this.#catFile.contents(oid));
    this.keep(oid, tree);
    return tree.bytes;
  }
}

function assertTree<T extends ObjectHeader>(oid: Oid, object: T | null): T {
  if (object?.type === 'tree') return object;
  throw object ? wrongType(oid, 'tree', object.type) : missingObject(oid);
}
