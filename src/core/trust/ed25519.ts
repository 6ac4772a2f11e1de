import nacl from 'tweetnacl';
import { type Ed25519Verify, strict } from './strict.ts';

/** In the browser; the Node side puts the same checks in front of OpenSSL. */
export const verifyEd25519: Ed25519Verify = strict((publicKey, message, signature) =>
  nacl.sign.detached.verify(message, signature, publicKey),
);
