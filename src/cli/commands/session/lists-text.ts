import type { WaitingBaton } from '../../../custody/baton/waiting-batons.ts';
import type { DecisionListing } from '../../../verbs/reading/decisions.ts';
import type { SessionEntry } from '../../../verbs/session/sessions.ts';
import type { PendingResult } from '../../../verbs/session/signal-pending.ts';
import type { WipListing } from '../../../verbs/session/wip-list.ts';
import type { Paint } from '../../terminal.ts';
import { headedTable, lines, shortId } from '../../text/layout.ts';

import { excerpt, paintState, time } from './session-words.ts';

export function formatSessions({ sessions }: { sessions: SessionEntry[] }, paint: Paint): string {
  if (sessions.length === 0) return 'No sessions yet. git handoff start opens one.\n';
  const heads = ['SESSION', 'IDENTITY', 'STATE', 'STARTED', 'HEARTBEAT', 'CONTINUES'];
  const rows = sessions.map((each) => [
    each.session_id.slice(0, 8),
    each.identity,
    each.state,
    time(each.started_at),
    each.heartbeat_age === null ? '-' : `${Math.round(each.heartbeat_age)} s ago`,
    each.predecessor_session_id?.slice(0, 8) ?? '-',
  ]);
  return lines(headedTable(heads, rows, paint, (cell, column) => (column === 2 ? paintState(cell, paint) : cell)));
}

export function formatBatons({ batons }: { batons: WaitingBaton[] }, paint: Paint): string {
  if (batons.length === 0) return 'No baton waits. git handoff wrap leaves one.\n';
  const heads = ['SESSION', 'FROM', 'FOR', 'BRANCH', 'TASKS', 'WRAPPED', 'SUMMARY'];
  const rows = batons.map((each) => [
    each.session_id.slice(0, 8),
    each.identity,
    each.next_agent ?? '-',
    each.branch ?? each.found_on ?? '-',
    each.task_ids.join(', ') || '-',
    time(each.at),
    each.summary,
  ]);
  return lines(headedTable(heads, rows, paint));
}

export function formatSignals({ pending_signals }: PendingResult, paint: Paint): string {
  if (pending_signals.length === 0) return 'No messages wait. git handoff signal send NAME TEXT leaves one.\n';
  const rows = pending_signals.map((signal) => [signal.from, signal.type ?? '-', time(signal.at), excerpt(signal)]);
  return lines(headedTable(['FROM', 'TYPE', 'SENT', 'TEXT'], rows, paint));
}

export function formatWipList({ wip }: WipListing, paint: Paint): string {
  if (wip.length === 0) return 'Nothing is half done. git handoff wip open KEY TEXT says what is.\n';
  const rows = wip.map((each) => [each.key, each.identity, time(each.at), excerpt(each)]);
  return lines(headedTable(['KEY', 'IDENTITY', 'OPENED', 'TEXT'], rows, paint));
}

export function formatDecisions({ decisions }: DecisionListing, paint: Paint): string {
  if (decisions.length === 0) return 'Nothing was decided. git handoff decide --title TITLE TEXT records a decision.\n';
  const rows = decisions.map((each) => [shortId(each.delta_id), each.status, each.identity, time(each.at), each.title]);
  return lines(headedTable(['RECORD', 'STATUS', 'IDENTITY', 'WRITTEN', 'TITLE'], rows, paint));
}
