import { toHex } from '../../core/bytes/bytes.ts';
import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import type { Suite } from '../../core/record/verify.ts';
import { type GrowingTree, growingTree } from '../../core/seal/growing-tree.ts';
import { parseSeal } from '../../core/seal/seal.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { leafOf } from '../source/leaf.ts';
import type { NumberedFile } from '../source/numbered-files.ts';
import type { Source } from '../source/source.ts';

interface Context {
  source: Source;
  trust: Trust;
  suite: Suite;
}

/**
 * SPEC §5.5: what a key signed before it was revoked stands where the ledger had sealed it by then. For each such key of an
 * identity the number up to which the ledger vouches for a session's records; keys for which it does not are left out.
 */
export async function vouchedRecords(
  files: readonly NumberedFile[],
  identity: Identity | undefined,
  context: Context,
): Promise<ReadonlyMap<string, number>> {
  const vouched = new Map<string, number>();
  const keys = (identity?.keys ?? []).filter((key) => isRevoked(key) && (key.cutoff ?? 0) > 0);
  if (keys.length === 0 || !files.some(({ kind }) => kind === 'seal')) return vouched;
  const seals = await ledgeredSeals(files, context);
  for (const { fingerprint, cutoff = 0 } of keys) {
    const last = seals.findLast(({ index }) => index < cutoff);
    if (last) vouched.set(fingerprint, last.seq);
  }
  return vouched;
}

/** The seals of a session that are over what is there, and in the ledger; with their places in it. */
async function ledgeredSeals(
  files: readonly NumberedFile[],
  { source, trust, suite }: Context,
): Promise<{ seq: number; index: number }[]> {
  const places = await placesIn(source, trust, suite);
  const entries = files.map(({ entry }) => entry);
  const contents = await source.readAll(entries, MAX_RECORD_BYTES);
  const tree = growingTree(suite.sha256);
  const seals: { seq: number; index: number }[] = [];
  for (const [at, { seq, kind }] of files.entries()) {
    const bytes = contents[at]!;
    const leaf = seq === tree.size + 1 ? await leafOf(source, entries[at]!, bytes, suite) : null;
    if (!leaf) break;
    const index = kind === 'seal' ? places.get(toHex(leaf)) : undefined;
    if (index !== undefined && bytes instanceof Uint8Array && isOver(bytes, tree)) seals.push({ seq, index });
    tree.add(leaf);
  }
  return seals;
}

/** M76. A file that is no seal is over nothing, and is told of at its path. */
function isOver(bytes: Uint8Array, tree: GrowingTree): boolean {
  const seal = parseSeal(bytes)?.fields;
  return seal?.tree_size === tree.size && seal.root === toHex(tree.root());
}

type LeafPlaces = ReadonlyMap<string, number>;

const placesOf = new WeakMap<Source, Promise<LeafPlaces>>();

/** Where each leaf stands in the ledger of a tree; nowhere, when nobody can trust it. */
function placesIn(source: Source, trust: Trust, suite: Suite): Promise<LeafPlaces> {
  const places = placesOf.get(source) ?? readPlaces(source, trust, suite);
  placesOf.set(source, places);
  return places;
}

async function readPlaces(source: Source, trust: Trust, suite: Suite): Promise<LeafPlaces> {
  // few trees have a key that was revoked: the others need not load this
  const { readLedger, openCheckpoint, readLeafHashes } = await import('../ledger/ledger.ts');
  try {
    const ledger = await readLedger(source);
    if (!ledger) return new Map();
    await openCheckpoint(ledger, trust, suite);
    return new Map((await readLeafHashes(ledger, suite)).map((hash, index) => [hash, index]));
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'ledger_inconsistent') return new Map();
    throw error;
  }
}
