import type { TimeAndHost } from '../../repository/parts.ts';
import type { Agent } from '../agents.ts';
import type { Numbered, State } from './chain.ts';
import type { Relay, Successor } from './relay.ts';

/** A program of an agent, as far as it is known how to find it. */
export type Running = Pick<Agent, 'seat' | 'program'>;

/** All that a driver does outside the files of a relay. What ends and opens sessions are verbs, which stand above this room. */
export interface World extends State, TimeAndHost {
  /** Tells whoever wants to know that a relay has come to stand somewhere else. */
  tell(relay: Relay): Promise<void>;
  /** Types one line, and submits it. `no_terminal` where the terminal is not that agent's any more. */
  submit(agent: Agent, text: string): Promise<void>;
  isRunning(agent: Running): Promise<boolean>;
  /** Whether a turn of that session's agent is under way, as far as its program has told. */
  isBusy(session: string): boolean;
  /** What the predecessor is asked for. */
  instruction(relay: Relay): Promise<string>;
  /** What the successor hears when its skill is taken in; the signed baton has it. */
  injection(relay: Relay): Promise<string>;
  /** Wraps the predecessor's session with the draft. A second time it finishes what the first has left, and answers the same. */
  record(relay: Relay): Promise<NonNullable<Relay['baton']>>;
  /** Asks the predecessor's program to end. */
  leave(relay: Relay): Promise<void>;
  /** Starts the successor, at most once for each number of the chain. */
  spawn(standing: Numbered): Promise<Successor['agent']>;
  /** The one that was started for this number; null where none was. */
  spawned(standing: Numbered): Promise<Successor['agent'] | null>;
  /** Opens the successor's session on the baton, where its own program did not. */
  openSession(relay: Relay): Promise<string>;
}
