import { HandoffError } from '../../core/error.ts';
import type { SharedFields } from '../../core/record/kinds.ts';
import { isSessionRecord, parseRecord } from '../../core/record/record.ts';
import { recordId, type Suite } from '../../core/record/verify.ts';
import { byNewest, type StoryMoment } from '../../core/session/newest.ts';
import { detached } from '../../core/text/excerpt.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Entry } from '../source/source.ts';
import type { SessionRecord } from '../tree/session.ts';

/**
 * What a record says that it is found by. It follows from the bytes alone and nobody has verified it: whoever shows a record
 * judges its session first.
 */
export interface ListedRecord extends StoryMoment, RecordLabels {
  path: string;
  blob: Oid;
}

/** What `log` can be asked for. */
export interface RecordLabels {
  kind: string;
  session_id: string;
  identity: string;
  task: string | null;
}

export function labelsOf(record: SessionRecord): RecordLabels {
  const { kind } = record;
  const { session_id, identity, task_id, task, lock }: SharedFields = record.fields;
  return { kind, session_id, identity, task: task_id ?? task ?? lock?.task ?? null };
}

/** Null for a file that is no record: it has no id by which anybody could ask for it. */
export function toListed({ path, oid }: Entry, bytes: Uint8Array | HandoffError, suite: Suite): ListedRecord | null {
  const record = bytes instanceof HandoffError ? null : parseIfRecord(bytes);
  if (!record) return null;
  const moment = { clock: record.fields.clock, delta_id: recordId(record.signedBytes, suite) };
  return detached({ ...moment, ...labelsOf(record), path, blob: oid! });
}

/** A document in the place of a record is none: it has no session and no clock. */
function parseIfRecord(bytes: Uint8Array): SessionRecord | null {
  try {
    const record = parseRecord(bytes);
    return isSessionRecord(record) ? record : null;
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}

/** SPEC §2.4. Copies of a record have the same id: then the path decides. */
export function byNewestListed(a: StoryMoment & { path: string }, b: StoryMoment & { path: string }): number {
  return byNewest(a, b) || (a.path < b.path ? -1 : 1);
}

/** Its id comes first, so that the beginning of an id finds it. */
export function formatLine(listed: ListedRecord): string {
  const { delta_id, clock, kind, session_id, identity, blob, path, task } = listed;
  return [delta_id.slice(PREFIX.length), clock, kind, session_id, identity, blob, path, task ?? NONE].join(' ');
}

const PREFIX = 'sha256:';
/** No task can be called so. */
const NONE = '-';

/** Null for a line that was cut off, or that somebody else wrote. */
export function parseLine(line: string): ListedRecord | null {
  const [id = '', clock = '', kind = '', session_id = '', identity = '', blob = '', path = '', task, more] =
    line.split(' ');
  if (task === undefined || more !== undefined || !/^[0-9a-f]{64}$/.test(id)) return null;
  const labels = { kind, session_id, identity, task: task === NONE ? null : task };
  return { clock: Number(clock), delta_id: `${PREFIX}${id}`, ...labels, path, blob };
}
