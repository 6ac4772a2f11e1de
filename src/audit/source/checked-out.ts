import { join } from 'node:path';
import { readBlobFile } from '../../git/objects/blob-file.ts';
import type { Source } from './source.ts';

/** A tree whose files are read from the work tree as far as they are the same there, which their ids tell: git need not unpack them. */
export function checkedOut(tree: Source, topLevel: string): Source {
  return {
    ...tree,
    async read(file, limit) {
      const bytes = file.oid === null ? null : readBlobFile(join(topLevel, file.path), Buffer.from(file.oid, 'hex'));
      return bytes && bytes.length <= limit ? bytes : tree.read(file, limit);
    },
  };
}
