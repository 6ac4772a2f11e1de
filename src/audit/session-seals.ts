import type { RecordKind } from '../core/kinds.ts';
import { leafHash } from '../core/merkle.ts';
import type { ParsedRecord } from '../core/record.ts';
import { type Seal, type SealFault, sealFaults, toSeal } from '../core/seal.ts';
import type { Suite } from '../core/verify.ts';

/** What the seals of a session are judged by, gathered while its files are read. SPEC §11.1 */
export interface SealedFiles {
  /** The number of the last seal: what comes after it is under none. */
  end: number;
  /** The hash of each file below it, by number; null where there are two. */
  leaves: (Uint8Array | null)[];
  seals: Seal[];
}

/** Null for a session that nobody sealed, as the names of its files tell: no file of it need be hashed. */
export function sealedFiles(files: readonly { seq: number; kind: RecordKind }[]): SealedFiles | null {
  const end = files.findLast(({ kind }) => kind === 'seal')?.seq;
  return end === undefined ? null : { end, leaves: [], seals: [] };
}

/** A leaf is what the file holds, whether or not that is a valid record; `record` is null where it is none. */
export function addFile(
  { end, leaves, seals }: SealedFiles,
  { seq, kind, bytes }: { seq: number; kind: RecordKind; bytes: Uint8Array | null },
  record: ParsedRecord | null,
  { sha256 }: Suite,
): void {
  if (kind === 'seal') seals.push(record ? toSeal(record) : { seq, claim: null });
  if (seq < end) leaves[seq - 1] = bytes && leaves[seq - 1] === undefined ? leafHash(bytes, sha256) : null;
}

export function faultsOf({ seals, leaves }: SealedFiles, { sha256 }: Suite): SealFault[] {
  return sealFaults(seals, leaves, sha256);
}
