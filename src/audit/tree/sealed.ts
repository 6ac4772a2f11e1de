import { toHex } from '../../core/bytes/bytes.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import { merkleRoot } from '../../core/seal/merkle.ts';
import { parseSeal } from '../../core/seal/seal.ts';
import { nodeSuite } from '../../crypto.ts';
import { FOLDER, find, type Source } from '../source/source.ts';

/** Whether a session's last record is a seal over all the others. SPEC §11.1. Its signatures are judged elsewhere. */
export async function isSealed(source: Source, path: string): Promise<boolean> {
  const folder = await find(source, path);
  const entries = folder?.mode === FOLDER ? await source.list(folder) : [];
  const files = entries
    .map((entry) => ({ entry, place: parseRecordName(entry.name) }))
    .sort((a, b) => (a.place?.seq ?? 0) - (b.place?.seq ?? 0));
  if (files.at(-1)?.place?.kind !== 'seal') return false;
  const contents = await source.readAll(
    files.map(({ entry }) => entry),
    MAX_RECORD_BYTES,
  );
  const leaves = contents.filter((bytes) => bytes instanceof Uint8Array);
  const last = leaves.length === files.length ? leaves.pop() : undefined;
  const seal = last && parseSeal(last);
  if (seal?.fields.tree_size !== leaves.length) return false;
  return toHex(merkleRoot(leaves, nodeSuite.sha256)) === seal.fields.root;
}
