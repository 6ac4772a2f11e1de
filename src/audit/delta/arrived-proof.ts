import { utf8 } from '../../core/bytes/bytes.ts';
import { parseNote } from '../../core/ledger/note.ts';
import { proofError } from '../../core/ledger/proof-error.ts';
import { formatProof, MAX_PROOF_BYTES, parseProof, withoutComments } from '../../core/ledger/proof-text.ts';
import type { Suite } from '../../core/record/verify.ts';
import { decodeText } from '../../core/text/text.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { auditProof } from '../ledger/audit.ts';
import type { Entry, Source } from '../source/source.ts';

/** What a tool may explain; ours takes a third of it. */
const MAX_COMMENT_BYTES = 8192;
/** A hundred lines of signatures, with names of some length. */
const MAX_SIGNATURE_BYTES = 16_384;

/**
 * SPEC §11.6: a proof that arrives has one form, with few comments and few signatures that nobody knows: nobody signs a proof, and
 * whoever may push could fill it.
 */
export async function auditArrivedProof(source: Source, file: Entry, trust: Trust, suite: Suite): Promise<void> {
  await auditProof(source, file, trust, suite);
  const bytes = await source.read(file, MAX_PROOF_BYTES);
  const proof = parseProof(bytes);
  if (withoutComments(bytes) !== withoutComments(formatProof(proof)))
    throw proofError('file', 'the form in which git handoff prove writes it', 'another');
  const comments = commentBytes(bytes);
  if (comments > MAX_COMMENT_BYTES)
    throw proofError('file', `at most ${MAX_COMMENT_BYTES} bytes of comments`, `${comments}`);
  const signatures = proof.note.length - utf8(parseNote(proof.note).text).length;
  if (signatures > MAX_SIGNATURE_BYTES)
    throw proofError('note', `at most ${MAX_SIGNATURE_BYTES} bytes of signatures`, String(signatures));
}

/** A line of a block is indented: what begins with # is a comment. */
function commentBytes(bytes: Uint8Array): number {
  const lines = decodeText(bytes).split('\n');
  return lines.reduce((sum, line) => (line.startsWith('#') ? sum + utf8(line).length + 1 : sum), 0);
}
