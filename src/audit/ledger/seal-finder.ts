import { toHex } from '../../core/bytes/bytes.ts';
import type { Hashes } from '../../core/bytes/hash.ts';
import { HandoffError } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { MAX_SEAL_BYTES } from '../../core/limits.ts';
import { parseRecordName, recordName } from '../../core/paths.ts';
import { leafHash } from '../../core/seal/merkle.ts';
import type { Entry, Source } from '../source/source.ts';
import type { LedgerSeal } from './audit.ts';

/** All files of the sessions of an identity whose ids begin so. */
export type ListFiles = (identity: string, sid8: string) => Promise<readonly Entry[]>;

/**
 * Finds the file that a tree has of a seal; null where it has none. Of sessions whose ids begin alike any may have it, and an
 * agent chooses its ids: files are asked for once and read once, and what stays of each is its hash.
 */
export function sealFinder(
  source: Source,
  listFiles: ListFiles,
  { sha256 }: Hashes,
): (seal: LedgerSeal) => Promise<Entry | null> {
  const named = new Map<string, Promise<Map<string, Entry[]>>>();
  const hashed = new Map<string, Promise<Map<string, Entry>>>();
  return async ({ bytes, record }) => {
    const { identity, session_id, seq } = record.fields;
    const sid8 = session_id.slice(0, SID);
    const alike = `${identity} ${sid8}`;
    const name = recordName(seq, 'seal');
    if (!named.has(alike)) named.set(alike, listFiles(identity, sid8).then(sealsByName));
    const files = (await named.get(alike)!).get(name) ?? [];
    const place = `${alike} ${name}`;
    if (!hashed.has(place)) hashed.set(place, readByHash(source, files, sha256));
    return (await hashed.get(place)!).get(toHex(leafHash(bytes, sha256))) ?? null;
  };
}

const SID = 8;

function sealsByName(files: readonly Entry[]): Map<string, Entry[]> {
  return groupBy(
    files.filter(({ name }) => parseRecordName(name)?.kind === 'seal'),
    ({ name }) => name,
  );
}

async function readByHash(
  source: Source,
  files: readonly Entry[],
  sha256: Hashes['sha256'],
): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const batch = files.slice(at, at + AT_ONCE);
    const contents = await source.readAll(batch, MAX_SEAL_BYTES);
    for (const [i, file] of batch.entries()) {
      const hash = hashOf(contents[i]!, sha256);
      if (hash !== null && !found.has(hash)) found.set(hash, file);
    }
  }
  return found;
}

/** Thousands may stand at one place, and several places be read together: all of them do not fit in memory. */
const AT_ONCE = 16;

/** A file that is too large is no seal, and is told of elsewhere; one that cannot be read may be one. */
function hashOf(bytes: Uint8Array | HandoffError, sha256: Hashes['sha256']): string | null {
  if (!(bytes instanceof HandoffError)) return toHex(leafHash(bytes, sha256));
  if (bytes.exitCode === 4) throw bytes;
  return null;
}
