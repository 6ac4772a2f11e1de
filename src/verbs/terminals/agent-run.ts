import { HandoffError } from '../../core/error.ts';
import type { Warning } from '../../custody/bundle.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { requireIdentity } from '../../journal/keys/signers.ts';
import { readSession } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { type Agent, agentsFolder, readAgents, removeAgent, writeAgent } from '../../relay/agents.ts';
import { dropLaunch, launchFile, letBegin, tidyLaunches, waitingArgv } from '../../relay/launch.ts';
import { processOf } from '../../relay/running.ts';
import { untilStarted } from '../../relay/started.ts';
import type { Seat, Terminal, TerminalPlace } from '../../relay/terminal.ts';
import { openTmux } from '../../relay/tmux.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import { type Entered, type EnterOptions, enterSession } from './enter-session.ts';
import { type ProgramChoice, planProgram } from './program-to-run.ts';

export interface AgentRunOptions extends ProgramChoice, Omit<EnterOptions, 'as'> {
  as?: string;
}

export interface AgentRunResult {
  session_id: string;
  identity: string;
  runtime: RuntimeName | null;
  terminal: TerminalPlace;
  /** The work tree that it runs in. */
  directory: string;
  /** How the session was opened. */
  opened: Entered['opened'];
  previous_session_id: string | null;
  warnings: Warning[];
}

/**
 * Starts an agent in a terminal, bound to its session. What can be refused is asked before anything is opened; then the terminal, in
 * which nothing runs yet; then the session; and only then the program, which is told of it.
 */
export async function agentRun(repository: Repository, options: AgentRunOptions): Promise<AgentRunResult> {
  const topLevel = enterWorkTree(repository);
  const identity = requireName(options.as);
  const trust = await requireTrust(repository);
  requireIdentity(trust, identity);
  await requireSigner(repository, trust, identity);
  const plan = await planProgram(repository, options);
  assertNoneRuns(repository, identity);
  const terminal = openTmux(repository.env, repository.host);
  tidyLaunches(agentsFolder(repository), repository.host);
  const file = launchFile(agentsFolder(repository), repository.host);
  const seat = await terminal.open({
    title: `${identity}-${plan.title}`,
    argv: waitingArgv(file, repository.host.pid),
  });
  try {
    const entered = await enterSession(repository, { ...options, as: identity });
    const agent = describe(repository, entered, plan.runtime, seat, topLevel);
    await begin(repository, terminal, agent, { file, argv: plan.argv, set: plan.set });
    return toResult(agent, seat, entered);
  } catch (error) {
    await terminal.close(seat);
    dropLaunch(file);
    throw error;
  }
}

/** Where it does not start, it is in no list; its session stays open for the next one. */
async function begin(
  repository: Repository,
  terminal: Terminal,
  agent: Agent & { seat: Seat },
  { file, argv, set }: { file: string; argv: readonly string[]; set: Readonly<Record<string, string>> },
): Promise<void> {
  const { session_id, identity, directory, previous_session_id } = agent;
  writeAgent(repository, agent);
  const told = {
    HANDOFF_IDENTITY: identity,
    HANDOFF_SESSION: session_id,
    ...(previous_session_id === null ? {} : { HANDOFF_PREVIOUS_SESSION: previous_session_id }),
  };
  try {
    letBegin(file, { argv, directory, env: repository.env, set: { ...set, ...told } });
    await untilStarted(repository.host, terminal, agent.seat, file);
  } catch (error) {
    removeAgent(repository, session_id);
    throw error;
  }
}

function describe(
  repository: Repository,
  { session_id, directory }: Entered,
  runtime: RuntimeName | null,
  seat: Seat,
  topLevel: string,
): Agent & { seat: Seat } {
  const session = readSession(dirsOf(repository), session_id);
  if (!session) throw new Error(`Session ${session_id} was opened and is not there.`);
  return {
    session_id,
    identity: session.identity,
    runtime,
    seat,
    program: seat.first,
    directory: directory ?? topLevel,
    previous_session_id: session.inherited_from,
    started_at: repository.now().toISOString(),
    bound_by: 'run',
  };
}

function toResult(agent: Agent, { place }: Seat, { opened, warnings }: Entered): AgentRunResult {
  const { session_id, identity, runtime, directory, previous_session_id } = agent;
  return { session_id, identity, runtime, terminal: place, directory, opened, previous_session_id, warnings };
}

/** Nobody becomes the bot by leaving a name out: who it is is the point. */
function requireName(as: string | undefined): string {
  if (as !== undefined) return as;
  throw new HandoffError('usage', 'An agent needs a name to act in.', {
    hint: 'git handoff agent run --as NAME; git handoff identity list shows the names.',
  });
}

/** An identity has one agent at a time, as it has one session. */
function assertNoneRuns(repository: Repository, identity: string): void {
  const running = readAgents(repository).agents.find(
    (agent) => agent.identity === identity && processOf(repository.host, agent) === 'running',
  );
  if (!running || identity === 'bot') return;
  const sid8 = running.session_id.slice(0, 8);
  throw new HandoffError(
    'identity_conflict',
    `An agent of ${identity} runs already, in session ${running.session_id}.`,
    {
      hint: `git handoff agent attach ${sid8} shows it, git handoff agent stop ${sid8} ends it; or start one of another name: --as NAME.`,
      data: { identity, session_id: running.session_id },
    },
  );
}
