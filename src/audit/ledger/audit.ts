import { concatBytes, equalBytes, toHex } from '../../core/bytes/bytes.ts';
import { asHandoffError, type Finding, HandoffError } from '../../core/error.ts';
import { checkProof } from '../../core/ledger/proof.ts';
import { proofError } from '../../core/ledger/proof-error.ts';
import { MAX_PROOF_BYTES, parseProof } from '../../core/ledger/proof-text.ts';
import {
  HASH_SIZE,
  hasTile,
  parseEntries,
  parseHashes,
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tilesOfLevel,
} from '../../core/ledger/tiles.ts';
import { CHECKPOINT, LEDGER, proofPath } from '../../core/paths.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import type { Suite } from '../../core/record/verify.ts';
import { leafHashes, rootOfHashes } from '../../core/seal/merkle.ts';
import { parseSeal } from '../../core/seal/seal.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { attempt, finding, type Report } from '../finding.ts';
import { type Entry, FOLDER, find, type Source } from '../source/source.ts';
import { isFile, listUnique, reportNoPlace } from '../tree/layout.ts';
import { assertComplete } from './complete.ts';
import { inconsistent, type Ledger, ledgerVkeys, openCheckpoint, readLedger } from './ledger.ts';

/** A seal in a ledger, and where it stands. */
export interface LedgerSeal {
  index: number;
  bytes: Uint8Array;
  record: ParsedRecord<'seal'>;
}

/** A ledger by itself: who signed it, and whether it is what they signed. */
export async function auditLedger(source: Source, trust: Trust, suite: Suite, report: Report): Promise<void> {
  const ledger = await attempt(LEDGER, report, () => readSigned(source, trust, suite));
  // what has no place in it has none either where nobody can trust it, as when its key was revoked
  await reportStrays(source, ledger, report);
  if (!ledger) return;
  await attempt(LEDGER, report, async () => {
    await assertTiles(ledger, trust.repoId, suite);
    await assertComplete(ledger, null, { source, trust, suite });
  });
}

async function readSigned(source: Source, trust: Trust, suite: Suite): Promise<Ledger> {
  const ledger = await readLedger(source);
  if (!ledger) throw inconsistent('The ledger has no checkpoint.');
  await openCheckpoint(ledger, trust, suite);
  return ledger;
}

/** A proof that stands in the tree: of the record that its name says, and by a key that may sign the ledger. */
export async function auditProof(source: Source, file: Entry, trust: Trust, suite: Suite): Promise<void> {
  const proof = parseProof(await source.read(file, MAX_PROOF_BYTES));
  const check = async (vkeys: string[]) => {
    if (vkeys.length === 0) throw proofError('checkpoint', 'a key of a maintainer that may sign the ledger', 'none');
    return checkProof(proof, { vkeys, source: 'maintainers' }, suite);
  };
  const { record } = await check(ledgerVkeys(trust, suite)).catch(async (error: unknown) => {
    const revoked = ledgerVkeys(trust, suite, isRevoked);
    throw (await isAccepted(check(revoked))) ? provedByRevoked() : error;
  });
  if (proofPath(record) === file.path && proof.repo === trust.repoId) return;
  throw proofError('record', `the record that ${file.name} names`, record);
}

async function isAccepted(checking: Promise<unknown>): Promise<boolean> {
  try {
    await checking;
    return true;
  } catch (error) {
    asHandoffError(error);
    return false;
  }
}

function provedByRevoked(): HandoffError {
  return new HandoffError('proof_invalid', 'The key of a maintainer that signed the checkpoint in it was revoked.', {
    hint: 'Once the ledger is signed anew: git handoff prove RECORD. Until then it proves nothing; git rm takes it away.',
    data: { distrusted: true },
  });
}

/**
 * SPEC §11.3: every tile is what the entries under it give, all of them give the root that was signed, and every entry is a
 * different seal of this repository.
 */
