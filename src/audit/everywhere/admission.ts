import { HandoffError } from '../../core/error.ts';
import type { Suite } from '../../core/record/verify.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { FOLDERS_AT_ONCE, limiter, RECORDS_AT_ONCE } from '../source/limit.ts';
import type { Source } from '../source/source.ts';
import { auditSession } from '../tree/session.ts';
import { readSignedDocument } from '../trust/trust.ts';
import { type PlaceBeyond, placeEntry } from './places.ts';

/**
 * Judges one place of another branch by itself: a session with its whole chain, or a definition with its signature. True if it holds.
 * What a revoked key signed holds too, and counts for nothing, as everywhere. Null where it cannot be read now.
 */
export type Admission = (place: PlaceBeyond) => Promise<boolean | null>;

export function openAdmission(source: Source, trust: Trust, suite: Suite): Admission {
  const folderLimit = limiter(FOLDERS_AT_ONCE);
  const limit = limiter(RECORDS_AT_ONCE);
  const isSound = async (place: PlaceBeyond): Promise<boolean> => {
    const entry = placeEntry(place);
    if (place.owner === '') {
      const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, suite);
      return `${fields.task_id}.yaml` === place.name;
    }
    return (await auditSession(entry, place.owner, { source, trust, suite, limit, onFile() {} }, () => {})) !== null;
  };
  return (place) => folderLimit(1, () => isSound(place).catch(falseOrNull));
}

/** A fault of the environment says nothing about the records: an object that is missing may arrive. */
function falseOrNull(error: unknown): boolean | null {
  if (error instanceof HandoffError) return error.exitCode === 4 ? null : false;
  throw error;
}
