import { closeSync, openSync, readSync } from 'node:fs';
import { ledgerVkeys } from '../../audit/ledger/ledger.ts';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { checkProof, type Proof, type ProofCheck } from '../../core/ledger/proof.ts';
import type { ProofKeys } from '../../core/ledger/proof-checkpoint.ts';
import { MAX_PROOF_BYTES, parseProof } from '../../core/ledger/proof-text.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { nodeSuite } from '../../crypto.ts';
import { whyUnreadable } from '../../journal/drafts/bad-input.ts';
import type { Repository } from '../../repository/repository.ts';
import { readTrust } from '../../repository/trusted-now.ts';

export interface CheckProofOptions {
  /** Its path, or what is in it. */
  file: string | Uint8Array;
  /** A file that must be the record of the proof, byte for byte. */
  record?: string;
  /** Public keys of the ledger, from a source that is trusted: one of them must have signed. */
  vkey?: string | readonly string[];
  /** Public keys of witnesses, each of whom must have cosigned. */
  witness?: string[];
}

export interface CheckProofResult extends ProofCheck {
  valid: true;
}

/** Needs no repository. In one that the proof is about, the keys of its maintainers do where none is given. SPEC §11.7 */
export async function checkProofFile(
  options: CheckProofOptions,
  openRepository: () => Promise<Repository | null> = async () => null,
): Promise<CheckProofResult> {
  const { file, vkey, witness } = options;
  const proof = parseProof(typeof file === 'string' ? readInput(file, MAX_PROOF_BYTES) : file);
  const given = [vkey ?? []].flat();
  if (vkey !== undefined && given.length === 0) throw noKeys();
  const vkeys = vkey === undefined ? await ownKeys(proof, openRepository) : given;
  const source = vkey === undefined ? 'maintainers' : 'given';
  const keys: ProofKeys = { vkeys, source, ...(witness ? { witnesses: witness } : {}) };
  const record = options.record === undefined ? undefined : readInput(options.record, MAX_RECORD_BYTES);
  return { valid: true, ...(await checkProof(proof, keys, nodeSuite, record)) };
}

/** Whoever trusts no key at all would be told that it holds. */
function noKeys(): HandoffError {
  return new HandoffError('usage', 'Expected public keys of the ledger, found an empty list.', {
    hint: 'Give at least one, or leave the option out.',
  });
}

/** A byte more than there may be is enough for whoever reads it to refuse it. */
function readInput(path: string, limit: number): Uint8Array {
  try {
    return readStart(path, limit + 1);
  } catch (cause) {
    if (!hasCode(cause)) throw cause;
    throw new HandoffError('usage', `${path} cannot be read: ${whyUnreadable(cause)}`, {
      hint: 'Name the file that git handoff prove has written, and with --record the file of the record.',
      data: { path },
      cause,
    });
  }
}

function readStart(path: string, length: number): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(length);
    let end = 0;
    for (let read = -1; read !== 0 && end < length; end += read) read = readSync(file, bytes, end, length - end, null);
    return new Uint8Array(bytes.subarray(0, end));
  } finally {
    closeSync(file);
  }
}

/** No keys if there is no repository, if it is another one, or if its root is not pinned: then anybody may have made it, with keys of their own. */
async function ownKeys({ repo }: Proof, openRepository: () => Promise<Repository | null>): Promise<string[]> {
  const repository = await openRepository();
  const trust = repository && (await readTrust(repository).catch(nullIfNone(repository)));
  if (!repository || trust?.repoId !== repo) return [];
  if ((await repository.config()).get('handoff.root') !== undefined) return ledgerVkeys(trust, nodeSuite);
  repository.warn(
    'No root is pinned here, so the keys of this repository count for nothing. Pin it: git handoff trust',
  );
  return [];
}

/** A repository in which nobody can be trusted has no keys to offer; the proof need not be about it. */
function nullIfNone(repository: Repository): (error: unknown) => null {
  return (error) => {
    if (!(error instanceof HandoffError)) throw error;
    if (error.code !== 'not_initialised') repository.warn(`The keys of this repository are not used: ${error.message}`);
    return null;
  };
}