export async function assertTiles(
  ledger: Ledger,
  repo: string,
  suite: Suite,
  visit: Visit = async () => {},
): Promise<void> {
  const { size, root } = ledger.checkpoint;
  const leaves = await readLeaves(ledger, repo, suite, visit);
  const distinct = new Set(parseHashes(leaves).map(toHex));
  if (distinct.size !== size)
    throw inconsistent(`A seal stands in the ledger twice: ${size} entries, ${distinct.size} seals.`);
  for (let level = 0, hashes = leaves; hashes.length > 0; level++)
    hashes = await assertLevel(ledger, level, hashes, suite);
  const found = size === 0 ? suite.sha256(leaves) : rootOfHashes(leaves, suite.sha256);
  if (equalBytes(found, root)) return;
  throw inconsistent(`Expected entries that give the root ${toHex(root)}, found ${toHex(found)}.`);
}

type Visit = (seal: LedgerSeal) => Promise<void>;

/** The hashes of all entries, one after another. */
async function readLeaves(
  { checkpoint: { size }, read }: Ledger,
  repo: string,
  suite: Suite,
  visit: Visit,
): Promise<Uint8Array> {
  const hashes: Uint8Array[] = [];
  for (const tile of tilesOfLevel('entries', size)) {
    const entries = parseEntries(await read(tile), tile.width, tilePath(tile));
    for (const [at, entry] of entries.entries()) await visit(toSeal(tile.index * TILE_WIDTH + at, entry, repo));
    hashes.push(leafHashes(entries, suite.sha256));
  }
  return concatBytes(...hashes);
}

/** Compares the tiles of a level with the hashes that belong there; returns those of the level above. */
async function assertLevel(
  { checkpoint: { size }, read }: Ledger,
  level: number,
  hashes: Uint8Array,
  suite: Suite,
): Promise<Uint8Array> {
  const above: Uint8Array[] = [];
  for (const tile of tilesOfLevel(level, size)) {
    const start = tile.index * TILE_WIDTH * HASH_SIZE;
    const expected = hashes.subarray(start, start + tile.width * HASH_SIZE);
    if (!equalBytes(await read(tile), expected))
      throw inconsistent(`${tilePath(tile)} is not what the entries under it give.`);
    if (tile.width === TILE_WIDTH) above.push(rootOfHashes(expected, suite.sha256));
  }
  return concatBytes(...above);
}

/** An entry of a ledger as what it must be. */
export function toSeal(index: number, bytes: Uint8Array, repo: string): LedgerSeal {
  const record = parseSeal(bytes);
  if (record?.fields.repo === repo) return { index, bytes, record };
  throw inconsistent(`Entry ${index} of the ledger is no seal of this repository.`);
}

/** SPEC §2.2, §11.3: nothing in the folder but the checkpoint and tiles, and no tile but those of its size, where that is known. */
export async function reportStrays(source: Source, ledger: Ledger | null, report: Report): Promise<void> {
  const judge = (file: Entry): void => {
    const path = file.path.slice(LEDGER.length + 1);
    const tile = parseTilePath(path);
    if (tile === null && path !== CHECKPOINT) reportNoPlace(file, 'the checkpoint and tiles', report);
    else if (tile && ledger && !hasTile(ledger.checkpoint.size, tile)) report(surplus(file, ledger));
  };
  const folder = await find(source, LEDGER);
  const walk = async (entry: Entry): Promise<void> => {
    if (entry.mode === FOLDER) for (const inside of await listUnique(source, entry, report)) await walk(inside);
    else if (isFile(entry, report)) judge(entry);
  };
  if (folder) await attempt(folder.path, report, () => walk(folder));
}

function surplus({ path, name }: Entry, { checkpoint: { size } }: Ledger): Finding {
  const hint = 'Only git handoff ledger append writes .handoff/ledger: git rm takes away what a commit has besides.';
  return finding('ledger_inconsistent', path, `the tiles of ${size} seals`, JSON.stringify(name), hint);
}
