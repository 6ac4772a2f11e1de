import { sha256 as nobleSha256, sha512 as nobleSha512 } from '@noble/hashes/sha2.js';

export interface Hash {
  (bytes: Uint8Array): Uint8Array;
  /** Writes the hash into `target`, where a library can do so without an array for each. */
  into?: HashInto;
}

export type HashInto = (bytes: Uint8Array, target: Uint8Array, at: number) => void;

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

export function hashInto(hash: Hash): HashInto {
  return hash.into ?? ((bytes, target, at) => target.set(hash(bytes), at));
}
