import { consistencyProof, merkleRoot } from '../src/core/seal/merkle.ts';
import { nodeHashes } from '../src/crypto.ts';
import { type Draft, type Place, type SessionOptions, type Written, writeSession } from './handoff.ts';

/** A record, or one that depends on the files before it, as a seal does. */
export type Step = Draft | ((files: readonly Uint8Array[]) => Draft);

export const SEALED_ID = '5ea1ed00-51cf-4c61-9a39-2b7fd2f9a1de';

/** Signs and writes a session, unstaged. Signatures are deterministic: the same steps are the same bytes. */
export function writeSealed(place: Place, steps: readonly Step[], options: SessionOptions = {}): Written[] {
  const drafts: Draft[] = [];
  let written: Written[] = [];
  for (const step of steps) {
    drafts.push(typeof step === 'function' ? step(written.map(({ bytes }) => bytes)) : step);
    written = writeSession(place, drafts, { sessionId: SEALED_ID, ...options });
  }
  return written;
}

/** A seal over all files before it; `after`: how many the seal before it is over. `change` makes it a forged one. */
export function seal(after: number | null = null, change: (honest: SealDraft) => object = (honest) => honest): Step {
  return (files) => {
    const honest: SealDraft = { ...headOf(files), ...(after === null ? {} : { previous: previousOf(files, after) }) };
    return { kind: 'seal', ...change(honest) };
  };
}

export interface SealDraft {
  tree_size: number;
  root: string;
  previous?: { tree_size: number; root: string; proof: string[] };
}

export function headOf(files: readonly Uint8Array[]): { tree_size: number; root: string } {
  return { tree_size: files.length, root: hex(merkleRoot(files, nodeHashes.sha256)) };
}

function previousOf(files: readonly Uint8Array[], after: number): NonNullable<SealDraft['previous']> {
  return { ...headOf(files.slice(0, after)), proof: consistencyProof(files, after, nodeHashes.sha256).map(hex) };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
