import { type ErrorCode, HandoffError } from '../../core/error.ts';
import type { Relay } from './relay.ts';

/** What is known of whoever is to be replaced. */
export interface TriggerFacts {
  /** As it was named. */
  session: string;
  exists: boolean;
  /** Its session is open, or its program still runs. */
  isActive: boolean;
  /** An identity of its own, that a successor can take on: the bot has none. */
  hasPersona: boolean;
  hasTerminal: boolean;
  /** The newest relay of this session that was not abandoned. */
  relay: Pick<Relay, 'relay_id' | 'state'> | null;
}

export type TriggerStatus = 200 | 400 | 404 | 409;

interface Refusal {
  status: Exclude<TriggerStatus, 200>;
  /** What a caller over HTTP reads, to the letter. */
  error: string;
  code: ErrorCode;
  hint: string;
}

/** Why an agent is not replaced, in the order in which it is looked at; null where nothing is in the way. */
export function refusedTrigger(facts: TriggerFacts): Refusal | null {
  if (!facts.exists)
    return refuse(
      404,
      'Agent not found',
      'unknown_session',
      'git handoff sessions lists the sessions of this repository.',
    );
  if (!facts.isActive)
    return refuse(
      400,
      'Agent is not active',
      'session_ended',
      'Its session is over: git handoff pickup continues what it left.',
    );
  if (!facts.hasPersona)
    return refuse(
      400,
      'Agent has no persona',
      'no_persona',
      'Who starts agents as an identity of their own, git handoff agent run --as NAME, can have them replaced.',
    );
  if (!facts.hasTerminal)
    return refuse(
      400,
      'Agent has no tmux pane',
      'no_terminal',
      'git handoff agent list shows who runs where. Where it died, git handoff salvage SESSION --as NAME takes up what it left.',
    );
  if (facts.relay) return refuse(409, 'Handoff already in progress', 'relay_in_progress', wayOut(facts.relay));
  return null;
}

function refuse(status: Refusal['status'], error: string, code: ErrorCode, hint: string): Refusal {
  return { status, error, code, hint };
}

function wayOut({ relay_id, state }: NonNullable<TriggerFacts['relay']>): string {
  const show = `git handoff relay show ${relay_id} says where it stands`;
  return state === 'failed' ? `${show}; it failed: relay retry goes on, relay abandon ends it.` : `${show}.`;
}

export function triggerError(refusal: Refusal, { session }: TriggerFacts): HandoffError {
  return new HandoffError(refusal.code, `${refusal.error}: ${session}.`, {
    hint: refusal.hint,
    data: { session, status: refusal.status, error: refusal.error },
  });
}

/** The reasons that have a meaning of their own; any other short text is one as well. */
export const REASONS = ['context_limit', 'shift_end', 'task_boundary', 'rate_limit', 'manual'] as const;

const LONGEST_REASON = 64;

export function assertReason(reason: string): void {
  if (reason.trim() !== '' && reason.length <= LONGEST_REASON && /^[^\p{C}\p{Zl}\p{Zp}]*$/u.test(reason)) return;
  throw new HandoffError(
    'usage',
    `Expected a reason of 1 to ${LONGEST_REASON} characters on one line, found ${JSON.stringify(reason.slice(0, 80))}.`,
    {
      hint: `Such as ${REASONS.join(', ')}, or a few words of your own.`,
    },
  );
}
