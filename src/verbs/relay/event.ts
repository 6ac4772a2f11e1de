import { asHandoffError } from '../../core/error.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { advanceNow, type Learnt } from '../../relay/cycle/advance.ts';
import { keepSeen, markedRelays, type Numbered, readRelay, ring } from '../../relay/cycle/chain.ts';
import { begunStep, claimStep } from '../../relay/cycle/claims.ts';
import { checkRelayDraft } from '../../relay/cycle/draft.ts';
import type { RelayEvent } from '../../relay/cycle/next.ts';
import { PURPOSES, type Purpose, type Relay, tokenOf } from '../../relay/cycle/relay.ts';
import type { LaterStep, Step } from '../../relay/cycle/steps.ts';
import type { World } from '../../relay/cycle/world.ts';
import { ancestors } from '../../relay/processes.ts';
import type { Repository } from '../../repository/repository.ts';
import type { AgentEvent, EventFacts } from '../../runtimes/runtime.ts';
import { drivenFrom } from './behind.ts';
import { openSuccessor } from './opening.ts';
import type { RelayWords } from './relay-words.ts';
import { openWorld } from './world.ts';

/** What an agent's program told, as far as a relay asks for it. */
export interface RelayCall {
  event: AgentEvent;
  facts: EventFacts;
}

const NOTHING: RelayWords = {};

/** What an event of an agent means to the relays that are under way. */
export async function relayEvent(
  repository: Repository,
  session: Session | null,
  call: RelayCall,
): Promise<RelayWords> {
  const standings = markedRelays(repository)
    .map((id) => readRelay(repository, id))
    .filter((standing) => standing !== null);
  const world = openWorld(repository);
  drivenFrom(repository);
  switch (call.event) {
    case 'prompt':
      return taken(world, standings, call.facts);
    case 'stop':
      return stopped(world, standings, session, call);
    case 'session_start':
      return openSuccessor(repository, world, standings);
    case 'session_end':
      for (const { relay } of standings) ring(world, relay); // whoever waits looks which process is gone
      return NOTHING;
    default:
      return NOTHING;
  }
}

/** A program tells of a prompt when it takes it: the only proof that one of ours has arrived. */
function taken(world: World, standings: readonly Numbered[], { prompt, runtimeSession }: EventFacts): RelayWords {
  for (const { relay } of standings) {
    for (const purpose of PURPOSES.filter((each) => prompt?.includes(tokenOf(relay, each)))) {
      const seen = { runtime_session: runtimeSession, at: world.now().toISOString() };
      keepSeen(world, relay.relay_id, tokenOf(relay, purpose), seen);
      confirm(world, relay.relay_id, purpose, runtimeSession);
    }
  }
  return NOTHING;
}

/** Where a relay stands when a text is taken, and the step that this makes. A program may tell of a prompt and not of its start. */
const CONFIRMS: Record<Purpose, Partial<Record<Step, LaterStep>>> = {
  instruct: { initiated: 'instructed' },
  prime: { spawned: 'primed' },
  inject: { spawned: 'primed', injected: 'done' },
};

function confirm(world: World, id: string, purpose: Purpose, runtimeSession: string | null): void {
  const learnt: Learnt = purpose === 'instruct' ? { predecessor_runtime_session: runtimeSession } : {};
  advanceNow(world, id, ({ step }) => {
    const makes = CONFIRMS[purpose][step];
    return makes ? { event: { is: 'made', step: makes }, learnt } : null;
  });
  const standing = readRelay(world, id);
  if (standing) ring(world, standing.relay);
}

async function stopped(
  world: World,
  standings: readonly Numbered[],
  session: Session | null,
  call: RelayCall,
): Promise<RelayWords> {
  if (session === null || call.facts.isAtWorkBehind) return NOTHING;
  const { session_id } = session;
  for (const standing of standings.filter(({ relay }) => relay.state === 'under_way')) {
    const { relay } = standing;
    if (relay.session_id === session_id) return predecessorStopped(world, standing, call);
    if (relay.successor?.session_id === session_id) return successorStopped(world, standing, call);
  }
  return NOTHING;
}

async function predecessorStopped(world: World, standing: Numbered, call: RelayCall): Promise<RelayWords> {
  const { relay } = standing;
  if (relay.step === 'initiated' && !wasHeld(world, standing, call))
    return hold(world, standing, call, relay.predecessor, () => world.instruction(relay));
  if (relay.step === 'initiated') confirmHeld(world, relay.relay_id, 'instructed', call);
  if (isOther(relay.predecessor_runtime_session, call.facts.runtimeSession)) return NOTHING;
  advanceNow(world, relay.relay_id, (current) =>
    current.step === 'instructed' ? { event: judgeDraft(current) } : null,
  );
  return NOTHING;
}

async function successorStopped(world: World, standing: Numbered, call: RelayCall): Promise<RelayWords> {
  const { relay } = standing;
  if (relay.step === 'injected' && relay.successor?.given === 'hold' && call.facts.isHeldBefore)
    confirmHeld(world, relay.relay_id, 'done', call);
  if (relay.step !== 'primed' || !relay.successor) return NOTHING;
  const words = await hold(world, standing, call, relay.successor.agent, () => world.injection(relay));
  if (words.hold !== undefined) {
    const successor = { ...relay.successor, given: 'hold' as const };
    advanceNow(world, relay.relay_id, (current) =>
      current.step === 'primed' ? { event: { is: 'made', step: 'injected' }, learnt: { successor } } : null,
    );
  }
  return words;
}

/** A stop after a hold of ours: the program has gone on with what it was told, and this is the end of that turn. */
function wasHeld(world: World, standing: Numbered, { facts }: RelayCall): boolean {
  return facts.isHeldBefore && begunStep(world, standing)?.how === 'hold';
}

function confirmHeld(world: World, id: string, step: LaterStep, { facts }: RelayCall): void {
  const learnt = step === 'instructed' ? { predecessor_runtime_session: facts.runtimeSession } : {};
  advanceNow(world, id, () => ({ event: { is: 'made', step }, learnt }));
}

/** An answer to the hook of a busy agent needs no keys, and no dialog is in front of it. A turn is held once. */
async function hold(
  world: World,
  standing: Numbered,
  { facts }: RelayCall,
  { program }: Pick<Relay['predecessor'], 'program'>,
  text: () => Promise<string>,
): Promise<RelayWords> {
  if (facts.isHeldBefore || begunStep(world, standing)) return NOTHING;
  if (program && !ancestors(world.host.pid).includes(program.pid)) return NOTHING;
  const words = await text();
  return claimStep(world, standing, 'hold') === 'first' ? { hold: words } : NOTHING;
}

function isOther(known: string | null, told: string | null): boolean {
  return known !== null && told !== null && known !== told;
}

/** The first stop after the instruction was taken: either it is written, or the operator is told what is wrong with it. */
function judgeDraft({ draft_path }: Relay): RelayEvent {
  try {
    checkRelayDraft(draft_path);
    return { is: 'made', step: 'authored' };
  } catch (error) {
    const { code, message, hint = '' } = asHandoffError(error);
    return { is: 'failed', failure: { step: 'authored', code, message, hint } };
  }
}
