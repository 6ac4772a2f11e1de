import { HandoffError } from '../core/error.ts';
import type { Host } from '../disk/moment.ts';
import type { Session } from '../journal/sessions/registry.ts';
import type { Directories, Settings, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { RuntimeName } from '../runtimes/runtime.ts';
import { type Agent, readAgent, writeAgent } from './agents.ts';
import { ancestors, foregroundOf, isRunning, markProcess, type ProcessMark } from './processes.ts';
import type { Seat, Terminal } from './terminal.ts';

type Place = StateDirectory & TimeAndHost & Directories & Settings;

/**
 * Who sends an event of a session is its agent: from then on it is known where it runs. Nothing is asked where that is known, so it
 * costs a file. What goes wrong here is no reason to tell an agent nothing.
 */
export async function bindAgent(
  repository: Place,
  terminal: Terminal,
  session: Session,
  runtime: RuntimeName,
): Promise<void> {
  try {
    const before = readAgent(repository, session.session_id);
    const line = ancestors(repository.host.pid);
    if (before && isOf(repository.host, before, line)) return;
    const found = await find(repository, terminal, line);
    writeAgent(repository, { ...described(repository, session), ...found, runtime });
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
  }
}

/** Whether the event comes from the agent that is written down. */
function isOf(host: Host, { program }: Agent, line: readonly number[]): boolean {
  return program !== null && line.includes(program.pid) && isRunning(host, program);
}

function described(repository: Place, session: Session): Omit<Agent, 'seat' | 'program' | 'runtime'> {
  return {
    session_id: session.session_id,
    identity: session.identity,
    directory: repository.dirs.topLevel ?? repository.dirs.gitDir,
    previous_session_id: session.inherited_from,
    started_at: repository.now().toISOString(),
    bound_by: 'event',
  };
}

/**
 * An environment can be that of another terminal: a program that serves several has the one it was first started in. So a terminal is
 * the agent's only where the agent descends from what the terminal was opened with. Which process it is, the terminal says: the one
 * that reads its keys.
 */
async function find(
  { host, env }: TimeAndHost & Settings,
  terminal: Terminal,
  line: readonly number[],
): Promise<{ seat: Seat | null; program: ProcessMark | null }> {
  const named = await terminal.seatOf(env);
  const seat = named && line.includes(named.first.pid) ? named : null;
  const reader = foregroundOf(seat ? seat.first.pid : (line[0] ?? 0));
  return { seat, program: line.includes(reader) ? markProcess(host, reader) : null };
}
