import type { Budget } from '../../core/budget.ts';
import type { HandoffError } from '../../core/error.ts';
import type { Entry, Source } from './source.ts';

/**
 * The same source, and whoever reads it pays: what arrives decides how many bytes that are. Folders count too: a few trees of a
 * hundred bytes, each ten times in the next, are a thousand million files.
 */
export function metered(source: Source, budget: Pick<Budget, 'spend'>): Source {
  const { compare, mentions } = source;
  // paid before reading: once the budget is spent, none of the thousands that still wait is read
  const folder = (): void => budget.spend('bytes', FOLDER_BYTES);
  const named = (entries: Entry[]): Entry[] => {
    budget.spend('bytes', sum(entries.map(({ name }) => name.length + ENTRY_BYTES)));
    return entries;
  };
  return {
    oid: source.oid,
    root: () => source.root(),
    async list(entry) {
      folder();
      return named(await source.list(entry));
    },
    ...(compare && {
      async compare(before, now) {
        folder();
        const [old, entries] = await compare(before, now);
        return [old, named(entries)];
      },
    }),
    ...(mentions && { mentions }),
    async read(file, limit) {
      const bytes = await source.read(file, limit);
      budget.spend('bytes', bytes.length);
      return bytes;
    },
    async readAll(files, limit) {
      const read = await source.readAll(files, limit);
      budget.spend('bytes', sum(read.map(sizeOf)));
      return read;
    },
  };
}

/** To look into a folder, and at an entry of it, takes as long as to read about so much. */
const FOLDER_BYTES = 4096;
const ENTRY_BYTES = 64;

function sizeOf(read: Uint8Array | HandoffError): number {
  return read instanceof Uint8Array ? read.length : 0;
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
