import { HandoffError } from '../../core/error.ts';
import { recordName } from '../../core/paths.ts';
import { parseAs } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { lastButSeals } from '../../journal/sessions/records.ts';
import { listSessions, readSession, type Session } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { checkRelayDraft, readRelayDraft } from '../../relay/cycle/draft.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import { delivered, injectionPrompt, instruction, priming } from '../../relay/cycle/words.ts';
import type { Running, World } from '../../relay/cycle/world.ts';
import { isRunning } from '../../relay/processes.ts';
import type { Seat, Terminal } from '../../relay/terminal.ts';
import { openTmux } from '../../relay/tmux.ts';
import { requireSeat, typeTo } from '../../relay/type-to.ts';
import type { StateDirectory, TimeAndHost } from '../../repository/parts.ts';
import { openRepositoryAt, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { LAUNCHING } from '../../runtimes/launching.ts';
import { isTurnUnderWay } from '../agents/event-state.ts';
import { pickup } from '../session/pickup.ts';
import { wrap } from '../session/wrap.ts';
import { wrapDraft } from '../session/wrap-draft.ts';
import { notify } from './notices.ts';
import { skillOf } from './skill.ts';
import { spawnSuccessor, startedSuccessor } from './spawn.ts';

/** What a driver of relays does with this repository, its verbs and its terminals. */
export function openWorld(repository: Repository): World {
  const { host, env, stateDir } = repository;
  const terminal = openTmux(env, host);
  const beside = ({ predecessor }: Relay) => openTmux(besides(env, predecessor.seat), host);
  return {
    stateDir,
    host,
    now: repository.now,
    tell: (relay) => notify(repository, relay),
    submit: (agent, text) => typeTo(repository, terminal, agent, text),
    isRunning: (agent) => isAgentRunning(repository, terminal, agent),
    isBusy: (session) => isTurnUnderWay(repository, session),
    instruction: (relay) => inTree(repository, relay, async (tree) => instruction(relay, await sectionsOf(tree))),
    injection: async (relay) => delivered(relay, promptOf(repository, relay)),
    record: (relay) => inTree(repository, relay, (tree) => record(tree, relay)),
    leave: (relay) => leave(repository, terminal, relay),
    spawn: async (standing) =>
      spawnSuccessor(repository, beside(standing.relay), standing, await firstWords(repository, standing.relay)),
    spawned: (standing) => startedSuccessor(repository, standing),
    openSession: (relay) => inTree(repository, relay, (tree) => takeUp(tree, relay)),
  };
}

/** Where the predecessor was, its successor is looked for. */
function besides(env: NodeJS.ProcessEnv, seat: Seat | null): NodeJS.ProcessEnv {
  return seat ? { ...env, HANDOFF_TMUX_SOCKET: seat.place.socket } : env;
}

/** In the work tree of the relay, as its sessions are named: whoever drives may stand anywhere, and be anybody. */
export async function inTree<T>(
  repository: Repository,
  { directory }: Pick<Relay, 'directory'>,
  work: (tree: Repository) => Promise<T>,
): Promise<T> {
  const { host, build, program, now, warn } = repository;
  const { HANDOFF_SESSION, HANDOFF_IDENTITY, ...plain } = repository.env;
  const tree = openRepositoryAt(directory, { host, env: plain, build, program, now, warn });
  try {
    return await work(tree);
  } finally {
    await tree.close();
  }
}

/** Where nobody knows which process it is, its terminal decides. */
async function isAgentRunning({ host }: TimeAndHost, terminal: Terminal, { seat, program }: Running): Promise<boolean> {
  if (program) return isRunning(host, program);
  return seat !== null && isRunning(host, seat.first) && (await terminal.isThere(seat));
}

async function sectionsOf(tree: Repository): Promise<readonly string[]> {
  return (await requireTrust(tree)).policy.rules.sections;
}

function tasksOf(repository: StateDirectory, { session_id }: Relay): string[] {
  return readClaims(dirsOf(repository), session_id).map(({ task }) => task);
}

/** Nothing of the draft is lost by a second attempt: `wrap` finishes what was cut off. */
async function record(tree: Repository, relay: Relay): Promise<NonNullable<Relay['baton']>> {
  const options = { as: relay.identity, session: relay.session_id };
  const isForced = relay.forced.some(({ step }) => step === 'authored');
  const draft = isForced ? await draftAnyhow(tree, relay) : checkRelayDraft(relay.draft_path);
  try {
    const { baton } = await wrap(tree, {
      ...options,
      draft,
      reason: relay.reason,
      injectionPrompt: injectionPrompt(relay, tasksOf(tree, relay)),
      nextAgent: relay.next_agent,
      ...(isForced ? { allowSecret: true } : {}),
    });
    return { delta_id: baton.delta_id, path: baton.path };
  } catch (error) {
    const left = error instanceof HandoffError && error.code === 'session_ended' ? lastBaton(tree, relay) : null;
    if (!left) throw error;
    return { delta_id: left.delta_id, path: left.path };
  }
}

/** A person said to go on without: then what is known is what there is, and it says so. */
async function draftAnyhow(tree: Repository, relay: Relay): Promise<Uint8Array> {
  try {
    return readRelayDraft(relay.draft_path);
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    const { draft } = await wrapDraft(tree, { as: relay.identity, session: relay.session_id });
    return Buffer.from(`Reconstructed by git-handoff: the agent left no handoff of its own.\n\n${draft}`);
  }
}

/** The baton that ended the session, whoever wrapped it. */
function lastBaton(repository: StateDirectory, { session_id }: Relay) {
  const dirs = dirsOf(repository);
  const session = readSession(dirs, session_id);
  const tip = session && lastButSeals(dirs, session_id);
  if (!session || !tip || !('kind' in tip) || tip.kind !== 'baton') return null;
  const parsed = parseAs(tip.bytes, 'baton');
  const path = `${session.folder}/${recordName(tip.number, 'baton')}`;
  return { delta_id: recordId(parsed.signedBytes, nodeSuite), path, prompt: parsed.fields.injection_prompt ?? null };
}

/** As it was signed; an agent that wrapped its session itself has signed none. */
function promptOf(repository: StateDirectory, relay: Relay): string {
  return lastBaton(repository, relay)?.prompt ?? injectionPrompt(relay, tasksOf(repository, relay));
}

/** A program of which no word is known that ends it loses its terminal. */
async function leave(repository: Repository, terminal: Terminal, { predecessor }: Relay): Promise<void> {
  if (predecessor.runtime) return typeTo(repository, terminal, predecessor, LAUNCHING[predecessor.runtime].exitWord);
  return terminal.close(requireSeat(predecessor));
}

/** With a skill, that it is to be taken in; without one, the prompt itself. */
async function firstWords(repository: Repository, relay: Relay): Promise<string> {
  const skill = await inTree(repository, relay, (tree) => skillOf(tree, relay.next_agent));
  if (skill) return priming(relay, skill.path);
  return delivered(relay, promptOf(repository, relay));
}

/** Exactly that baton, whatever else waits. Where somebody was killed who had picked it up, the session that did is the one. */
export async function takeUp(tree: Repository, relay: Relay): Promise<string> {
  const opened = openedOn(tree, await requireTrust(tree), relay);
  if (opened) return opened.session_id;
  const { session_id } = await pickup(tree, { as: relay.next_agent, fromSession: relay.session_id });
  return session_id;
}

function openedOn(tree: Repository, trust: Trust, { session_id, next_agent }: Relay): Session | null {
  const heirs = listSessions(dirsOf(tree)).filter((each) => each.inherited_from === session_id);
  const own = heirs.filter(({ identity }) => identity === next_agent);
  return own.find((each) => isOpen(withLiveness(tree, trust, each).liveness)) ?? null;
}
