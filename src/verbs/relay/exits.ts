import { HandoffError } from '../../core/error.ts';
import { advance, type Learnt } from '../../relay/cycle/advance.ts';
import { type Numbered, readRelay } from '../../relay/cycle/chain.ts';
import { isWritten } from '../../relay/cycle/drive.ts';
import { dueStep, exitsOf, next, type RelayEvent } from '../../relay/cycle/next.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import { type Exit, isBefore, isOver } from '../../relay/cycle/steps.ts';
import { assertReason } from '../../relay/cycle/trigger.ts';
import type { World } from '../../relay/cycle/world.ts';
import type { Repository } from '../../repository/repository.ts';
import { drivenFrom } from './behind.ts';
import { entryOf, type RelayEntry, requireRelay } from './relays.ts';
import { openWorld } from './world.ts';

/** Again from the step that failed. What was done by then is looked at first, and not done twice. */
export async function relayRetry(repository: Repository, { id }: { id: string }): Promise<RelayEntry> {
  return leave(repository, id, 'retry', async (world, { relay }) => {
    const facts = { isWritten: isWritten(relay), isSuccessorGone: !(await isSuccessorThere(world, relay)) };
    const event: RelayEvent = { is: 'retry', facts };
    const back = next(relay, event)?.step;
    // what was taken before is no proof that it was taken again
    const isAnew = (back === 'initiated' && relay.failure?.step === 'authored') || back === 'ended';
    const successor = relay.successor && { ...relay.successor, given: null };
    return { event, learnt: { successor, ...(isAnew ? { attempt: relay.attempt + 1 } : {}) } };
  });
}

/** Stops here. Whoever is alive keeps the work. */
export async function relayAbandon(repository: Repository, { id }: { id: string }): Promise<RelayAbandoned> {
  const entry = await leave(repository, id, 'abandon', async () => ({ event: { is: 'abandon' } }));
  return { ...entry, left: whatIsLeft(entry) };
}

/** `left`: who has the work now, and how it goes on. */
export type RelayAbandoned = RelayEntry & { left: string };

/** Goes on although nobody confirmed it; that somebody said so stands in the relay. */
export async function relayForce(
  repository: Repository,
  { id, reason }: { id: string; reason: string },
): Promise<RelayEntry> {
  assertReason(reason);
  return leave(repository, id, 'force', async (world, { relay }) => {
    const forced = [...relay.forced, { step: dueStep(relay), reason, at: world.now().toISOString() }];
    return { event: { is: 'force' }, learnt: { forced } };
  });
}

type Way = (world: World, standing: Numbered) => Promise<{ event: RelayEvent; learnt?: Learnt }>;

const TRIES = 20;

async function leave(repository: Repository, name: string, exit: Exit, way: Way): Promise<RelayEntry> {
  const id = requireRelay(repository, name);
  const world = openWorld(repository);
  for (let tries = 0; tries < TRIES; tries++) {
    const standing = readRelay(repository, id);
    if (!standing) break;
    if (!exitsOf(standing.relay).includes(exit)) throw noExit(standing.relay, exit);
    const { event, learnt } = await way(world, standing);
    if (!advance(world, standing, event, learnt)) continue; // somebody was faster: where does it stand now?
    drivenFrom(repository);
    return entryOf(repository, id);
  }
  throw new HandoffError('io', `Relay ${id} changes all the time.`, { hint: 'Run the command again.' });
}

function noExit(relay: Relay, exit: Exit): HandoffError {
  const exits = exitsOf(relay);
  const message = isOver(relay)
    ? `Relay ${relay.relay_id} is ${relay.state}: nothing is left to ${exit}.`
    : `Relay ${relay.relay_id} is ${relay.state === 'failed' ? `failed at ${dueStep(relay)}` : `under way to ${dueStep(relay)}`}: there is nothing to ${exit}.`;
  return new HandoffError('usage', message, {
    hint:
      exits.length > 0 ? `What can be done there: ${exits.join(', ')}.` : `git handoff relay show ${relay.relay_id}`,
    data: { relay: relay.relay_id, exits },
  });
}

async function isSuccessorThere(world: World, { successor }: Relay): Promise<boolean> {
  return successor !== null && world.isRunning(successor.agent);
}

function whatIsLeft({ step, identity, session_id, successor }: RelayEntry): string {
  const sid8 = session_id.slice(0, 8);
  if (isBefore(step, 'recorded')) return `${identity} keeps the work: session ${sid8} is as it was.`;
  if (successor?.session_id) return `The successor keeps the work, in session ${successor.session_id.slice(0, 8)}.`;
  const runs = successor ? ' A successor was started and has no session: git handoff agent list.' : '';
  return `Session ${sid8} is wrapped, and its baton waits: git handoff pickup --from-session ${sid8}.${runs}`;
}
