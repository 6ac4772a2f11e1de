import type { HandoffError } from '../../core/error.ts';
import { newestBaton, pendingSignals, reinstatedTasks } from '../../core/session/history-queries.ts';
import { findOwn } from '../../core/session/session-summary.ts';
import { batonInHand } from '../../custody/baton/baton-in-hand.ts';
import { pickedUpTwice } from '../../custody/baton/picked-up-twice.ts';
import { type RecentDelta, reminders, toRecentDelta, type Warning } from '../../custody/bundle.ts';
import { type SessionChoice, shownSession } from '../../custody/chosen-session.ts';
import { distrustWarnings } from '../../custody/distrust-warning.ts';
import { openElsewhere } from '../../custody/elsewhere.ts';
import { type KnownSessions, readKnownSessions } from '../../custody/known-sessions.ts';
import { type LeftOut, leftOutOf, leftOutWarnings, partOf } from '../../custody/left-out.ts';
import { readTodos, type Todos } from '../../custody/todos.ts';
import { BOT, knownIdentity } from '../../journal/keys/identity-choice.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { isActive, type SessionState } from '../../journal/sessions/liveness.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { waitingConflict } from '../../repository/conflict.ts';
import { readPosition } from '../../repository/position.ts';
import { readProject } from '../../repository/project.ts';
import type { Repository } from '../../repository/repository.ts';
import { committedSource, requireTrust } from '../../repository/trusted-now.ts';
import { contextWarning } from '../agents/context-warning.ts';
import { readContextUsed } from '../agents/event-state.ts';

export interface StatusResult {
  identity: string;
  session: { session_id: string; state: SessionState; started_at: string; inherited_from: string | null } | null;
  /** What this session was handed or, once it is wrapped, what it left; without one what a pickup would hand over now. */
  /** The command that goes to the work tree which has the open session, where this one has none. */
  cd: string | null;
  baton: (RecentDelta & { next_agent: string | null; focus: string[] }) | null;
  project: string | null;
  phase: string | null;
  branch: string | null;
  head: string | null;
  tasks: Todos;
  /** The tasks that this session has claimed. */
  claimed: string[];
  /** Percent of the context of this session's agent, as its program said last; null where it says nothing. */
  context_used: number | null;
  pending_signals: number;
  active_sessions: { session_id: string; identity: string }[];
  rules_reminders: string[];
  left_out: LeftOut;
  warnings: Warning[];
}

/** The status card: who, where, with what in hand. It changes nothing. */
export async function status(repository: Repository, options: SessionChoice = {}): Promise<StatusResult> {
  const trust = await requireTrust(repository);
  const named = await knownIdentity(repository, trust, options.as);
  const knownSessions = await readKnownSessions(repository, trust);
  const { session, ambiguity } = await shownSession(repository, trust, options);
  const identity = session?.identity ?? named ?? BOT;
  const live = knownSessions.live.find((each) => each.session.session_id === session?.session_id) ?? null;
  const position = await readPosition(repository);
  const source = await committedSource(repository, position);
  const summary = session && findOwn(knownSessions.history.sessions, session);
  const baton = session ? batonInHand(knownSessions, session) : newestBaton(knownSessions.history);
  const tasks = await readTodos(
    repository,
    knownSessions.source ?? source,
    knownSessions.trust,
    knownSessions.history,
    baton?.focus ?? [],
  );
  const { project, phase } = await readProject(repository, source, trust);
  const context_used = session && (readContextUsed(repository, session)?.used_percentage ?? null);
  const conflict = await waitingConflict(repository);
  const parts = {
    focus: partOf('focus', tasks.focus),
    active_sessions: partOf('active_sessions', activeSessions(knownSessions)),
  };
  return {
    identity,
    session: session && {
      session_id: session.session_id,
      state: live?.liveness.state ?? 'stale',
      started_at: session.opened_at,
      inherited_from: session.inherited_from,
    },
    cd: session ? null : (openElsewhere(repository, trust, named)[0]?.cd ?? null),
    baton: baton && { ...toRecentDelta(baton), next_agent: baton.next_agent, focus: baton.focus },
    project,
    phase,
    ...position,
    tasks: { ...tasks, focus: parts.focus.shown },
    claimed: session ? readClaims(dirsOf(repository), session.session_id).map(({ task }) => task) : [],
    context_used,
    pending_signals: pendingSignals(knownSessions.history, identity).length,
    active_sessions: parts.active_sessions.shown,
    rules_reminders: summary?.baton ? [WRAPPED] : reminders(tasks, summary, reinstatedTasks(knownSessions.history)),
    left_out: leftOutOf(parts),
    warnings: [
      ...(conflict ? [{ kind: 'in_conflict', message: `${conflict.message} ${conflict.hint}` }] : []),
      ...(ambiguity ? [toWarning(ambiguity)] : []),
      ...(live ? endWarnings(live.liveness.end) : []),
      ...(session && context_used !== null ? contextWarning(identity, session.session_id, context_used) : []),
      ...(session && !summary?.baton ? pickedUpTwice(knownSessions, session) : []),
      ...leftOutWarnings(leftOutOf(parts)),
      ...distrustWarnings(knownSessions.distrusted),
    ],
  };
}

function toWarning({ code, message, hint }: HandoffError): Warning {
  return { kind: code, message: `${message} ${hint ?? ''}`.trimEnd() };
}

function activeSessions({ live }: KnownSessions): StatusResult['active_sessions'] {
  return live
    .filter(({ liveness }) => isActive(liveness))
    .map(({ session: { session_id, identity } }) => ({ session_id, identity }));
}

const WRAPPED = 'This session is wrapped. Whoever goes on from it: git handoff pickup --as NAME';

function endWarnings(end: { identity: string; reason: string } | null): Warning[] {
  return end ? [{ kind: 'session_released', message: `Released by ${end.identity}: ${end.reason}. Stop here.` }] : [];
}
