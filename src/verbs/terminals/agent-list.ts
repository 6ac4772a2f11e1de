import type { Trust } from '../../core/trust/trust.ts';
import type { Warning } from '../../custody/bundle.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { isOpen, type SessionState } from '../../journal/sessions/liveness.ts';
import { readSession } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { type Agent, readAgents } from '../../relay/agents.ts';
import { relaysOf } from '../../relay/cycle/chain.ts';
import { type AgentProcess, processOf } from '../../relay/running.ts';
import type { TerminalPlace } from '../../relay/terminal.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import { contextWarning } from '../agents/context-warning.ts';
import { readContextUsed } from '../agents/event-state.ts';

/** `running`; `gone`: it ended and its session is open; `ended`: so is its session; `unknown`: which process it is was never known. */
export type AgentState = AgentProcess | 'ended';

export interface AgentEntry {
  session_id: string;
  identity: string;
  runtime: RuntimeName | null;
  state: AgentState;
  terminal: TerminalPlace | null;
  previous_session_id: string | null;
  /** Percent, as its program said last; null where it says nothing. */
  context_used: number | null;
  task_ids: string[];
  /** The relay by which it is being replaced, or was. */
  relay: string | null;
  directory: string;
  started_at: string;
  session_state: SessionState | null;
}

export interface AgentListing {
  agents: AgentEntry[];
  warnings: Warning[];
}

/** Who works in which terminal. Those that have ended with their sessions only if they are asked for. It changes nothing. */
export async function agentList(
  repository: Repository,
  { all = false }: { all?: boolean } = {},
): Promise<AgentListing> {
  const trust = await requireTrust(repository);
  const { agents, broken } = readAgents(repository);
  const entries = agents.map((agent) => toEntry(repository, trust, agent));
  const shown = all ? entries : entries.filter(({ state }) => state !== 'ended');
  return {
    agents: shown,
    warnings: [
      ...broken.map(({ path, reason }) => ({ kind: 'agent_unreadable', message: `${path} was skipped: ${reason}` })),
      ...shown.flatMap((agent) => contextWarning(agent.identity, agent.session_id, agent.context_used)),
    ],
  };
}

export function toEntry(repository: Repository, trust: Trust, agent: Agent): AgentEntry {
  const { session_id, identity, runtime, seat, previous_session_id, directory, started_at } = agent;
  const session = readSession(dirsOf(repository), session_id);
  const liveness = session && withLiveness(repository, trust, session).liveness;
  const process = processOf(repository.host, agent);
  const isOver = process !== 'running' && !(liveness && isOpen(liveness));
  return {
    session_id,
    identity,
    runtime,
    state: isOver ? 'ended' : process,
    terminal: seat?.place ?? null,
    previous_session_id,
    context_used: session && (readContextUsed(repository, session)?.used_percentage ?? null),
    task_ids: session ? readClaims(dirsOf(repository), session_id).map(({ task }) => task) : [],
    relay: relaysOf(repository, session_id).at(-1) ?? null,
    directory,
    started_at,
    session_state: liveness?.state ?? null,
  };
}
