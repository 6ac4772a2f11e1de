import type { Hashes } from '../../core/bytes/hash.ts';
import { HandoffError } from '../../core/error.ts';
import { leafHash } from '../../core/seal/merkle.ts';
import type { Entry, Source } from './source.ts';

/** What is larger is not read for its hash: no root over it holds. It is refused for its size anyway. */
const MAX_LEAF_BYTES = 64 * 1024 * 1024;

/**
 * SPEC §11.1: a seal is over the files as they are. One that is too large to be a record is there all the same; it is read here
 * again, alone, and only its hash is kept. Null where the file cannot be had.
 */
export async function leafOf(
  source: Source,
  file: Entry,
  content: Uint8Array | HandoffError,
  { sha256 }: Hashes,
): Promise<Uint8Array | null> {
  const isLarge = content instanceof HandoffError && content.code === 'too_large';
  const bytes = isLarge ? (await source.readAll([file], MAX_LEAF_BYTES))[0]! : content;
  return bytes instanceof HandoffError ? null : leafHash(bytes, sha256);
}
