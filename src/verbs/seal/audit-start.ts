import { HandoffError } from '../../core/error.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { chosenSession } from '../../custody/chosen-session.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { withLiveness } from '../../journal/sessions/session-state.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { readTask } from '../../repository/task-definitions.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { openWriter, type RecordOptions, type RecordResult, writeRecord } from '../session/record-verbs.ts';
import { start } from '../session/start.ts';

export interface AuditStartOptions extends Omit<RecordOptions, 'allowSecret'> {
  intent: string;
  task?: string;
}

export interface AuditStartResult extends RecordResult {
  /** Whether this call opened the session. */
  opened: boolean;
  intent: string;
  task_id: string | null;
}

/** Records that an auditable stretch of work begins, in the session that is open here or else in a new one. */
export async function auditStart(repository: Repository, options: AuditStartOptions): Promise<AuditStartResult> {
  enterWorkTree(repository);
  const { intent, task } = options;
  if (intent.trim() === '') throw noIntent();
  const trust = await requireTrust(repository);
  if (task !== undefined) await readTask(repository, trust, task);
  const openSession = await openId(repository, trust, options);
  const session = openSession ?? (await startedId(repository, options));
  const writer = await openWriter(repository, { ...options, session }, null);
  const fields = { intent, ...(task === undefined ? {} : { task_id: task }) };
  const { identity } = writer.session;
  const written = await writeRecord(writer, { kind: 'audit', fields }, `handoff: ${identity}, audit`, options);
  return { ...written, opened: openSession === null, intent, task_id: task ?? null };
}

/** The session to write to: whichever was named, or that of this work tree unless it has ended. */
async function openId(repository: Repository, trust: Trust, options: AuditStartOptions): Promise<string | null> {
  const session = await chosenSession(repository, trust, options);
  if (!session) return null;
  const isNamed = options.session !== undefined || Boolean(repository.env.HANDOFF_SESSION);
  const { liveness } = withLiveness(repository, trust, session);
  return isNamed || (liveness.opened && isOpen(liveness)) ? session.session_id : null;
}

/** One commit for both records: the second one brings the first along. */
async function startedId(repository: Repository, options: AuditStartOptions): Promise<string> {
  const { commit: _, ...rest } = options;
  return (await start(repository, rest)).session_id;
}

function noIntent(): HandoffError {
  return new HandoffError('usage', 'An audit needs an intent: what is going to be done.', { hint: '--intent TEXT' });
}
