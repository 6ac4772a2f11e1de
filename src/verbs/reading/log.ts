import { labelsOf, type RecordLabels } from '../../audit/records/listed-record.ts';
import type { Source } from '../../audit/source/source.ts';
import type { SessionRecord } from '../../audit/tree/session.ts';
import type { FindingCode } from '../../core/error.ts';
import { summarise } from '../../core/record/summary.ts';
import { recordId, type VerifiedRecord } from '../../core/record/verify.ts';
import { detached } from '../../core/text/excerpt.ts';
import { nodeSuite } from '../../crypto.ts';
import { type Choice, findAllRecords, findElsewhere, findRecords } from '../../custody/find-records.ts';
import { openKnownRecords } from '../../custody/known-records.ts';
import type { Repository } from '../../repository/repository.ts';
import { unknownSession } from '../../repository/unknown-session.ts';

export interface LogOptions {
  session?: string;
  task?: string;
  identity?: string;
  kind?: string;
  limit?: number;
}

export interface LogEntry {
  id: string;
  kind: string;
  session_id: string;
  identity: string;
  seq: number;
  clock: number;
  at: string;
  path: string;
  valid: boolean;
  /** For a record that is not valid: the code of the finding. */
  reason?: FindingCode;
  /** Empty for a record that is not valid: what it says was said by nobody we know. */
  summary: string;
}

/** The records that are committed, staged or waiting for a commit here, newest first; of a session that is on other branches alone, those. Order is (clock, id): no clock on a wall decides. SPEC §2.4 */
export async function log(repository: Repository, options: LogOptions = {}): Promise<{ records: LogEntry[] }> {
  const isWanted = (labels: RecordLabels): boolean => matches(labels, options);
  const choose: Choice<LogEntry> = (path, record, verified) =>
    isWanted(labelsOf(record)) ? detached(toEntry(path, record, verified)) : null;
  const { limit: most = Number.POSITIVE_INFINITY } = options;
  const question = { most, isWanted };
  const here = isEverything(options)
    ? await findAllRecords(repository, choose)
    : await findRecords(repository, question, choose);
  const isMissing = here.length === 0 && (options.session?.length ?? 0) >= SID;
  const found = isMissing ? await findElsewhere(repository, question, choose) : here;
  assertOneSession(found, options.session);
  const records = found.map(({ item, isValid, reason }) =>
    isValid ? item : { ...item, valid: false, summary: '', ...(reason && { reason }) },
  );
  records.sort(byNewest);
  return { records: records.slice(0, options.limit) };
}

/** The beginning of an id names a session, and is no search: the records of two in one list would read as one story. */
function assertOneSession(found: readonly { item: LogEntry }[], session: string | undefined): void {
  const named = session === undefined ? [] : found.map(({ item }): [string, LogEntry] => [item.session_id, item]);
  const sessions = [...new Map(named).values()];
  if (sessions.length > 1) throw unknownSession(session!, sessions);
}

/** Fewer characters are no name of a session that is elsewhere. */
const SID = 8;

/** Then nothing is gained by looking for some. */
function isEverything({ session, task, identity, kind, limit }: LogOptions): boolean {
  return [session, task, identity, kind, limit].every((option) => option === undefined);
}

/** Copies of a record have the same id: then the path decides. */
function byNewest(a: LogEntry, b: LogEntry): number {
  if (a.clock !== b.clock) return b.clock - a.clock;
  return a.id === b.id ? (a.path < b.path ? -1 : 1) : a.id < b.id ? 1 : -1;
}

/** What is committed, staged or waiting for a commit here; a bare repository has only commits. */
export async function openRecords(repository: Repository): Promise<Source> {
  return (await openKnownRecords(repository)).source;
}

function matches(labels: RecordLabels, { session, task, identity, kind }: LogOptions): boolean {
  return (
    (kind === undefined || labels.kind === kind) &&
    (identity === undefined || labels.identity === identity) &&
    (session === undefined || labels.session_id.startsWith(session)) &&
    (task === undefined || labels.task === task)
  );
}

function toEntry(path: string, record: SessionRecord, verified: VerifiedRecord | null): LogEntry {
  const { session_id, identity, seq, clock, at } = record.fields;
  return {
    id: recordId(record.signedBytes, nodeSuite),
    kind: record.kind,
    session_id,
    identity,
    seq,
    clock,
    at,
    path,
    valid: verified !== null,
    summary: verified ? summarise(verified) : '',
  };
}
