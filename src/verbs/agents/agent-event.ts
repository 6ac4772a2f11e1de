import { openSessionOf } from '../../custody/sign-of-life.ts';
import { bestEffort } from '../../disk/best-effort.ts';
import { beat, beatAgain } from '../../journal/append.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { bindAgent } from '../../relay/bind.ts';
import { markedRelays } from '../../relay/cycle/chain.ts';
import { openTmux } from '../../relay/tmux.ts';
import type { Repository } from '../../repository/repository.ts';
import type { AgentEvent, EventFacts, RuntimeName } from '../../runtimes/runtime.ts';
import { SPEECHES } from '../../runtimes/speech/speeches.ts';
import type { RelayWords } from '../relay/relay-words.ts';
import { tryEventCheckpoint } from './event-checkpoint.ts';
import { dropMark, readMark, stampArrival, writeContextUsed, writeMark } from './event-state.ts';
import { type SessionCard, sessionCard } from './session-card.ts';
import { checkStop, type Lack, type StopCheck } from './stop-check.ts';

export interface EventCall {
  runtime: RuntimeName;
  event: AgentEvent;
  facts: EventFacts;
  as: string | undefined;
}

/** What there is to say. Where nothing is, all of it is null. */
export interface EventFindings {
  card: SessionCard | null;
  /** Told without holding anybody. `reminder`: to the model; `notice`: to the person. */
  reminder: readonly Lack[] | null;
  notice: readonly Lack[] | null;
  hold: readonly Lack[] | null;
  /** What a relay says goes before anything else. */
  relay: RelayWords | null;
}

const NOTHING: EventFindings = { card: null, reminder: null, notice: null, hold: null, relay: null };

/** What one event of an agent's program does here, and what there is to tell that program. Decision 0046. */
export async function agentEvent(repository: Repository, call: EventCall): Promise<EventFindings> {
  stampArrival(repository, call.runtime, call.event);
  const before = await openSessionOf(repository, call.as);
  const relay = await askRelays(repository, before, call);
  const session = before ?? (relay.isOpened ? await openSessionOf(repository, call.as) : null);
  if (session) noteTurn(repository, session, call);
  if (call.event === 'session_start') return { ...(await begin(repository, call, session)), relay: said(relay) };
  if (!session) return NOTHING;
  bestEffort(() => beat(repository, session));
  if (relay.hold !== undefined) return { ...NOTHING, relay };
  return EVENTS[call.event](repository, session, call);
}

/** Mostly nobody is being replaced, and what it takes is not loaded. */
async function askRelays(repository: Repository, session: Session | null, call: EventCall): Promise<RelayWords> {
  if (markedRelays(repository).length === 0) return {};
  return (await import('../relay/event.ts')).relayEvent(repository, session, call);
}

function said(relay: RelayWords): RelayWords | null {
  return relay.context === undefined && relay.hold === undefined ? null : relay;
}

/** A program that starts again within a turn, because it has compacted its context, is still in that turn. */
function noteTurn(repository: Repository, session: Session, { event, facts }: EventCall): void {
  if (event === 'prompt' || event === 'stop') writeMark(repository, session, 'turn', event);
  if (event === 'session_start' && facts.source !== 'compact') writeMark(repository, session, 'turn', 'stop');
}

type Answer = (repository: Repository, session: Session, call: EventCall) => Promise<EventFindings> | EventFindings;

const EVENTS: Readonly<Record<Exclude<AgentEvent, 'session_start'>, Answer>> = {
  prompt,
  tool: () => NOTHING,
  stop,
  compacting,
  compacted,
  session_end: () => NOTHING,
  context,
};

/** A start alone does not revive a session that has been silent for long: somebody may be about to follow it. */
async function begin(
  repository: Repository,
  { runtime, facts, as }: EventCall,
  session: Session | null,
): Promise<EventFindings> {
  if (session) bestEffort(() => beatAgain(repository, session));
  if (session) await bindAgent(repository, openTmux(repository.env, repository.host), session, runtime);
  const card = await sessionCard(repository, session, as, facts.source === 'compact');
  if (!session) return { ...NOTHING, card };
  if (facts.source !== 'compact') dropMark(repository, session, 'held'); // it is still the turn that was held
  return { ...NOTHING, card, reminder: takeReminder(repository, session) };
}

