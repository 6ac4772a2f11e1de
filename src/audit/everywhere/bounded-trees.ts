import { HandoffError } from '../../core/error.ts';
import type { Oid } from '../../git/objects/store.ts';
import { missingObject, tooLarge } from '../../git/objects/store-error.ts';
import type { Source } from '../source/source.ts';

/** Bytes of a folder of a hundred thousand sessions, and some. */
const MOST_TREE = 16 * 1024 ** 2;

/** How many bytes of trees and records of other branches one verb reads at most. */
const MOST_BYTES = 256 * 1024 ** 2;

/** What is said of objects, in bytes, without reading them; null for what is not here. */
export type SizesOf = (oids: readonly Oid[]) => Promise<(number | null)[]>;

/**
 * The trees of other branches, which anybody may have pushed: what is too large is not read, and all together is not more than what a
 * person waits for. What was not read is `too_large`.
 */
export function boundedTrees(source: Source, sizesOf: SizesOf, spend: (bytes: number) => void): Source {
  const pay = async (...oids: Oid[]): Promise<void> => {
    for (const [at, size] of (await sizesOf(oids)).entries()) {
      if (size === null) throw missingObject(oids[at]!);
      if (size > MOST_TREE) throw tooLarge(oids[at]!, size, MOST_TREE);
      spend(size);
    }
  };
  const compare = source.compare?.bind(source);
  return {
    ...source,
    async list(folder) {
      await pay(folder.oid!);
      return source.list(folder);
    },
    ...(compare && {
      async compare(before, now) {
        await pay(before.oid!, now.oid!);
        return compare(before, now);
      },
    }),
    async readAll(files, limit) {
      const read = await source.readAll(files, limit);
      for (const bytes of read) if (bytes instanceof Uint8Array) spend(bytes.length);
      return read;
    },
  };
}

/** Counts bytes, and throws once they are more than one verb reads. */
export function openPurse(most = MOST_BYTES): (bytes: number) => void {
  let spent = 0;
  return (bytes) => {
    spent += bytes;
    if (spent > most) throw new HandoffError('io', TOO_MUCH, { data: { budget: 'bytes', limit: most } });
  };
}

const TOO_MUCH = 'Other branches hold more than is read at once.';
