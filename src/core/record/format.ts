import { concatBytes, toBase64, utf8 } from '../bytes/bytes.ts';
import type { YamlMap } from '../bytes/yaml.ts';
import { writeYaml } from '../bytes/yaml-write.ts';
import { HandoffError } from '../error.ts';
import { decodeText } from '../text/text.ts';
import { extensionOf, isRecordKind, type Kind } from './kinds.ts';
import type { Signature } from './signed-parts.ts';

/** What is to be signed: the file without its signature. */
export interface UnsignedRecord<K extends Kind = Kind> {
  kind: K;
  signedBytes: Uint8Array;
  /** Where the signature belongs: the end of the front matter. */
  offset: number;
}

/** Fields (and Markdown, for kinds that have it) → the bytes to sign. SPEC §3 */
export function formatRecord<K extends Kind>(
  fields: YamlMap & { kind: K },
  body: string | null = null,
): UnsignedRecord<K> {
  const yaml = utf8(writeYaml(fields));
  if (extensionOf(fields.kind) === 'yaml') return { kind: fields.kind, signedBytes: yaml, offset: yaml.length };
  const front = concatBytes(utf8('---\n'), yaml);
  return {
    kind: fields.kind,
    signedBytes: concatBytes(front, utf8('---\n'), encodeBody(body ?? '')),
    offset: front.length,
  };
}

/** Puts a record's signature, or a document's signatures, where SPEC §4 wants them. */
export function attachSignatures(record: UnsignedRecord, signatures: readonly Signature[]): Uint8Array {
  const lines = isRecordKind(record.kind)
    ? `signature: ${toBase64(signatures[0]!.bytes)}\n`
    : `signatures:\n${signatures.map(formatSigner).join('')}`;
  const { signedBytes, offset } = record;
  return concatBytes(signedBytes.subarray(0, offset), utf8(lines), signedBytes.subarray(offset));
}

function formatSigner({ identity, fingerprint, bytes }: Signature): string {
  return `  - ${identity} ${fingerprint} ${toBase64(bytes)}\n`;
}

/** The body goes in byte for byte, so it must already be what a record may hold. */
function encodeBody(body: string): Uint8Array {
  if (!body.isWellFormed()) {
    throw new HandoffError('bytes_invalid', 'The text holds half of a surrogate pair.', { hint: 'Save it as UTF-8.' });
  }
  const bytes = utf8(body);
  decodeText(bytes);
  return bytes;
}
