import { setTimeout as sleep } from 'node:timers/promises';
import { HandoffError } from '../../core/error.ts';
import type { Agent } from '../../relay/agents.ts';
import { processOf } from '../../relay/running.ts';
import type { Terminal } from '../../relay/terminal.ts';
import { openTmux } from '../../relay/tmux.ts';
import { requireSeat, typeTo } from '../../relay/type-to.ts';
import type { TimeAndHost } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { LAUNCHING } from '../../runtimes/launching.ts';
import { type AgentEntry, toEntry } from './agent-list.ts';
import { requireAgent } from './named-agent.ts';

export interface StopOptions {
  id: string;
  /** Take its terminal away where it does not end by itself. */
  force?: boolean;
  /** Seconds. */
  timeout?: string;
}

/** How long an agent may take to end: its hooks run, and what it has in its context is written. Seconds. */
const PATIENCE = 15;

/** Ends an agent: by the word that a person would type, then its process is seen gone. Its session stays as it is. */
export async function agentStop(repository: Repository, options: StopOptions): Promise<AgentEntry> {
  const trust = await requireTrust(repository);
  const agent = requireAgent(repository, options.id);
  const terminal = openTmux(repository.env, repository.host);
  await endAgent(repository, terminal, agent, options);
  return toEntry(repository, trust, agent);
}

async function endAgent(
  repository: Repository,
  terminal: Terminal,
  agent: Agent,
  { force = false, timeout }: StopOptions,
): Promise<void> {
  const patience = timeout === undefined ? PATIENCE : Number(timeout);
  const process = processOf(repository.host, agent);
  if (process === 'unknown') throw notKnown(agent);
  if (process === 'running') await askToEnd(repository, terminal, agent, force);
  if (!(await isGoneWithin(repository, agent, patience))) {
    if (!force) throw stillRunning(agent, patience);
    await terminal.close(requireSeat(agent));
    if (!(await isGoneWithin(repository, agent, patience))) throw stillRunning(agent, patience);
  }
  // a shell in which it was started by hand is the user's
  if (agent.seat && agent.seat.first.pid === agent.program?.pid) await terminal.close(agent.seat);
}

/** A program of which we know no word loses its terminal, as when a person closes the window. */
async function askToEnd(repository: Repository, terminal: Terminal, agent: Agent, force: boolean): Promise<void> {
  if (agent.runtime === null) return terminal.close(requireSeat(agent));
  const asked = typeTo(repository, terminal, agent, LAUNCHING[agent.runtime].exitWord);
  await (force ? asked.catch(ifOurs) : asked);
}

/** Who takes the terminal away need not be able to type in it. */
function ifOurs(error: unknown): void {
  if (!(error instanceof HandoffError)) throw error;
}

const LOOK = 50;

async function isGoneWithin({ host }: TimeAndHost, agent: Agent, seconds: number): Promise<boolean> {
  for (let waited = 0; processOf(host, agent) === 'running'; waited += LOOK) {
    if (waited >= seconds * 1000) return false;
    await sleep(LOOK);
  }
  return true;
}

function notKnown({ identity, session_id }: Agent): HandoffError {
  const sid8 = session_id.slice(0, 8);
  return new HandoffError(
    'no_terminal',
    `Which process the agent of ${identity} (session ${sid8}) is was never known.`,
    {
      hint: 'End it where you started it. Agents that git handoff agent run starts are known.',
      data: { session_id },
    },
  );
}

function stillRunning({ identity, session_id, program }: Agent, patience: number): HandoffError {
  const sid8 = session_id.slice(0, 8);
  return new HandoffError(
    'agent_still_running',
    `The agent of ${identity} (session ${sid8}) still runs after ${patience} s.`,
    {
      hint: `See what it waits for: git handoff agent attach ${sid8}. To take its terminal away: git handoff agent stop ${sid8} --force`,
      data: { session_id, pid: program?.pid ?? null },
    },
  );
}
