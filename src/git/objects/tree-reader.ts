import type { Git } from '../run.ts';
import { CatFile } from './cat-file.ts';
import type { Oid } from './store.ts';
import { missingObject, wrongType } from './store-error.ts';

/** Reads trees as they are, with a process of its own that is started when it is first asked. */
export interface TreeReader {
  read(oid: Oid): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Merges that are made one after the other share most of their trees. */
const KEPT = 512;
const LARGE = 1 << 16;

export function openTreeReader(git: Git): TreeReader {
  const catFile = new CatFile(git);
  const kept = new Map<Oid, Uint8Array>();
  return {
    async read(oid) {
      const bytesKept = kept.get(oid);
      if (bytesKept) return bytesKept;
      const bytes = await readTree(catFile, oid);
      if (kept.size === KEPT) kept.delete(kept.keys().next().value!);
      if (bytes.length <= LARGE) kept.set(oid, Buffer.from(bytes)); // not the chunk that they came in
      return bytes;
    },
    close: () => catFile.close(),
  };
}

async function readTree(catFile: CatFile, oid: Oid): Promise<Uint8Array> {
  const object = await catFile.contents(oid);
  if (object?.type === 'tree') return object.bytes;
  throw object ? wrongType(oid, 'tree', object.type) : missingObject(oid);
}
