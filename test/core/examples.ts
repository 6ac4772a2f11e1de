import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, utf8 } from '../../src/core/bytes/bytes.ts';
import type { YamlMap } from '../../src/core/bytes/yaml.ts';
import { HandoffError } from '../../src/core/error.ts';
import { attachSignatures, formatRecord } from '../../src/core/record/format.ts';
import { isRecordKind, type Kind } from '../../src/core/record/kinds.ts';
import { signedMessage } from '../../src/core/record/signed-message.ts';
import type { PublicKey, Suite } from '../../src/core/record/verify.ts';
import { browserSuite } from '../../src/core/trust/browser-suite.ts';
import { nodeSuite as manyAtOnce, nodeHashes, verifyEd25519, verifyEd25519Async } from '../../src/crypto.ts';

/** Both kinds of crypto, and on Node both ways to call it. */
export const SUITES: Record<string, Suite> = {
  tweetnacl: browserSuite,
  node: { ...nodeHashes, verify: verifyEd25519 },
  'node, asynchronous': { ...nodeHashes, verify: verifyEd25519Async },
  'node, many at once': manyAtOnce,
};
export const nodeSuite: Suite = SUITES.node!;

export interface TestKey extends PublicKey {
  label: string;
  line: string;
  privateKey: KeyObject;
}

interface PublishedKey {
  label: string;
  seed: string;
  public_key: string;
  line: string;
  fingerprint: string;
}

export interface FileCase {
  name: string;
  rule: string[];
  file?: string;
  file_base64?: string;
  /** `valid`, or the code of the error. */
  result: string;
  kind?: Kind;
  id?: string;
  body?: string | null;
  fields?: YamlMap;
}

/** How a document is to be checked, once it is parsed. */
type DocumentCheck =
  | { as: 'policy'; prior: string | null }
  | { as: 'maintainer'; policy: string }
  | { as: 'document'; maintainers: string[] };

export type DocumentCase = FileCase & { check: DocumentCheck; signers?: string[] };

export interface Example {
  kind: Kind;
  bytes: Uint8Array;
  fields: YamlMap & { kind: Kind };
  body: string | null;
}

export function readVectors<T>(name: string): T[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../protocol/vectors', `${name}.json`), 'utf8'));
}

export function bytesOf({ file, file_base64 }: FileCase): Uint8Array {
  return file === undefined ? new Uint8Array(Buffer.from(file_base64!, 'base64')) : utf8(file);
}

const KEYS = new Map(readVectors<PublishedKey>('keys').map((key) => [key.label, toTestKey(key)]));

export function testKey(label: string): TestKey {
  return KEYS.get(label)!;
}

/** One valid file of every kind, with every key that the kind has. */
export const EXAMPLES: Example[] = [...readVectors<FileCase>('records'), ...readVectors<FileCase>('documents')]
  .filter(
    ({ name, kind, fields, result }) =>
      result === 'valid' && (name === kind || fields?.name === 'donna' || name === 'policy 1'),
  )
  .map((found) => ({
    kind: found.kind!,
    bytes: bytesOf(found),
    fields: found.fields as Example['fields'],
    body: found.body ?? null,
  }));

export function example(kind: Kind): Example {
  return EXAMPLES.find((candidate) => candidate.kind === kind)!;
}

/** Writes fields as the journal does, signed by one key, whether they hold or not. */
export function signedFile(fields: YamlMap, body: string | null = null, key = testKey('donna')): Uint8Array {
  const unsigned = formatRecord(fields as YamlMap & { kind: Kind }, body);
  return attachSignatures(unsigned, [signatureBy(unsigned, key)]);
}

/** The same for a text that the writer would not write: everything up to the signature. */
export function signedText(kind: Kind, text: string, key = testKey('donna')): Uint8Array {
  const signedBytes = utf8(text);
  const close = text.startsWith('---\n') ? utf8(text.slice(0, text.indexOf('\n---\n') + 1)).length : signedBytes.length;
  const unsigned = { kind, signedBytes, offset: close };
  return attachSignatures(unsigned, [signatureBy(unsigned, key)]);
}

export function signatureBy(record: { kind: Kind; signedBytes: Uint8Array }, key: TestKey) {
  const bytes = new Uint8Array(sign(null, signedMessage(record, nodeHashes), key.privateKey));
  return { identity: key.label, fingerprint: key.fingerprint, bytes };
}

export function withoutSignature(file: string, kind: Kind): string {
  return isRecordKind(kind)
    ? file.replace(/^signature: .*\n/m, '')
    : file.slice(0, file.indexOf('\nsignatures:\n') + 1);
}

/** What a function throws; anything but a HandoffError goes on. */
export function errorOf(run: () => unknown): HandoffError {
  try {
    run();
  } catch (error) {
    if (error instanceof HandoffError) return error;
    throw error;
  }
  throw new Error('expected a HandoffError, but nothing was thrown');
}

/** The code of what a check throws, or `valid`. */
export async function resultOf(check: () => unknown): Promise<string> {
  try {
    await check();
    return 'valid';
  } catch (error) {
    if (error instanceof HandoffError) return error.code;
    throw error;
  }
}

function toTestKey({ label, seed, public_key, line, fingerprint }: PublishedKey): TestKey {
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return { label, line, fingerprint, bytes: fromHex(public_key)!, privateKey };
}