/** A prompt begins a turn, unless it is our own reason: some programs show it to us as a prompt. */
async function prompt(
  repository: Repository,
  session: Session,
  { runtime, facts, as }: EventCall,
): Promise<EventFindings> {
  await bindAgent(repository, openTmux(repository.env, repository.host), session, runtime);
  const held = readMark(repository, session, 'held');
  if (held !== null) dropMark(repository, session, facts.prompt?.includes(held) ? 'reminder' : 'held');
  const reminder = takeReminder(repository, session);
  if (readMark(repository, session, 'forgot') === null) return { ...NOTHING, reminder };
  dropMark(repository, session, 'forgot');
  return { ...NOTHING, reminder, card: await sessionCard(repository, session, as, true) };
}

function takeReminder(repository: Repository, session: Session): readonly Lack[] | null {
  const text = readMark(repository, session, 'reminder');
  if (text === null) return null;
  dropMark(repository, session, 'reminder');
  return parseLacks(text);
}

/** Said once: what is no other than at the last stop is not said again. And a turn is held once, whatever its program tells of that. */
async function stop(repository: Repository, session: Session, call: EventCall): Promise<EventFindings> {
  const lookedAt = repository.now();
  const isOurs = readMark(repository, session, 'held') !== null;
  const isHeld = call.facts.isHeldBefore || isOurs;
  if (isOurs) dropMark(repository, session, 'reminder'); // the model has gone on, so it was told
  const { rule, lacks } = await checkStop(repository, session);
  const isTold = readMark(repository, session, 'stop') === keyOf(lacks);
  writeMark(repository, session, 'stop', keyOf(lacks), lookedAt);
  if (lacks.length === 0) dropMark(repository, session, 'reminder');
  if (isTold || lacks.length === 0) return NOTHING;
  return rule === 'block' && !isHeld ? hold(repository, session, lacks) : remind(repository, session, call, lacks);
}

/** Where the program has ended meanwhile, nobody hears it: then it is told when one begins again. */
function hold(repository: Repository, session: Session, lacks: readonly Lack[]): EventFindings {
  writeMark(repository, session, 'held', lacks[0]!.message);
  writeMark(repository, session, 'reminder', JSON.stringify(lacks));
  return { ...NOTHING, hold: lacks };
}

function remind(
  repository: Repository,
  session: Session,
  { runtime }: EventCall,
  lacks: readonly Lack[],
): EventFindings {
  writeMark(repository, session, 'reminder', JSON.stringify(lacks));
  return { ...NOTHING, notice: SPEECHES[runtime].showsNotices ? lacks : null };
}

/** Without what is not committed: that changes at every stop, and nobody is asked for it. */
function keyOf(lacks: StopCheck['lacks']): string {
  return JSON.stringify(lacks.filter(({ kind }) => kind !== 'not_committed'));
}

function parseLacks(text: string): Lack[] | null {
  const lacks = bestEffort(() => JSON.parse(text));
  return Array.isArray(lacks) ? lacks.filter((lack) => typeof lack?.message === 'string') : null;
}

/** Where it is not certain that the program will compact, nothing is told afterwards, and a checkpoint is written once in a while only. */
async function compacting(
  repository: Repository,
  session: Session,
  { runtime, facts }: EventCall,
): Promise<EventFindings> {
  const isCertain = !facts.isOnEveryTurn;
  if (isCertain && SPEECHES[runtime].afterCompaction === 'prompt') writeMark(repository, session, 'forgot', '\n');
  await tryEventCheckpoint(repository, session, isCertain ? 0 : QUARTER_OF_AN_HOUR);
  return NOTHING;
}

const QUARTER_OF_AN_HOUR = 15 * 60_000;

async function compacted(repository: Repository, session: Session, { runtime, as }: EventCall): Promise<EventFindings> {
  if (SPEECHES[runtime].afterCompaction !== 'compacted') return NOTHING;
  return { ...NOTHING, card: await sessionCard(repository, session, as, true) };
}

function context(repository: Repository, session: Session, { runtime, facts }: EventCall): EventFindings {
  const at = repository.now().toISOString();
  if (facts.contextUsed !== null)
    writeContextUsed(repository, session, { runtime, used_percentage: facts.contextUsed, at });
  return NOTHING;
}
