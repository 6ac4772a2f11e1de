import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

// Keys and signatures of notes as c2sp.org/signed-note and c2sp.org/tlog-cosignature say, and nothing of src.

export interface NoteKey {
  name: string;
  /** 1 is that of a log, 4 that of a witness. */
  type: number;
  id: Buffer;
  vkey: string;
  privateKey: KeyObject;
}

export function makeKey(name: string, type: number, privateKey = newPrivateKey()): NoteKey {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  const bytes = Buffer.concat([Buffer.of(type), Buffer.from(x!, 'base64url')]);
  const id = createHash('sha256').update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  return { name, type, id, vkey: `${name}+${id.toString('hex')}+${bytes.toString('base64')}`, privateKey };
}

/** When the witness saw it. */
export const COSIGNED_AT = 1_771_597_825;

/** A line of a note that signs its text. */
export function signLine({ name, type, id, privateKey }: NoteKey, text: string): string {
  const time = Buffer.alloc(type === 4 ? 8 : 0);
  if (type === 4) time.writeBigUInt64BE(BigInt(COSIGNED_AT));
  const message = type === 4 ? `cosignature/v1\ntime ${COSIGNED_AT}\n${text}` : text;
  const signature = sign(null, Buffer.from(message), privateKey);
  return `— ${name} ${Buffer.concat([id, time, signature]).toString('base64')}\n`;
}

/** By way of its text: see generateKey in src/journal/keys/keys.ts. */
function newPrivateKey(): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return createPrivateKey(privateKey);
}
