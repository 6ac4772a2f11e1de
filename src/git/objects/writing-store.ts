import { formatCommit } from './commit-object.ts';
import type { ObjectType } from './loose-object.ts';
import type { CommitDraft, GitStore, Oid, TreeEntry } from './store.ts';
import { formatTree } from './tree-object.ts';

/** The half of a store that is the same wherever the bytes of an object go. */
export abstract class WritingStore implements Pick<GitStore, 'writeBlob' | 'writeTree' | 'writeCommit'> {
  protected abstract write(type: ObjectType, bytes: Uint8Array): Promise<Oid>;

  writeBlob(bytes: Uint8Array): Promise<Oid> {
    return this.write('blob', bytes);
  }

  async writeTree(entries: readonly TreeEntry[]): Promise<Oid> {
    return this.write('tree', formatTree(entries));
  }

  async writeCommit(draft: CommitDraft): Promise<Oid> {
    return this.write('commit', formatCommit(draft));
  }
}
