import { HandoffError } from '../../core/error.ts';
import { listRelays, markedRelays, numberOf, readSteps } from '../../relay/cycle/chain.ts';
import { exitsOf } from '../../relay/cycle/next.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import type { Exit, Step } from '../../relay/cycle/steps.ts';
import { isNews } from '../../relay/cycle/told.ts';
import type { TerminalPlace } from '../../relay/terminal.ts';
import type { StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { drivenFrom } from './behind.ts';

/** A relay as people and programs see it. */
export interface RelayEntry {
  relay_id: string;
  session_id: string;
  identity: string;
  reason: string;
  state: Relay['state'];
  /** The last one that was made; for a failed relay `error` says which could not be. */
  step: Step;
  draft_path: string;
  next_agent: string;
  baton: Relay['baton'];
  successor: { session_id: string | null; runtime: string | null; terminal: TerminalPlace | null } | null;
  error: { step: Step; code: string; message: string; hint: string } | null;
  /** What a person can do about it: `git handoff relay retry`, `abandon`, `force`. */
  exits: Exit[];
  forced: Relay['forced'];
  history: { step: string; at: string }[];
}

/** The newest first. */
export async function relayList(repository: Repository): Promise<{ relays: RelayEntry[] }> {
  drivenFrom(repository);
  const entries = listRelays(repository).map((id) => describeRelay(readSteps(repository, id)));
  return { relays: entries.sort((a, b) => (lastOf(a) < lastOf(b) ? 1 : -1)) };
}

export async function relayShow(repository: Repository, { id }: { id: string }): Promise<RelayEntry> {
  drivenFrom(repository);
  return entryOf(repository, requireRelay(repository, id));
}

export function entryOf(repository: StateDirectory, id: string): RelayEntry {
  return describeRelay(readSteps(repository, id));
}

/** For whoever looks on. */
export type OnStep = (relay: RelayEntry) => void;

/** Each step after the first `shown` of its files, as the relay stood then; answers how many there are now. */
export function showSteps(repository: StateDirectory, id: string, shown: number, onStep: OnStep): number {
  const steps = readSteps(repository, id);
  for (let at = shown; at < steps.length; at++)
    if (isNews(steps[at - 1], steps[at]!)) onStep(describeRelay(steps.slice(0, at + 1)));
  return steps.length;
}

function lastOf({ history }: RelayEntry): string {
  return history.at(-1)?.at ?? '';
}

/** By its id, its beginning, or that of its session: then the newest one of that session. */
export function requireRelay(repository: StateDirectory, name: string): string {
  const found = name === '' ? [] : listRelays(repository).filter((id) => id.startsWith(name));
  const sessions = new Set(found.map((id) => id.split('.')[0]));
  const newest = found.toSorted((a, b) => numberOf(b) - numberOf(a))[0];
  if (newest !== undefined && sessions.size === 1) return found.includes(name) ? name : newest;
  const open = markedRelays(repository).map((id) => id.slice(0, 8));
  const message =
    sessions.size > 1
      ? `Several relays begin with ${JSON.stringify(name)}.`
      : `There is no relay ${JSON.stringify(name)} here.`;
  throw new HandoffError('usage', message, {
    hint: `git handoff relay list shows them all${open.length > 0 ? `; not over: ${open.join(', ')}` : ''}.`,
    data: { relay: name },
  });
}

function describeRelay(steps: readonly Relay[]): RelayEntry {
  const relay = steps.at(-1);
  if (!relay) throw new Error('A relay without a step is none.'); // its folder is made with the first one
  const { successor, failure } = relay;
  return {
    relay_id: relay.relay_id,
    session_id: relay.session_id,
    identity: relay.identity,
    reason: relay.reason,
    state: relay.state,
    step: relay.step,
    draft_path: relay.draft_path,
    next_agent: relay.next_agent,
    baton: relay.baton,
    successor: successor && {
      session_id: successor.session_id,
      runtime: successor.agent.runtime,
      terminal: successor.agent.seat?.place ?? null,
    },
    error: failure && { step: failure.step, code: failure.code, message: failure.message, hint: failure.hint },
    exits: exitsOf(relay),
    forced: relay.forced,
    history: historyOf(steps),
  };
}

/** What was only learnt is no step. */
function historyOf(steps: readonly Relay[]): RelayEntry['history'] {
  const named = steps.map(({ state, step, at }) => ({
    step: state === 'under_way' || state === 'done' ? step : state,
    at,
  }));
  return named.filter(({ step }, at) => step !== named[at - 1]?.step);
}
