import { asHandoffError, HandoffError } from '../error.ts';
import { escapeInvisible } from '../text/text.ts';

/** One code for everything that a proof can have wrong; `part` says where. */
export function proofError(part: string, expected: string, found: string, hint = HINT): HandoffError {
  return new HandoffError('proof_invalid', `${part}: expected ${oneLine(expected)}, found ${oneLine(found)}.`, {
    hint,
    data: { part, expected, found },
  });
}

export function assertEqual(part: string, expected: string | number, found: string | number): void {
  if (expected !== found) throw proofError(part, String(expected), String(found));
}

/** What the readers of a proof's parts throw, as an error of the proof. */
export function asProofError(part: string, error: unknown, hint = HINT): HandoffError {
  const cause = asHandoffError(error);
  if (cause.code === 'proof_invalid') return cause;
  // what the reader of a record says is about an identity, and a proof has only the key
  const isSignature = cause.code === 'signature_invalid';
  const message = isSignature ? wrongSignature(part) : `${part}: ${cause.message}`;
  return new HandoffError('proof_invalid', message, { hint, data: { ...cause.data, part }, cause });
}

function wrongSignature(part: string): string {
  return `The proof does not hold: the signature of its ${part} does not fit its text and the key beside it.`;
}

/** The words are those of a file that anybody may have written. */
function oneLine(text: string): string {
  return escapeInvisible(text.length > 300 ? `${text.slice(0, 300)}…` : text).replaceAll('\n', '\\n');
}

/** For what would hold with the line ends that it was written with. */
export const OTHER_ENDS =
  'Something on the way changed the line ends, or cut off the end. Ask for the file again, as an attachment or in an archive.';

const HINT =
  'Do not rely on it. Ask for the proof again: `git handoff prove RECORD` writes it where the repository is.';
