import { asHandoffError, HandoffError } from './error.ts';

/** One code for everything that a proof can have wrong; `part` says where. */
export function proofError(part: string, expected: string, found: string): HandoffError {
  return new HandoffError('proof_invalid', `${part}: expected ${expected}, found ${found}.`, {
    hint: HINT,
    data: { part, expected, found },
  });
}

/** What the readers of a proof's parts throw, as an error of the proof. */
export function asProofError(part: string, error: unknown): HandoffError {
  const cause = asHandoffError(error);
  if (cause.code === 'proof_invalid') return cause;
  const message = `${part}: ${cause.message}`;
  return new HandoffError('proof_invalid', message, { hint: HINT, data: { ...cause.data, part }, cause });
}

const HINT =
  'Do not rely on it. Ask for the proof again: `git handoff prove RECORD` writes it where the repository is.';
