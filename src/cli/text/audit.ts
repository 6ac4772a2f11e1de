import type { AuditStartResult } from '../../verbs/audit-start.ts';
import type { AuditedSession, AuditVerifyResult } from '../../verbs/audit-verify.ts';
import type { Paint } from '../terminal.ts';
import { count, headedTable, lines, shortId } from './layout.ts';
import { formatFinding } from './verify.ts';

export function formatAuditStart({ delta_id, session_id, path }: AuditStartResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} an audit begins in session ${session_id.slice(0, 8)}: ${shortId(delta_id)}  ${paint('dim', path)}`,
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
/** More than a screen holds are not worth a table of what is well. */
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

function formatVerdict({ valid, record_count, broken_count, sessions }: AuditVerifyResult, paint: Paint): string {
  if (sessions.length === 0 && valid) return 'No sessions here. git handoff start opens one.';
  const where = `${count(record_count, 'record')} of ${count(sessions.length, 'session')}`;
  if (!valid) return `${paint('red', '✗')} ${broken_count} broken in ${where}`;
  return `${paint('green', '✓')} ${where} ${record_count === 1 ? 'holds' : 'hold'}`;
}
