import { asHandoffError, type ErrorCode, HandoffError } from '../../core/error.ts';
import type { Agent } from '../agents.ts';
import { advance, type Learnt } from './advance.ts';
import { type Numbered, readRelay, readSeen } from './chain.ts';
import { begunStep, claimStep } from './claims.ts';
import { checkRelayDraft } from './draft.ts';
import { type Given, type Purpose, type Relay, tokenOf } from './relay.ts';
import { type LaterStep, stepAfter } from './steps.ts';
import type { Running, World } from './world.ts';

/** When to look again at the latest; whatever happens to the relay before that is seen in its folder. Null: it goes on by a person alone. */
export type LookAgain = Date | null;

/** Makes every step that can be made now. Any number of drivers may run: each step is made once. */
export async function drive(world: World, id: string): Promise<LookAgain> {
  for (;;) {
    const standing = readRelay(world, id);
    if (standing?.relay.state !== 'under_way') return null;
    const outcome = await attempt(world, standing);
    if (outcome instanceof Date) return outcome;
  }
}

/** True: look at once at what there is now. */
type Outcome = Date | true;

async function attempt(world: World, standing: Numbered): Promise<Outcome> {
  try {
    return await DUTIES[standing.relay.step](world, standing);
  } catch (error) {
    const { code, message, hint } = asHandoffError(error);
    return fail(world, standing, code, message, hint);
  }
}

const DUTIES: Record<Relay['step'], (world: World, standing: Numbered) => Promise<Outcome>> = {
  initiated: instruct,
  instructed: awaitDraft,
  authored: record,
  recorded: end,
  ended: spawn,
  spawned: awaitOpening,
  primed: inject,
  injected: awaitTaken,
  done: async () => true,
};

/** A text that was typed is taken at once, or not at all. Seconds. */
const CONFIRM_WITHIN = 30;
/** Who is at work is told at the end of the turn. Who was interrupted never ends one, and is told by keys after this long. Seconds. */
const BUSY_FOR = 60;
/** Seconds that a program has to end. */
const EXIT_WITHIN = 30;

async function instruct(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  if (isSeen(world, relay, 'instruct')) return make(world, standing);
  if (!(await world.isRunning(relay.predecessor))) return gone(world, standing, relay.predecessor);
  return deliver(world, standing, relay.predecessor, () => world.instruction(relay));
}

/** By keys where nobody is at work; else the end of the turn is waited for, at which a hook gives it. */
async function deliver(world: World, standing: Numbered, agent: Agent, text: () => Promise<string>): Promise<Outcome> {
  const { relay } = standing;
  const begun = begunStep(world, standing);
  if (begun) return awaitConfirmed(world, standing, begun);
  const patience = later(relay.at, Math.min(BUSY_FOR, relay.timeout));
  if (world.isBusy(agent.session_id) && world.now() < patience) return patience;
  const words = await text();
  if (claimStep(world, standing, 'keys') !== 'first') return true;
  await world.submit(agent, words);
  return true;
}

function awaitConfirmed(world: World, standing: Numbered, begun: { how: string; at: string }): Outcome {
  const { timeout } = standing.relay;
  const until = later(begun.at, begun.how === 'keys' ? Math.min(CONFIRM_WITHIN, timeout) : timeout);
  if (world.now() < until) return until;
  return fail(
    world,
    standing,
    'delivery_unconfirmed',
    'The text was given to the agent, and its program did not say that it took it. It was not sent a second time.',
    'A dialog may be in front of it: git handoff agent attach shows its terminal. Then git handoff relay retry sends it again; relay force goes on although nobody confirmed it.',
  );
}

async function awaitDraft(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  if (!(await world.isRunning(relay.predecessor))) {
    if (isWritten(relay)) return make(world, standing);
    return gone(world, standing, relay.predecessor);
  }
  const until = later(relay.at, relay.timeout);
  if (world.now() < until) return until;
  return fail(
    world,
    standing,
    'relay_timeout',
    `The agent did not stop within ${relay.timeout} seconds after it was asked to write ${relay.draft_path}.`,
    'It may wait for an answer, or work on something long: git handoff agent attach shows it. Then git handoff relay retry, or relay abandon.',
  );
}

export function isWritten({ draft_path }: Pick<Relay, 'draft_path'>): boolean {
  try {
    checkRelayDraft(draft_path);
    return true;
  } catch (error) {
    asHandoffError(error);
    return false;
  }
}

async function record(world: World, standing: Numbered): Promise<Outcome> {
  if (!claimStep(world, standing, 'wrap')) return soon(world);
  const baton = await world.record(standing.relay);
  return make(world, standing, { baton });
}

async function end(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  if (relay.keep || !(await world.isRunning(relay.predecessor))) return make(world, standing);
  // where whoever was to say it was killed it is said again: nobody ends twice
  if (claimStep(world, standing, 'exit')) await world.leave(relay);
  const begun = begunStep(world, standing) ?? { at: relay.at };
  const until = later(begun.at, Math.min(EXIT_WITHIN, relay.timeout));
  if (world.now() < until) return soonest(until, soon(world));
  return fail(
    world,
    standing,
    'agent_still_running',
    `${relay.identity} was asked to end, and its program still runs. Its session is wrapped: nothing of it is lost.`,
    'End it in its terminal: git handoff agent attach; then git handoff relay retry. Or leave it running: git handoff relay force.',
  );
}

