import { toHex } from '../bytes/bytes.ts';
import type { HandoffError } from '../error.ts';
import type { Suite } from '../record/verify.ts';
import { type Checkpoint, ledgerOrigin, parseCheckpoint } from './checkpoint.ts';
import { labelOf, openNote, parseNote, parseVerifierKey, parseWitnessKey, type Verifier } from './note.ts';
import { asProofError, assertEqual, proofError } from './proof-error.ts';

/** Keys from a source that is trusted. Without `vkeys` the proof's own is used, which shows only that it is whole. */
export interface ProofKeys {
  vkeys: readonly string[];
  /** Where `vkeys` are from: a person gave them (the default), or they are those of the maintainers of this repository. */
  source?: KeySource;
  /** Each of them must have cosigned. */
  witnesses?: readonly string[];
}

export type KeySource = 'given' | 'maintainers';

interface GivenKeys {
  vkeys: Verifier[];
  source: KeySource;
  witnesses: Verifier[];
}

export function parseKeys({ vkeys, source = 'given', witnesses = [] }: ProofKeys, suite: Suite): GivenKeys {
  return {
    vkeys: [...new Set(vkeys)].map((vkey) => parseVerifierKey(vkey, suite)),
    source,
    witnesses: [...new Set(witnesses)].map((vkey) => parseWitnessKey(vkey, suite)),
  };
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
    if (!hasSigned([own], signers, checkpoint.origin)) throw notSigned([own], signers, checkpoint.origin);
    if (given.vkeys.length > 0) assertLog(given, signers, checkpoint.origin);
    for (const witness of given.witnesses) assertWitness(witness, signers);
    return { checkpoint, witnesses: given.witnesses.map(({ name }) => name) };
  } catch (error) {
    throw asProofError('checkpoint', error);
  }
}

function assertLog({ vkeys, source }: GivenKeys, signers: ReadonlySet<string>, origin: string): void {
  if (hasSigned(vkeys, signers, origin)) return;
  if (vkeys.every(({ name }) => name !== origin)) throw ofAnother(vkeys, origin);
  throw notSigned(vkeys, signers, origin, source);
}

function hasSigned(keys: readonly Verifier[], signers: ReadonlySet<string>, origin: string): boolean {
  return keys.some((key) => key.type === 'ed25519' && key.name === origin && signers.has(labelOf(key)));
}

function ofAnother(keys: readonly Verifier[], origin: string): HandoffError {
  const found = [...new Set(keys.map(({ name }) => `one of ${shortName(name)}`))].join(' and ');
  return proofError('checkpoint', `a key of ${shortName(origin)}`, found, OTHER_REPOSITORY);
}

/** As much of the name of a ledger as people compare. */
function shortName(name: string): string {
  const repo = name.startsWith(ledgerOrigin('')) ? name.slice(ledgerOrigin('').length) : null;
  return repo === null ? name : `repository ${repo.slice(0, 12)}`;
}

const OTHER_REPOSITORY =
  'This key is of another repository. Ask for that of the one that the proof is of: `git handoff ledger key` prints it there.';

function notSigned(
  keys: readonly Verifier[],
  signers: ReadonlySet<string>,
  origin: string,
  source?: KeySource,
): HandoffError {
  const whose = source === 'maintainers' ? "a key of this repository's maintainers, " : '';
  const expected = `a signature in the name of ${origin} by ${whose}${keys.map(labelOf).join(' or ')}`;
  return proofError('checkpoint', expected, [...signers].join(', '), source && OTHER_KEY[source]);
}

const OTHER_KEY: Record<KeySource, string> = {
  given:
    'It is signed by another key than the one that was given: another maintainer may have signed the ledger since, or the proof is not of theirs. Compare the key with what `git handoff ledger key --json` lists there.',
  maintainers:
    'No key was named, so it was checked with those of the maintainers here that are not revoked. A proof that was made before a revocation is made anew: `git handoff prove RECORD`. Any other is not of theirs.',
};

function assertWitness(key: Verifier, signers: ReadonlySet<string>): void {
  if (signers.has(labelOf(key))) return;
  throw proofError('witness', `a cosignature by ${labelOf(key)}`, 'none', NOT_COSIGNED);
}

const NOT_COSIGNED =
  'No witness with that key has signed this checkpoint. Compare the key with what the witness publishes, or ask for a proof that was made since it signed.';

/** A key that is given, and is also the proof's own, is one key. */
function distinct(keys: readonly Verifier[]): Verifier[] {
  return [...new Map(keys.map((key) => [`${labelOf(key)} ${toHex(key.publicKey)}`, key])).values()];
}
