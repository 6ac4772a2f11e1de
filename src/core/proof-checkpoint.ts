import { toHex } from './bytes.ts';
import { type Checkpoint, ledgerOrigin, parseCheckpoint } from './checkpoint.ts';
import { labelOf, openNote, parseNote, parseVerifierKey, type Verifier } from './note.ts';
import { asProofError, assertEqual, proofError } from './proof-error.ts';
import type { Suite } from './verify.ts';

/** Keys from a source that is trusted. Without `vkeys` the proof's own is used, which shows only that it is whole. */
export interface ProofKeys {
  vkeys: readonly string[];
  /** Each of them must have cosigned. */
  witnesses?: readonly string[];
}

interface GivenKeys {
  vkeys: Verifier[];
  witnesses: Verifier[];
}

export function parseKeys({ vkeys, witnesses = [] }: ProofKeys, suite: Suite): GivenKeys {
  const parse = (keys: readonly string[]) => [...new Set(keys)].map((vkey) => parseVerifierKey(vkey, suite));
  return { vkeys: parse(vkeys), witnesses: parse(witnesses) };
}

/** The checkpoint of a proof: of its repository, signed by its own key, by one that was given, and by each witness. */
export async function checkNote(
  { repo, vkey, note }: { repo: string; vkey: string; note: Uint8Array },
  given: GivenKeys,
  suite: Suite,
): Promise<{ checkpoint: Checkpoint; witnesses: string[] }> {
  try {
    const own = parseVerifierKey(vkey, suite);
    const parsed = parseNote(note);
    const checkpoint = parseCheckpoint(parsed.text);
    assertEqual('checkpoint origin', ledgerOrigin(repo), checkpoint.origin);
    const { verified } = await openNote(parsed, distinct([own, ...given.vkeys, ...given.witnesses]), suite);
    const signers = new Set(verified.map(({ verifier }) => labelOf(verifier)));
    assertLog([own], signers, checkpoint.origin);
    if (given.vkeys.length > 0) assertLog(given.vkeys, signers, checkpoint.origin);
    for (const witness of given.witnesses) assertWitness(witness, signers);
    return { checkpoint, witnesses: given.witnesses.map(({ name }) => name) };
  } catch (error) {
    throw asProofError('checkpoint', error);
  }
}

function assertLog(keys: readonly Verifier[], signers: ReadonlySet<string>, origin: string): void {
  if (keys.some((key) => key.type === 'ed25519' && key.name === origin && signers.has(labelOf(key)))) return;
  const expected = `a signature in the name of ${origin} by ${keys.map(labelOf).join(' or ')}`;
  throw proofError('checkpoint', expected, [...signers].join(', '), OTHER_KEY);
}

const OTHER_KEY =
  'It is signed by another key than the one that was given: another maintainer may have signed the ledger since, that key is of another repository, or the proof is not of theirs. Compare the key with what `git handoff ledger key --json` lists there.';

function assertWitness(key: Verifier, signers: ReadonlySet<string>): void {
  if (key.type === 'cosignature' && signers.has(labelOf(key))) return;
  throw proofError('witness', `a cosignature by ${labelOf(key)}`, 'none');
}

/** A key that is given, and is also the proof's own, is one key. */
function distinct(keys: readonly Verifier[]): Verifier[] {
  return [...new Map(keys.map((key) => [`${labelOf(key)} ${toHex(key.publicKey)}`, key])).values()];
}
