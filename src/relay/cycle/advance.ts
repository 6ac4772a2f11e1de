import type { TimeAndHost } from '../../repository/parts.ts';
import { linkStep, type Numbered, readRelay, type State } from './chain.ts';
import { next, type RelayEvent } from './next.ts';
import type { Relay } from './relay.ts';

/** What is learnt with a step. */
export type Learnt = Partial<Pick<Relay, 'baton' | 'successor' | 'attempt' | 'forced' | 'predecessor_runtime_session'>>;

/**
 * Applies an event to where a relay stands now. Null where it means nothing there, or somebody else was faster: then what
 * they made is looked at again.
 */
export function advance(
  place: State & Pick<TimeAndHost, 'now'>,
  { number, relay }: Numbered,
  event: RelayEvent,
  learnt: Learnt = {},
): Numbered | null {
  const standing = next(relay, event);
  if (!standing) return null;
  const made: Relay = { ...relay, ...learnt, ...standing, at: place.now().toISOString() };
  if (!linkStep(place, number + 1, made)) return null;
  return { number: number + 1, relay: made };
}

/** The same, for an event that has happened whatever somebody else does meanwhile. */
export function advanceNow(
  place: State & Pick<TimeAndHost, 'now'>,
  id: string,
  event: (relay: Relay) => { event: RelayEvent; learnt?: Learnt } | null,
): Numbered | null {
  for (let tries = 0; tries < MOST; tries++) {
    const standing = readRelay(place, id);
    const happened = standing && event(standing.relay);
    if (!happened || !next(standing.relay, happened.event)) return null;
    const made = advance(place, standing, happened.event, happened.learnt);
    if (made) return made;
  }
  return null;
}

/** More than anybody makes at once. */
const MOST = 20;
