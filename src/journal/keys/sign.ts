import type { YamlMap } from '../../core/bytes/yaml.ts';
import { attachSignatures, formatRecord, type UnsignedRecord } from '../../core/record/format.ts';
import type { DocumentKind } from '../../core/record/kinds.ts';
import { type ParsedRecord, parseAs } from '../../core/record/record.ts';
import type { Signature } from '../../core/record/signed-parts.ts';
import type { Signer } from './keys.ts';

/** A name and what signs for it. */
export interface NamedSigner {
  identity: string;
  signer: Signer;
}

export interface SignedDocument<K extends DocumentKind = DocumentKind> {
  bytes: Uint8Array;
  document: ParsedRecord<K>;
}

/** Fields → a document with these signatures. What was written is read again before anybody sees it. */
export async function signDocument<K extends DocumentKind>(
  fields: YamlMap & { kind: K },
  signers: readonly NamedSigner[],
): Promise<SignedDocument<K>> {
  const unsigned = formatRecord(fields);
  return finish(unsigned, await Promise.all(signers.map((named) => signAs(unsigned, named))));
}

/** The same document with one more signature; the same key's earlier line is replaced. */
export async function addSignature<K extends DocumentKind>(
  document: ParsedRecord<K>,
  named: NamedSigner,
): Promise<SignedDocument<K>> {
  const kind: K = document.kind;
  const unsigned = { kind, signedBytes: document.signedBytes, offset: document.signedBytes.length };
  const { fingerprint } = named.signer.publicKey;
  const others = document.signatures.filter(
    (line) => line.identity !== named.identity || line.fingerprint !== fingerprint,
  );
  return finish(unsigned, [...others, await signAs(unsigned, named)]);
}

async function signAs(record: UnsignedRecord, { identity, signer }: NamedSigner): Promise<Signature> {
  return { identity, fingerprint: signer.publicKey.fingerprint, bytes: await signer.sign(record) };
}

function finish<K extends DocumentKind>(
  unsigned: UnsignedRecord<K>,
  signatures: readonly Signature[],
): SignedDocument<K> {
  const bytes = attachSignatures(unsigned, signatures);
  return { bytes, document: parseAs(bytes, unsigned.kind) };
}