async function spawn(world: World, standing: Numbered): Promise<Outcome> {
  const turn = claimStep(world, standing, 'spawn');
  if (!turn) return soon(world);
  const started = turn === 'again' ? await world.spawned(standing) : null;
  const agent = started ?? (await world.spawn(standing));
  const { successor } = standing.relay;
  const session_id = successor?.session_id ?? null;
  return make(world, standing, { successor: { session_id, agent, given: null } });
}

async function awaitOpening(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  const agent = relay.successor?.agent;
  if (!agent || !(await world.isRunning(agent))) return gone(world, standing, agent ?? null);
  const until = later(relay.at, relay.timeout);
  if (world.now() < until) return until;
  return fail(
    world,
    standing,
    'prime_failed',
    `The successor runs, and its program told nothing of its start within ${relay.timeout} seconds.`,
    'Its hooks may not be connected or trusted: git handoff doctor. A dialog may be in front of it: git handoff agent attach. Then git handoff relay retry, or relay force, which opens its session and types the prompt.',
  );
}

async function inject(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  const { successor } = relay;
  if (!successor || !(await world.isRunning(successor.agent))) return gone(world, standing, successor?.agent ?? null);
  if (successor.session_id === null) return openSession(world, standing);
  if (successor.given || isSeen(world, relay, 'inject')) return given(world, standing, successor.given ?? 'argv');
  const begun = begunStep(world, standing);
  if (begun && begun.how !== 'open') return given(world, standing, begun.how === 'hold' ? 'hold' : 'keys');
  const agent = {
    ...relay.predecessor,
    ...successor.agent,
    session_id: successor.session_id,
    identity: relay.next_agent,
  };
  return deliver(world, standing, agent, () => world.injection(relay));
}

/** Whether or not it was taken: that is the next step. */
function given(world: World, standing: Numbered, how: Given): true {
  return make(world, standing, { successor: { ...standing.relay.successor!, given: how } });
}

async function openSession(world: World, standing: Numbered): Promise<Outcome> {
  if (!claimStep(world, standing, 'open')) return soon(world);
  const session_id = await world.openSession(standing.relay);
  const successor = { ...standing.relay.successor!, session_id };
  advance(world, standing, { is: 'learnt' }, { successor });
  return true;
}

async function awaitTaken(world: World, standing: Numbered): Promise<Outcome> {
  const { relay } = standing;
  if (isSeen(world, relay, 'inject')) return make(world, standing);
  const { successor } = relay;
  if (!successor || !(await world.isRunning(successor.agent))) return gone(world, standing, successor?.agent ?? null);
  return awaitConfirmed(world, standing, { how: successor.given ?? 'keys', at: relay.at });
}

function isSeen(world: World, relay: Relay, purpose: Purpose): boolean {
  return readSeen(world, relay.relay_id, tokenOf(relay, purpose)) !== null;
}

/** Whoever is slower finds what the faster one made. */
function make(world: World, standing: Numbered, learnt: Learnt = {}): true {
  advance(world, standing, { is: 'made', step: dueOf(standing) }, learnt);
  return true;
}

function fail(world: World, standing: Numbered, code: ErrorCode, message: string, hint = ''): true {
  const failure = { step: dueOf(standing), code, message, hint };
  advance(world, standing, { is: 'failed', failure }, {});
  return true;
}

function gone(world: World, standing: Numbered, agent: Running | null): true {
  const { identity, next_agent } = standing.relay;
  const who = agent === standing.relay.predecessor ? identity : `The successor ${next_agent}`;
  return fail(world, standing, 'agent_gone', `${who} is not running any more.`, AFTER_LOSS[dueOf(standing)]);
}

const SALVAGE =
  'git handoff relay abandon, then git handoff salvage SESSION --as NAME takes up what it left, as another identity; or write the draft yourself, then git handoff relay retry.';
const AGAIN =
  'Its baton is kept: git handoff relay retry starts another one; after git handoff relay abandon, git handoff pickup takes it up by hand.';

const AFTER_LOSS: Record<LaterStep, string> = {
  instructed: SALVAGE,
  authored: SALVAGE,
  recorded: SALVAGE,
  ended: AGAIN,
  spawned: AGAIN,
  primed: AGAIN,
  injected: AGAIN,
  done: AGAIN,
};

function dueOf({ relay }: Numbered): LaterStep {
  const due = stepAfter(relay.step);
  if (due === null) throw new HandoffError('io', `Relay ${relay.relay_id} is done, and does not say so.`);
  return due;
}

function later(at: string, seconds: number): Date {
  return new Date(Date.parse(at) + seconds * 1000);
}

/** What somebody else is at is looked at again shortly. */
function soon(world: World): Date {
  return new Date(world.now().getTime() + 250);
}

function soonest(a: Date, b: Date): Date {
  return a < b ? a : b;
}
