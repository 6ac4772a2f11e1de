import type { Link } from '../../core/record/chain.ts';
import type { RecordKind } from '../../core/record/kinds.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import type { Suite } from '../../core/record/verify.ts';
import { type Seal, sealFaults, toSeal } from '../../core/seal/seal.ts';
import { finding, type Report } from '../finding.ts';
import type { NumberedFile } from '../source/numbered-files.ts';

/** What the seals of a session are judged by, gathered while its files are read. SPEC §11.1 */
export interface SealedFiles {
  /** The number of the last seal: what comes after it is under none. */
  end: number;
  /** The hash of each file below it, by number; null where there are two. */
  leaves: (Uint8Array | null)[];
  seals: Seal[];
}

/** Null for a session that nobody sealed, as the names of its files tell: no file of it need be hashed. */
export function sealedFiles(files: readonly NumberedFile[]): SealedFiles | null {
  const end = files.findLast(({ kind }) => kind === 'seal')?.seq;
  return end === undefined ? null : { end, leaves: [], seals: [] };
}

/** A leaf is what the file holds, whether or not that is a valid record; `record` is null where it is none. */
export function addFile(
  { leaves, seals }: SealedFiles,
  { seq, kind, leaf }: { seq: number; kind: RecordKind; leaf: Uint8Array | null },
  record: ParsedRecord | null,
): void {
  if (kind === 'seal') seals.push(record?.kind === 'seal' ? toSeal(record) : { seq, claim: null });
  leaves[seq - 1] = leaves[seq - 1] === undefined ? leaf : null;
}

/** `links` are what the files turned out to be, each in its place. */
export function reportSeals(
  { seals, leaves }: SealedFiles,
  links: readonly (Link | null)[],
  files: readonly NumberedFile[],
  { sha256 }: Suite,
  report: Report,
): void {
  for (const { code, seq, expected, found } of sealFaults(seals, leaves, sha256)) {
    const at = links.findIndex((link) => link?.seq === seq && link.kind === 'seal');
    report({ ...finding(code, files[at]!.entry.path, expected, found, NO_SEAL), record: links[at]!.id });
  }
}

const NO_SEAL =
  'The seal is over other records than those that are here. Restore the session folder from git; a seal that was never right stays wrong: leave the session out of the branch and record the work in a new one.';
