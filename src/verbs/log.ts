import { openIndex } from '../audit/index-source.ts';
import type { Source } from '../audit/source.ts';
import { auditTree } from '../audit/tree.ts';
import { openTree } from '../audit/tree-source.ts';
import type { FindingCode } from '../core/error.ts';
import { detached } from '../core/excerpt.ts';
import { ROOT } from '../core/paths.ts';
import type { ParsedRecord } from '../core/record.ts';
import { summarise } from '../core/summary.ts';
import { recordId, type VerifiedRecord } from '../core/verify.ts';
import { nodeSuite } from '../crypto.ts';
import { isCommitted } from '../journal/committed.ts';
import type { FileToWrite } from '../journal/files.ts';
import { listSessions } from '../journal/registry.ts';
import { journalledFiles } from '../journal/restore.ts';
import { isHere } from './recover-records.ts';
import { assertPinned, type Repository } from './repository.ts';
import { dirsOf } from './session.ts';

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
  /** Of what is not valid: the code of what was found. */
  reason?: FindingCode;
  /** Empty for a record that is not valid: what it says was said by nobody we know. */
  summary: string;
}

/** The records that are committed, staged or waiting for a commit here, newest first. Order is (clock, id): no clock on a wall decides. SPEC §2.4 */
export async function log(repository: Repository, options: LogOptions = {}): Promise<{ records: LogEntry[] }> {
  const found = await findRecords(repository, (path, record, verified) =>
    matches(record, options) ? detached(toEntry(path, record, verified)) : null,
  );
  const records = found.map(({ item, isValid, reason }) =>
    isValid ? item : { ...item, valid: false, summary: '', ...(reason && { reason }) },
  );
  records.sort((a, b) => b.clock - a.clock || (a.id < b.id ? 1 : -1));
  return { records: records.slice(0, options.limit) };
}

/** What is to be kept of a record, or null: all that is kept has to fit in memory. */
type Choice<T> = (path: string, record: ParsedRecord, verified: VerifiedRecord | null) => T | null;

/** Looks at every session record there is, valid or not. Whether one is valid is known when its chain was audited. */
export async function findRecords<T>(
  repository: Repository,
  pick: Choice<T>,
): Promise<{ item: T; isValid: boolean; reason?: FindingCode }[]> {
  const seen: { path: string; item: T; isVerified: boolean }[] = [];
  const { findings } = await auditTree(await openRecords(repository), {
    suite: nodeSuite,
    onProgress: repository.progress,
    onTrust: (trust) => assertPinned(repository, trust.repoId),
    onRecord(path, record, verified) {
      const item = record && pick(path, record, verified);
      if (item !== null) seen.push({ path, item, isVerified: verified !== null });
    },
  });
  const faults = new Map(findings.map(({ path, code }) => [path, code]));
  return seen.map(({ path, item, isVerified }) => {
    const reason = faults.get(path);
    return { item, isValid: isVerified && reason === undefined, ...(reason && { reason }) };
  });
}

/** The index holds what is committed and what is staged, the journal what waits for a commit; a bare repository has only commits. */
export function openRecords(repository: Repository): Promise<Source> {
  if (!repository.dirs.topLevel) return openTree(repository.store, 'HEAD');
  return openIndex(repository.git, repository.store, { paths: [ROOT], beyond: uncommitted(repository) });
}

/** Of the sessions of this work tree, but for those that are over and known to be committed. */
function uncommitted(repository: Repository): FileToWrite[] {
  const dirs = dirsOf(repository);
  return listSessions(dirs)
    .filter((session) => isHere(repository, session) && !isCommitted(dirs, session.session_id))
    .flatMap((session) => journalledFiles(dirs, session));
}

function matches({ kind, fields }: ParsedRecord, options: LogOptions): boolean {
  const task = fields.task_id ?? fields.task ?? (fields.lock as { task?: string } | undefined)?.task;
  return (
    (options.kind === undefined || kind === options.kind) &&
    (options.identity === undefined || fields.identity === options.identity) &&
    (options.session === undefined || (fields.session_id as string).startsWith(options.session)) &&
    (options.task === undefined || task === options.task)
  );
}

function toEntry(path: string, record: ParsedRecord, verified: VerifiedRecord | null): LogEntry {
  const { fields } = record;
  return {
    id: recordId(record.signedBytes, nodeSuite),
    kind: record.kind,
    session_id: fields.session_id as string,
    identity: fields.identity as string,
    seq: fields.seq as number,
    clock: fields.clock as number,
    at: fields.at as string,
    path,
    valid: verified !== null,
    summary: verified ? summarise(verified) : '',
  };
}
