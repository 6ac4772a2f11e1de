import { createHash } from 'node:crypto';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import type { Agent } from '../agents.ts';
import type { Standing, Step } from './steps.ts';

/** One run of the cycle by which an operator has an agent replaced, as it is kept in a file. */
export interface Relay extends Standing {
  relay_id: string;
  session_id: string;
  identity: string;
  reason: string;
  /** Who continues: another identity where somebody said so. */
  next_agent: string;
  /** The program of the successor; null for that of the predecessor. */
  to: RuntimeName | null;
  /** The predecessor's program is left running. */
  keep: boolean;
  /** Seconds that a step may take. */
  timeout: number;
  /** The work tree, and the draft in it. */
  directory: string;
  draft_path: string;
  /** Who is replaced, as it was at the trigger. */
  predecessor: Agent;
  /** Its program's own id of its session, once it has taken the instruction. */
  predecessor_runtime_session: string | null;
  /** How often somebody had to begin again with a text that was taken already. */
  attempt: number;
  /** Steps that a person went past, and why. */
  forced: { step: Step; reason: string; at: string }[];
  baton: { delta_id: string; path: string } | null;
  successor: Successor | null;
  /** When it came to stand here. */
  at: string;
}

export interface Successor {
  /** Null until its session was opened. */
  session_id: string | null;
  agent: Pick<Agent, 'runtime' | 'seat' | 'program'>;
  /** How it was given its prompt; null until it was. */
  given: Given | null;
}

/** As the words it was started with, by an answer to its hook, or typed into its terminal. */
export type Given = 'argv' | 'hold' | 'keys';

/** `<session id>.<n>`: a session has the next only after the one before was abandoned. */
export function relayId(session: string, number: number): string {
  return `${session}.${number}`;
}

/** What a text is recognised by when a program tells that it was given it. Another attempt has another one. */
export function tokenOf({ relay_id, attempt }: Pick<Relay, 'relay_id' | 'attempt'>, purpose: Purpose): string {
  const digest = createHash('sha256').update(`${relay_id} ${purpose} ${attempt}`).digest('hex');
  return `[relay ${digest.slice(0, 12)}]`;
}

/** What a relay says to agents. */
export const PURPOSES = ['instruct', 'prime', 'inject'] as const;
export type Purpose = (typeof PURPOSES)[number];
