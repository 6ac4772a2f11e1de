import type { Driven } from '../../../verbs/relay/drive.ts';
import type { RelayAbandoned } from '../../../verbs/relay/exits.ts';
import { headline } from '../../../verbs/relay/notices.ts';
import type { RelayEntry } from '../../../verbs/relay/relays.ts';
import type { RelayBegun } from '../../../verbs/relay/trigger.ts';
import type { Paint } from '../../terminal.ts';
import { escapeLine } from '../../text/escape.ts';
import { fields, headedTable, lines } from '../../text/layout.ts';
import { time } from '../session/session-words.ts';

export function formatBegun(result: RelayBegun | RelayEntry, paint: Paint): string {
  if ('state' in result) return formatRelay(result, paint);
  const { relay_id, session_id, draft_path } = result;
  return lines(
    `The relay of session ${session_id.slice(0, 8)} has begun; the handoff is to be in ${draft_path}`,
    `git handoff relay watch ${shortRelay(relay_id)} shows each step.`,
  );
}

export function formatRelays({ relays }: { relays: RelayEntry[] }, paint: Paint): string {
  if (relays.length === 0)
    return 'Nobody was replaced yet. git handoff relay SESSION does it; git handoff agent list shows who runs.\n';
  const heads = ['RELAY', 'IDENTITY', 'REASON', 'STATE', 'STEP', 'SINCE', 'WAYS OUT'];
  const rows = relays.map((each) => [
    shortRelay(each.relay_id),
    each.identity,
    each.reason,
    each.state,
    each.error && each.state === 'failed' ? `${each.error.step}: ${each.error.code}` : each.step,
    time(each.history.at(-1)?.at ?? ''),
    each.exits.join(', ') || '-',
  ]);
  return lines(headedTable(heads, rows, paint, (cell, column) => (column === 3 ? paintState(cell, paint) : cell)));
}

export function formatRelay(relay: RelayEntry, paint: Paint): string {
  const { successor, baton, error, exits } = relay;
  return lines(
    fields(
      [
        ['relay', relay.relay_id],
        ['of', `${relay.identity}, session ${relay.session_id.slice(0, 8)}: ${relay.reason}`],
        ['state', `${paintState(relay.state, paint)} at ${relay.step}`],
        ['handoff', relay.draft_path],
        ['baton', baton?.path ?? '-'],
        ['successor', successor ? successorWords(relay, successor) : '-'],
      ],
      paint,
    ),
    '',
    relay.history.map(({ step, at }) => `  ${time(at)}  ${step}`),
    relay.forced.map(({ step, reason, at }) => `  ${time(at)}  past ${step} by force: ${reason}`),
    error && relay.state === 'failed' ? ['', `${error.step} failed (${error.code}): ${error.message}`, error.hint] : [],
    exits.length > 0 ? ['', `Ways out: ${exits.map((exit) => wayWords(exit, relay)).join('; ')}`] : [],
  );
}

export function formatAbandoned(relay: RelayAbandoned, _paint: Paint): string {
  return lines(`The relay of session ${relay.session_id.slice(0, 8)} has ended at ${relay.step}. ${relay.left}`);
}

export function formatDriven({ drove, under_way }: Driven): string {
  if (!drove) return 'Another process drives the relays of this repository already.\n';
  return under_way ? 'Some relays are still under way.\n' : 'No relay is under way.\n';
}

/** What is shown while somebody waits. */
export function stepLine(relay: RelayEntry): string {
  return escapeLine(headline(relay));
}

function wayWords(exit: string, { relay_id }: RelayEntry): string {
  return `git handoff relay ${exit} ${shortRelay(relay_id)}${exit === 'force' ? ' --reason TEXT' : ''}`;
}

function successorWords(
  { next_agent }: RelayEntry,
  { session_id, runtime, terminal }: NonNullable<RelayEntry['successor']>,
): string {
  const where = terminal ? `, pane ${terminal.pane} of ${terminal.socket}` : '';
  return `${next_agent} (${runtime ?? 'a command'}${where}), ${session_id ? `session ${session_id.slice(0, 8)}` : 'no session yet'}`;
}

/** Of a session's last relay its beginning is enough. */
function shortRelay(id: string): string {
  return id.slice(0, 8);
}

function paintState(state: string, paint: Paint): string {
  if (state.trim() === 'failed') return paint('red', state);
  return state.trim() === 'done' ? paint('green', state) : state;
}
