import { quoteWord } from '../../../core/text/quote.ts';
import type { AttachResult } from '../../../verbs/terminals/agent-attach.ts';
import type { AgentEntry, AgentListing } from '../../../verbs/terminals/agent-list.ts';
import type { AgentRunResult } from '../../../verbs/terminals/agent-run.ts';
import type { Paint } from '../../terminal.ts';
import { headedTable, lines } from '../../text/layout.ts';
import { warnings } from '../session/session-words.ts';

const OPENED = { resumed: 'goes on in', picked_up: 'picks up, in', started: 'starts in' };

export function formatRun(result: AgentRunResult, paint: Paint): string {
  const { identity, session_id, opened, runtime, terminal, directory } = result;
  const sid8 = session_id.slice(0, 8);
  return lines(
    `${paint('green', '✓')} ${paint('bold', identity)} ${OPENED[opened]} session ${sid8}${runtime ? `, ${runtime}` : ''}, pane ${terminal.pane}`,
    `  in ${directory}`,
    `  git handoff agent attach ${sid8}`,
    warnings(result.warnings, paint),
  );
}

export function formatAgents({ agents, warnings: found }: AgentListing, paint: Paint): string {
  if (agents.length === 0)
    return lines('No agents. git handoff agent run --as NAME starts one.', warnings(found, paint));
  const heads = ['SESSION', 'IDENTITY', 'PROGRAM', 'STATE', 'CONTEXT', 'PANE', 'CONTINUES', 'TASKS'];
  const rows = agents.map((each) => [
    each.session_id.slice(0, 8),
    each.identity,
    each.runtime ?? 'command',
    each.state,
    each.context_used === null ? '-' : `${Math.round(each.context_used)} %`,
    each.terminal?.pane ?? '-',
    each.previous_session_id?.slice(0, 8) ?? '-',
    each.task_ids.join(', ') || '-',
  ]);
  const style = (cell: string, column: number) => (column === 3 ? paintAgent(cell, paint) : cell);
  return lines(headedTable(heads, rows, paint, style), warnings(found, paint));
}

function paintAgent(state: string, paint: Paint): string {
  if (state.trim() === 'running') return paint('green', state);
  return state.trim() === 'gone' ? paint('red', state) : state;
}

export function formatAttach({ attached, command, identity }: AttachResult, paint: Paint): string {
  if (attached) return lines(`${paint('green', '✓')} you have left the terminal of ${identity}`);
  return lines(command.map(quoteWord).join(' '));
}

export function formatStopped({ identity, session_id, session_state }: AgentEntry, paint: Paint): string {
  const sid8 = session_id.slice(0, 8);
  const isOpen = session_state === 'active' || session_state === 'stale';
  const rest = isOpen ? `; session ${sid8} stays open` : '';
  return lines(`${paint('green', '✓')} the agent of ${identity} has ended${rest}`);
}
