import { HandoffError } from '../core/error.ts';
import type { Trust } from '../core/trust/trust.ts';
import { holderOf, isElsewhere, type LockState, type Locks } from '../journal/locks/open-locks.ts';
import { hasBegun, isOpen } from '../journal/sessions/liveness.ts';
import { readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../journal/sessions/session-state.ts';
import type { Directories, GitAccess, Settings, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import type { HolderState } from './at-work.ts';
import type { KnownSessions } from './known-sessions.ts';
import { openSession, takeOver } from './open-session.ts';
import type { Predecessor } from './predecessor.ts';

export interface Entered {
  session: Session;
  /** Sessions that were alive and were taken over by force. */
  released: { session_id: string; identity: string; reason: string }[];
}

const PREEMPTED = 'preempted_by_pickup';
const PICKED_UP = 'picked_up';

/** The session that wants custody, and what was read before. */
export interface Entering {
  trust: Trust;
  knownSessions: KnownSessions;
  locks: Locks;
  identity: string;
  /** Who had the identity before. */
  prior: HolderState;
}

/**
 * The identity, then custody of the predecessor: whoever loses either has changed nothing. SPEC §8.5. Then `moveIn`, for whoever
 * has won both.
 */
export async function enterCustody(
  repository: Pick<GitAccess, 'git'> & Directories & Settings & StateDirectory & TimeAndHost,
  { trust, knownSessions, locks, identity, prior }: Entering,
  predecessor: Predecessor | null,
  moveIn: (session: Session) => Promise<void>,
): Promise<Entered> {
  const victims = victimsOf(prior, predecessor);
  const opening = { identity, inherited_from: predecessor?.session.session_id ?? null, prior: prior.held };
  const session = await openSession(repository, locks, opening, async (heir) => {
    for (const victim of victims) {
      const held = await locks.read(`session/${victim.session_id}`);
      if (victim.isPredecessor && isTaken(repository, trust, knownSessions, victim.session_id, held))
        throw pickedUp(victim, held);
      const holder = holderOf(repository.host.name, heir, heir.opened_at, victim.active ? PREEMPTED : PICKED_UP);
      // the identity's own last session only has to be out of the way, whoever put it there
      if (!(await takeOver(repository, locks, victim.session_id, held, holder)) && victim.isPredecessor)
        throw pickedUp(victim, await locks.read(`session/${victim.session_id}`));
    }
    await moveIn(heir);
  });
  return { session, released: victims.filter(({ active }) => active).map(toReleased) };
}

interface Victim {
  session_id: string;
  identity: string;
  active: boolean;
  isPredecessor: boolean;
}

/** Whose place is taken: first the predecessor's, for which others compete; then that of the identity's last session. */
function victimsOf(prior: HolderState, predecessor: Predecessor | null): Victim[] {
  const isInTheWay = prior.live ? isOpen(prior.live.liveness) : prior.active;
  const own = isInTheWay ? prior.held!.holder : null;
  const victims: Victim[] = [];
  if (predecessor) {
    const { session_id, identity } = predecessor.session;
    const active = predecessor.active || (own?.session_id === session_id && prior.active);
    victims.push({ session_id, identity, active, isPredecessor: true });
  }
  if (own && own.session_id !== predecessor?.session.session_id) {
    const { session_id, identity } = own;
    victims.push({ session_id, identity, active: prior.active, isPredecessor: false });
  }
  return victims;
}

/** Whether somebody has continued it since it was chosen: a second heir would fork custody. */
function isTaken(
  repository: StateDirectory & TimeAndHost,
  trust: Trust,
  { history, live }: KnownSessions,
  victim: string,
  held: LockState | null,
): boolean {
  const { session_id = victim, reason } = held?.holder ?? {};
  const isSeen = live.some(({ session, liveness }) => session.session_id === session_id && liveness.opened);
  if (session_id === victim || isSeen) return false;
  const heir = readSession(dirsOf(repository), session_id);
  if (heir) {
    const { liveness } = withLiveness(repository, trust, heir);
    return heir.inherited_from === victim && hasBegun(liveness);
  }
  if (!held || !isElsewhere(held) || (reason !== PREEMPTED && reason !== PICKED_UP)) return false;
  return !history.sessions.some((session) => session.session_id === session_id);
}

function toReleased({ session_id, identity }: Victim): Entered['released'][number] {
  return { session_id, identity, reason: PREEMPTED };
}

function pickedUp({ session_id, identity }: Victim, held: LockState | null): HandoffError {
  const by = held?.holder;
  return new HandoffError(
    'predecessor_active',
    `Session ${session_id} of ${identity} was picked up by ${by?.identity ?? 'somebody'} first.`,
    {
      hint: 'git handoff sessions shows who works on what. Fetch if it is on another machine; then pick up from there.',
      data: { session_id: by?.session_id ?? session_id, identity: by?.identity ?? identity },
    },
  );
}
