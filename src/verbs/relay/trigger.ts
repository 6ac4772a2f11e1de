import { HandoffError } from '../../core/error.ts';
import { sessionsCalled } from '../../custody/chosen-session.ts';
import { BOT } from '../../journal/keys/identity-choice.ts';
import { requireIdentity } from '../../journal/keys/signers.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { withLiveness } from '../../journal/sessions/session-state.ts';
import { type Agent, readAgent, readAgents } from '../../relay/agents.ts';
import { linkStep, numberOf, readRelay, relaysOf } from '../../relay/cycle/chain.ts';
import { draftPath, prepareDrafts } from '../../relay/cycle/draft.ts';
import { driveOne } from '../../relay/cycle/driving.ts';
import { type Relay, relayId } from '../../relay/cycle/relay.ts';
import {
  assertReason,
  refusedTrigger,
  type TriggerFacts,
  type TriggerStatus,
  triggerError,
} from '../../relay/cycle/trigger.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { unknownSession } from '../../repository/unknown-session.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import { drivenFrom } from './behind.ts';
import { entryOf, type OnStep, type RelayEntry, showSteps } from './relays.ts';
import { runtimeOf } from './spawn.ts';
import { inTree, openWorld } from './world.ts';

export interface RelayOptions {
  /** The session whose agent is replaced: its id, or the beginning. */
  target: string;
  reason?: string;
  to?: RuntimeName;
  nextAgent?: string;
  keep?: boolean;
  /** Seconds that a step may take. */
  timeout?: number;
}

export interface RelayBegun {
  status: 'initiated';
  relay_id: string;
  session_id: string;
  draft_path: string;
}

const TIMEOUT = 300;

/** Has an agent replaced, and answers at once: what follows is done by a process of its own. */
export async function relay(repository: Repository, options: RelayOptions): Promise<RelayBegun> {
  const begun = await begin(repository, options);
  drivenFrom(repository);
  return begun;
}

/** The same, and goes through with it here. */
export async function relayWaiting(repository: Repository, options: RelayOptions, onStep: OnStep): Promise<RelayEntry> {
  const { relay_id } = await begin(repository, options);
  let shown = 0;
  await driveOne(openWorld(repository), relay_id, () => (shown = showSteps(repository, relay_id, shown, onStep)));
  return entryOf(repository, relay_id);
}

export interface TriggerAnswer {
  status: TriggerStatus;
  body: { status: 'initiated'; relay_id: string } | { error: string };
}

/** As a page asks for it: the status and the words of the answer are fixed. */
export async function handoffTrigger(
  repository: Repository,
  { agent, reason }: { agent: string; reason?: string },
): Promise<TriggerAnswer> {
  try {
    const { relay_id } = await relay(repository, { target: agent, ...(reason === undefined ? {} : { reason }) });
    return { status: 200, body: { status: 'initiated', relay_id } };
  } catch (error) {
    const said = error instanceof HandoffError ? error.data : undefined;
    if (typeof said?.error !== 'string' || typeof said.status !== 'number') throw error;
    return { status: STATUSES.find((status) => status === said.status) ?? 400, body: { error: said.error } };
  }
}

const STATUSES = [400, 404, 409] as const;

async function begin(repository: Repository, options: RelayOptions): Promise<RelayBegun> {
  const { reason = 'manual' } = options;
  assertReason(reason);
  const found = await lookAt(repository, options.target);
  const refusal = refusedTrigger(found.facts);
  if (refusal) throw triggerError(refusal, found.facts);
  const { agent } = found;
  if (!agent) throw new Error('An agent with a terminal is registered.');
  const made = await firstStep(repository, agent, found.relay_id, { ...options, reason });
  // the next number of that session: of two who trigger at once, one gets it
  if (!linkStep(repository, 1, made)) throw lost(repository, found.facts);
  const { relay_id, session_id, draft_path } = made;
  return { status: 'initiated', relay_id, session_id, draft_path };
}

function lost(repository: Repository, facts: TriggerFacts): HandoffError {
  const relay = newestRelay(repository, facts.session) ?? { relay_id: facts.session, state: 'under_way' as const };
  const refusal = refusedTrigger({ ...facts, relay });
  return triggerError(refusal!, facts);
}

interface Found {
  facts: TriggerFacts;
  agent: Agent | null;
  /** The relay that may be made, as it was seen together with the facts: a number that is taken meanwhile is somebody else's. */
  relay_id: string;
}

async function lookAt(repository: Repository, name: string): Promise<Found> {
  const trust = await requireTrust(repository);
  const sessions = sessionsCalled(repository, name);
  if (sessions.length > 1) throw unknownSession(name, sessions);
  const session = sessions[0] ?? null;
  const id = session?.session_id ?? agentCalled(repository, name);
  const agent = id === null ? null : readAgent(repository, id);
  const world = openWorld(repository);
  const isAlive = agent !== null && (await world.isRunning(agent));
  const isActive = session !== null && isOpen(withLiveness(repository, trust, session).liveness);
  const newest = id === null ? null : newestRelay(repository, id);
  const identity = session?.identity ?? agent?.identity ?? BOT;
  const facts: TriggerFacts = {
    session: id ?? name,
    exists: id !== null,
    isActive: isActive || isAlive,
    hasPersona: identity !== BOT && trust.identities.get(identity)?.role !== 'bot',
    hasTerminal: agent?.seat != null && isAlive,
    relay: newest?.state === 'abandoned' ? null : newest,
  };
  return { facts, agent, relay_id: relayId(facts.session, newest ? numberOf(newest.relay_id) + 1 : 1) };
}

/** A session that is over may be forgotten here, while its agent or its relay is not. */
function agentCalled(repository: Repository, name: string): string | null {
  if (name === '') return null;
  const agents = readAgents(repository).agents.map(({ session_id }) => session_id);
  return agents.find((id) => id.startsWith(name)) ?? null;
}

function newestRelay(repository: Repository, session: string): Relay | null {
  const id = relaysOf(repository, session).at(-1);
  return id === undefined ? null : (readRelay(repository, id)?.relay ?? null);
}

async function firstStep(
  repository: Repository,
  agent: Agent,
  relay_id: string,
  { reason, to, nextAgent, keep = false, timeout = TIMEOUT }: RelayOptions & { reason: string },
): Promise<Relay> {
  const { session_id, identity, directory } = agent;
  const next_agent = nextAgent ?? identity;
  requireIdentity(await requireTrust(repository), next_agent);
  runtimeOf({ to: to ?? null, predecessor: agent });
  const now = repository.now();
  const draft_path = draftPath(directory, identity, session_id, now);
  await inTree(repository, agent, (tree) => prepareDrafts(tree, draft_path));
  return {
    relay_id,
    session_id,
    identity,
    reason,
    next_agent,
    to: to ?? null,
    keep,
    timeout,
    directory,
    draft_path,
    predecessor: agent,
    predecessor_runtime_session: null,
    attempt: 1,
    forced: [],
    baton: null,
    successor: null,
    state: 'under_way',
    step: 'initiated',
    failure: null,
    at: now.toISOString(),
  };
}
