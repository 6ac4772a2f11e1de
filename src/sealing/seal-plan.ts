import { toHex } from '../core/bytes/bytes.ts';
import { HandoffError } from '../core/error.ts';
import { recordName } from '../core/paths.ts';
import type { OwnFields } from '../core/record/kinds.ts';
import { parseAs } from '../core/record/record.ts';
import { type VerifiedRecord, verifyRecord } from '../core/record/verify.ts';
import { consistencyProof, merkleRoot } from '../core/seal/merkle.ts';
import { isRevoked } from '../core/trust/key-standing.ts';
import { keyRevoked, type Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { isSeal, readEntry, readTip, recordNumbers, type SealEntry } from '../journal/sessions/records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { sealInProgress } from '../journal/sessions/sealing.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { StateDirectory } from '../repository/parts.ts';

/** A seal that is in the chain. */
export interface Sealed {
  delta_id: string;
  path: string;
  tree_size: number;
  root: string;
}

/** The seal at the end of a session's journal; null when something came after it, or there is none. */
export async function newestSeal(repository: StateDirectory, trust: Trust, session: Session): Promise<Sealed | null> {
  const dirs = dirsOf(repository);
  const tip = readTip(dirs, session.session_id);
  if (!tip) throw noRecords(session.session_id);
  if (!isSeal(tip)) return null;
  const { id, fields } = await verifySeal(trust, session, tip);
  return {
    delta_id: id,
    path: `${session.folder}/${recordName(tip.number, 'seal')}`,
    tree_size: fields.tree_size,
    root: fields.root,
  };
}

/** What the journal says is repeated only if its identity has signed it, with a key that stands. SPEC §5.5 */
export async function verifySeal(
  trust: Trust,
  { identity }: Session,
  { bytes }: SealEntry,
): Promise<VerifiedRecord<'seal'>> {
  const keys = trust.identities.get(identity)?.keys ?? [];
  const seal = await verifyRecord(parseAs(bytes, 'seal'), keys, nodeSuite);
  if (keys.some((key) => key.fingerprint === seal.fingerprint && isRevoked(key))) throw keyRevoked(seal.fingerprint);
  return seal;
}

export function noRecords(session_id: string): HandoffError {
  return new HandoffError('no_records', `Session ${session_id} has no records.`, {
    hint: 'git handoff note TEXT writes one.',
    data: { session_id },
  });
}

function gap(session_id: string, found: number, expected: number): HandoffError {
  return new HandoffError('chain_broken', `Session ${session_id}: expected ${expected} records, found ${found}.`, {
    hint: 'git handoff audit verify shows which are missing.',
    data: { session_id },
  });
}

/**
 * The keys of the seal that gets this number: over all records before it, and bound to the seal before it. Reads the journal
 * anew for each number it is asked for: somebody may have written meanwhile, or sealed.
 */
export function planSeal(repository: StateDirectory, { session_id }: Session, seq: number): OwnFields<'seal'> {
  const dirs = dirsOf(repository);
  const entries = recordNumbers(dirs, session_id)
    .filter((number) => number < seq)
    .map((number) => readEntry(dirs, session_id, number));
  const leaves = entries.flatMap((entry) => ('bytes' in entry ? [entry.bytes] : []));
  if (seq === 1) throw noRecords(session_id);
  if (leaves.length !== seq - 1) throw gap(session_id, leaves.length, seq - 1);
  const before = entries.findLast(isSeal);
  if (before?.number === seq - 1) throw sealInProgress(session_id);
  const treeHead = { tree_size: leaves.length, root: toHex(merkleRoot(leaves, nodeSuite.sha256)) };
  if (!before) return treeHead;
  const { tree_size, root } = parseAs(before.bytes, 'seal').fields;
  const proof = consistencyProof(leaves, tree_size, nodeSuite.sha256).map(toHex);
  return { ...treeHead, previous: { tree_size, root, proof } };
}
