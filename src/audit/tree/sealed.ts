import { toHex } from '../../core/bytes/bytes.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import { growingTree } from '../../core/seal/growing-tree.ts';
import { parseSeal } from '../../core/seal/seal.ts';
import { nodeSuite } from '../../crypto.ts';
import { leafOf } from '../source/leaf.ts';
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
  const last = contents.pop();
  const seal = last instanceof Uint8Array ? parseSeal(last) : null;
  if (seal?.fields.tree_size !== contents.length) return false;
  const tree = growingTree(nodeSuite.sha256);
  for (const [at, content] of contents.entries()) {
    const leaf = await leafOf(source, files[at]!.entry, content, nodeSuite);
    if (!leaf) return false;
    tree.add(leaf);
  }
  return toHex(tree.root()) === seal.fields.root;
}
