import { openIndex } from '../audit/index-source.ts';
import type { Source } from '../audit/source.ts';
import { auditTree } from '../audit/tree.ts';
import { openTree } from '../audit/tree-source.ts';
import { ROOT } from '../core/paths.ts';
import type { ParsedRecord } from '../core/record.ts';
import { summarise } from '../core/summary.ts';
import { recordId, type VerifiedRecord } from '../core/verify.ts';
import { nodeSuite } from '../crypto.ts';
import { assertPinned, type Repository } from './repository.ts';

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
  /** Empty for a record that is not valid: what it says was said by nobody we know. */
  summary: string;
}

/** The records that are committed or staged, newest first. Order is (clock, id): no clock on a wall decides. SPEC §2.4 */
export async function log(repository: Repository, options: LogOptions = {}): Promise<{ records: LogEntry[] }> {
  const records: LogEntry[] = [];
  await eachRecord(repository, (path, record, verified) => {
    if (matches(record, options)) records.push(toEntry(path, record, verified));
  });
  records.sort((a, b) => b.clock - a.clock || (a.id < b.id ? 1 : -1));
  return { records: records.slice(0, options.limit) };
}

type Visit = (path: string, record: ParsedRecord, verified: VerifiedRecord | null) => void;

/** Every session record there is, valid or not, each audited with its chain. */
export async function eachRecord(repository: Repository, visit: Visit): Promise<void> {
  const seen: Parameters<Visit>[] = [];
  const { findings } = await auditTree(await openRecords(repository), {
    suite: nodeSuite,
    onProgress: repository.progress,
    onTrust: (trust) => assertPinned(repository, trust.repoId),
    onRecord: (path, record, verified) => record && seen.push([path, record, verified]),
  });
  const faulty = new Set(findings.map(({ path }) => path));
  for (const [path, record, verified] of seen) visit(path, record, faulty.has(path) ? null : verified);
}

/** The index holds what is committed and what is staged; a bare repository has only the former. */
export function openRecords(repository: Repository): Promise<Source> {
  if (!repository.dirs.topLevel) return openTree(repository.store, 'HEAD');
  return openIndex(repository.git, repository.store, [ROOT]);
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
