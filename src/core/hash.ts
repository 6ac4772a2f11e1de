import { sha256 as nobleSha256, sha512 as nobleSha512 } from '@noble/hashes/sha2.js';

export type Hash = (bytes: Uint8Array) => Uint8Array;

/** What the core needs of a hash library; the Node side passes one that is four times faster. */
export interface Hashes {
  sha256: Hash;
  sha512: Hash;
  /** Where a library can give hex at once, ids are cheaper. */
  sha256Hex?(bytes: Uint8Array): string;
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return nobleSha256(bytes);
}

export function sha512(bytes: Uint8Array): Uint8Array {
  return nobleSha512(bytes);
}

export const nobleHashes: Hashes = { sha256, sha512 };
