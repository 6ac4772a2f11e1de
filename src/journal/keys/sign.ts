import type { YamlMap } from '../../core/bytes/yaml.ts';
import { attachSignatures, formatRecord, type UnsignedRecord } from '../../core/record/format.ts';
import type { DocumentKind } from '../../core/record/kinds.ts';
import { type ParsedRecord, parseRecord, type Signature } from '../../core/record/record.ts';
import type { Signer } from './keys.ts';

/** A name and what signs for it. */
export interface NamedSigner {
  identity: string;
  signer: Signer;
}

export interface SignedDocument {
  bytes: Uint8Array;
  document: ParsedRecord;
}

/** Fields → a document with these signatures. What was written is read again before anybody sees it. */
export async function signDocument(
  fields: YamlMap & { kind: DocumentKind },
  signers: readonly NamedSigner[],
): Promise<SignedDocument> {
  const unsigned = formatRecord(fields);
  return finish(unsigned, await Promise.all(signers.map((named) => signAs(unsigned, named))));
}

/** The same document with one more signature; the same key's earlier line is replaced. */
export async function addSignature(document: ParsedRecord, named: NamedSigner): Promise<SignedDocument> {
  const unsigned = { kind: document.kind, signedBytes: document.signedBytes, offset: document.signedBytes.length };
  const { fingerprint } = named.signer.publicKey;
  const others = document.signatures.filter(
    (line) => line.identity !== named.identity || line.fingerprint !== fingerprint,
  );
  return finish(unsigned, [...others, await signAs(unsigned, named)]);
}

async function signAs(record: UnsignedRecord, { identity, signer }: NamedSigner): Promise<Signature> {
  return { identity, fingerprint: signer.publicKey.fingerprint, bytes: await signer.sign(record) };
}

function finish(unsigned: UnsignedRecord, signatures: readonly Signature[]): SignedDocument {
  const bytes = attachSignatures(unsigned, signatures);
  return { bytes, document: parseRecord(bytes) };
}
