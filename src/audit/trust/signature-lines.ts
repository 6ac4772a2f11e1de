import { HandoffError } from '../../core/error.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import type { Signature } from '../../core/record/signed-parts.ts';
import type { PublicKey, Suite } from '../../core/record/verify.ts';
import { assertSigned, type RootKeys, type Trust } from '../../core/trust/trust.ts';

/** The key that a line is signed with, of those whose word counts under a document. */
export type FindSigner = (line: Signature) => PublicKey | undefined;

/** Maintainers and root principals. Whatever became of their keys since: the line may be older than that. */
export function maintainersOf(...trusts: readonly Trust[]): FindSigner {
  const principals = principalsOf(...trusts.map(({ policy }) => policy.root));
  return (line) => {
    const holders = trusts.map(({ identities }) => identities.get(line.identity)).filter((each) => each !== undefined);
    const keys = holders.filter(({ role }) => role === 'maintainer').flatMap((holder) => holder.keys);
    return keys.find(({ fingerprint }) => fingerprint === line.fingerprint) ?? principals(line);
  };
}

export function principalsOf(...roots: readonly RootKeys[]): FindSigner {
  return ({ identity, fingerprint }) =>
    roots.map(({ principals }) => principals.get(identity)).find((key) => key?.fingerprint === fingerprint);
}

/**
 * Keys of whatever role and state: a line by one may have counted, or may count again. A line by any other key may go, or lines
 * of keys that somebody made up for a while would fill the file for ever.
 */
export function listedBy({ identities, distrusted, policy }: Trust): FindSigner {
  const principals = principalsOf(policy.root);
  return (line) => {
    const holder = identities.get(line.identity) ?? distrusted.get(line.identity);
    return holder?.keys.find(({ fingerprint }) => fingerprint === line.fingerprint) ?? principals(line);
  };
}

/** Whose lines may arrive under a document, and whose stay there. */
export interface Lines {
  arriving: FindSigner;
  staying: FindSigner;
}

/**
 * SPEC §10.3.3: nobody takes a signature away, and every line that arrives is one that counts: anybody can write lines, and what is
 * under a document stays there, unless it is by a key that nobody who is trusted lists.
 */
export async function assertLines(
  { signatures }: ParsedRecord,
  next: ParsedRecord,
  { arriving, staying }: Lines,
  suite: Suite,
): Promise<void> {
  const gone = signatures.find((line) => staying(line) && !next.signatures.some((other) => isOf(line, other)));
  if (gone) throw stripped(gone);
  for (const line of next.signatures.filter((each) => !signatures.some((other) => isSame(each, other)))) {
    const key = arriving(line);
    if (!key) throw unknownSigner(line);
    await assertSigned(next, key, line.bytes, suite);
  }
}

/** The same of a document that was not there. */
export function assertNewLines(next: ParsedRecord, arriving: FindSigner, suite: Suite): Promise<void> {
  return assertLines({ ...next, signatures: [] }, next, { arriving, staying: arriving }, suite);
}

function isOf(a: Signature, b: Signature): boolean {
  return a.identity === b.identity && a.fingerprint === b.fingerprint;
}

function isSame(a: Signature, b: Signature): boolean {
  return isOf(a, b) && a.bytes.every((byte, at) => byte === b.bytes[at]);
}

function stripped({ identity, fingerprint }: Signature): HandoffError {
  const expected = `the signature by ${identity} ${fingerprint}`;
  return new HandoffError('signature_invalid', `A signature was taken away: expected ${expected}, found none.`, {
    hint: 'Restore the file from git: signatures are only ever added to a document.',
    data: { expected, found: 'none' },
  });
}

function unknownSigner({ identity, fingerprint }: Signature): HandoffError {
  const found = `${identity} ${fingerprint}`;
  return new HandoffError('signer_unknown', `A signature counts for nothing here: found one by ${found}.`, {
    hint: 'Leave that line out: a document carries signatures of maintainers and root principals, and no others.',
    data: { expected: 'signatures of maintainers and root principals', found },
  });
}
