import type { ChangedSession } from '../audit/delta/sessions.ts';
import type { Budget } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import type { SharedFields } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { findSecrets } from '../core/text/secrets.ts';
import { textsIn } from '../journal/drafts/secret.ts';

/** SPEC §10.7, M98: a session without its baton leaves the next agent with nothing. */
export function judgeOpenSessions(sessions: readonly ChangedSession[], severity: Finding['severity']): Finding[] {
  const open = sessions.filter(
    ({ records }) => records.length > 0 && !records.some(({ record }) => record.kind === 'baton'),
  );
  return open.map(({ folder, records }) => ({
    code: 'session_open',
    severity,
    path: folder,
    message: `${records[0]!.record.fields.identity} has not wrapped this session: it has no baton.`,
    hint: 'git handoff wrap before you push the last of it.',
  }));
}

/** SPEC §10.3.1, M94: what was refused when it was written may have been written by something else. */
export function judgeSecrets(added: readonly PlacedRecord[], budget: Budget): Finding[] {
  return added.flatMap(({ path, record }) => {
    budget.assertTime();
    const fields: SharedFields = record.fields;
    if (fields.secret_allowed === true) return [];
    const found = findSecrets([...(record.body ? [record.body] : []), ...textsIn(fields)].join('\n'));
    return found.slice(0, 1).map(({ rule }) => ({
      code: 'secret_found' as const,
      severity: 'error' as const,
      path,
      record: record.id,
      message: `The record seems to hold a secret (${rule}).`,
      hint: 'Change the secret: it has been shared. Then take the record out of the branch before it is merged.',
    }));
  });
}
