import type { Finding, FindingCode } from '../../core/error.ts';
import { type Entry, find, type Source } from '../source/source.ts';
import type { Placed } from './differences.ts';

/**
 * SPEC §10.9: what the trunk has was judged there, before somebody's key was revoked or retired, and counts for nothing here as there.
 * Were it refused, no branch could have what the trunk has once a key is revoked.
 */
export async function withAccepted(
  findings: readonly Finding[],
  changes: readonly Placed[],
  trunk: Source,
): Promise<Finding[]> {
  const arriving = new Map(changes.map((each) => [each.path, each.now]));
  const judged = findings.map(async (found): Promise<Finding> => {
    const entry = WITHDRAWN.has(found.code) ? arriving.get(found.path ?? '') : null;
    return entry && (await isAccepted(entry, trunk)) ? { ...found, severity: 'warning' } : found;
  });
  return Promise.all(judged);
}

const WITHDRAWN: ReadonlySet<FindingCode> = new Set(['key_revoked', 'signer_not_entitled']);

/** Whether the trunk has the same bytes there. */
export async function isAccepted({ path, oid }: Entry, trunk: Source): Promise<boolean> {
  return oid !== null && (await find(trunk, path))?.oid === oid;
}
