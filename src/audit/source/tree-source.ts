import { HandoffError } from '../../core/error.ts';
import type { GitStore } from '../../git/objects/store.ts';
import type { Entry, Source } from './source.ts';

/**
 * The tree of a commit, read by object: no checkout, no filters, no replaced objects. A folder of more bytes than `limit` is
 * `too_large`.
 */
export async function openTree(store: GitStore, rev: string, limit?: number): Promise<Source> {
  const tree = await store.readTree(rev, limit);
  if (!tree) {
    throw new HandoffError('usage', `There is no commit or tree called ${JSON.stringify(rev)}.`, {
      hint:
        rev === 'HEAD'
          ? 'Nothing is committed yet: git handoff init, or git handoff verify --staged for what is staged.'
          : 'See git log and git branch -a.',
    });
  }
  const place = (parent: string, { name, mode, oid }: Pick<Entry, 'name' | 'mode' | 'oid'>): Entry => ({
    path: parent + name,
    name,
    mode,
    oid,
  });
  return {
    oid: tree.oid,
    root: async () => tree.entries.map((entry) => place('', entry)),
    async list(folder) {
      const found = await store.readTree(folder.oid!, limit);
      if (!found)
        throw new HandoffError('io', `The tree ${folder.oid} of ${folder.path} is missing.`, { hint: 'git fsck' });
      return found.entries.map((entry) => place(`${folder.path}/`, entry));
    },
    async compare(before, now) {
      const [old, entries] = await store.compareTrees(before.oid!, now.oid!);
      const inside = (entry: Pick<Entry, 'name' | 'mode' | 'oid'>) => place(`${now.path}/`, entry);
      return [old.map(inside), entries.map(inside)];
    },
    mentions: (folder, texts) => store.findInTree(folder.oid!, texts),
    read: (file, limit) => store.readBlob(file.oid!, limit),
    readAll(files, limit) {
      const oids = files.map((file) => file.oid!);
      return store.readBlobs(oids, limit);
    },
  };
}
