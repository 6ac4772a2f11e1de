import { parseRecordName } from '../../../core/paths.ts';
import type { AuditStartResult } from '../../../verbs/seal/audit-start.ts';
import type { AuditedSession, AuditVerifyResult } from '../../../verbs/seal/audit-verify.ts';
import type { Paint } from '../../terminal.ts';
import { count, fields, headedTable, lines, shortId } from '../../text/layout.ts';
import { formatFinding } from '../reading/verify-text.ts';

export function formatAuditStart(result: AuditStartResult, paint: Paint): string {
  const { delta_id, path, session_id, identity, opened, intent, task_id } = result;
  const task: [string, string][] = task_id === null ? [] : [['task', task_id]];
  return lines(
    `${paint('green', '✓')} an audit begins in session ${session_id.slice(0, 8)} of ${identity}, which ${opened ? 'it opened' : 'was open'}`,
    fields([['intent', intent], ...task, ['record', `${shortId(delta_id)}  ${path}`]], paint, '  '),
  );
}

/** A line for each session, then what is wrong and what to do, then the verdict. */
export function formatAuditVerify(result: AuditVerifyResult, paint: Paint): string {
  return lines(
    sessionTable(result.sessions, paint),
    result.findings.flatMap((finding) => formatFinding(finding, paint)),
    formatVerdict(result, paint),
  );
}

const HEADS = ['SESSION', 'IDENTITY', 'RECORDS', 'VERDICT'];
const VERDICT = 3;
/** If there are more than fit on a screen, sound ones are not listed one by one. */
const MANY = 20;

function sessionTable(sessions: readonly AuditedSession[], paint: Paint): string[] {
  const shown = sessions.length > MANY ? sessions.filter(({ broken_count }) => broken_count > 0) : sessions;
  if (sessions.length < 2 || shown.length === 0) return [];
  const rows = shown.map(({ path, identity, record_count, broken_count }) => [
    path.slice(-8),
    identity,
    String(record_count),
    broken_count === 0 ? '✓ holds' : `✗ ${broken_count} broken`,
  ]);
  const style = (cell: string, column: number, row: number): string =>
    column === VERDICT ? paint(shown[row]!.broken_count === 0 ? 'green' : 'red', cell) : cell;
  return [...headedTable(HEADS, rows, paint, style), ''];
}

function formatVerdict(result: AuditVerifyResult, paint: Paint): string {
  const { valid, record_count, sessions } = result;
  if (sessions.length === 0 && valid) return 'No sessions here. git handoff start opens one.';
  const where = `${count(record_count, 'record')} of ${count(sessions.length, 'session')}`;
  if (!valid) return `${paint('red', '✗')} ${brokenText(result)} ${where}`;
  return `${paint('green', '✓')} ${where} ${record_count === 1 ? 'holds' : 'hold'}`;
}

/** A record may have several problems, and what has one need not be a record. */
function brokenText({ broken_count, findings }: AuditVerifyResult): string {
  if (findings.length === broken_count) return `${broken_count} broken in`;
  const areRecords = findings.every(({ path }) => parseRecordName(path!.slice(path!.lastIndexOf('/') + 1)) !== null);
  const places = areRecords ? `in ${broken_count} of` : `at ${count(broken_count, 'place')} in`;
  return `${count(findings.length, 'problem')} ${places}`;
}
