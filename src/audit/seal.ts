import { toHex } from '../core/bytes.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { merkleRoot } from '../core/merkle.ts';
import { parseRecordName } from '../core/paths.ts';
import { parseRecord } from '../core/record.ts';
import { nodeSuite } from '../crypto.ts';
import { FOLDER, find, type Source } from './source.ts';

/** Whether a session's last record is a seal over all the others. SPEC §6.3. Its signatures are judged elsewhere. */
export async function isSealed(source: Source, path: string): Promise<boolean> {
  const folder = await find(source, path);
  const entries = folder?.mode === FOLDER ? await source.list(folder) : [];
  const files = entries
    .map((entry) => ({ entry, seq: parseRecordName(entry.name)?.seq ?? 0 }))
    .sort((a, b) => a.seq - b.seq)
    .map(({ entry }) => entry);
  const contents = await source.readAll(files, MAX_RECORD_BYTES);
  const leaves = contents.filter((bytes) => bytes instanceof Uint8Array);
  const last = leaves.length === files.length ? leaves.pop() : undefined;
  const seal = last && parseRecord(last);
  if (seal?.kind !== 'seal' || seal.fields.tree_size !== leaves.length) return false;
  return toHex(merkleRoot(leaves, nodeSuite.sha256)) === seal.fields.root;
}
