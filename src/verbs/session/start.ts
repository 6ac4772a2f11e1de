import { parseRecord } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import { newestBaton, pendingSignals } from '../../core/session/history-queries.ts';
import { assertTask } from '../../core/task/name.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { forYouWarnings } from '../../custody/baton/not-picked-up.ts';
import { pickedUpTwice } from '../../custody/baton/picked-up-twice.ts';
import { beginSession } from '../../custody/begin-session.ts';
import { type Bundle, type RecentDelta, readBundle, toRecentDelta, type Warning } from '../../custody/bundle.ts';
import { chosenIdentity, workTreeSession } from '../../custody/chosen-session.ts';
import { distrustWarnings } from '../../custody/distrust-warning.ts';
import { type KnownSessions, readKnownSessions } from '../../custody/known-sessions.ts';
import { leftOutWarnings } from '../../custody/left-out.ts';
import { tidyKnownSessions } from '../../custody/tidy.ts';
import { beat } from '../../journal/append.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { keepTrailers } from '../../journal/commits/trailers.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { type LockOptions, type Locks, openLocks } from '../../journal/locks/open-locks.ts';
import { endIfSuperseded } from '../../journal/locks/superseded.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { pointTo } from '../../journal/sessions/pointers.ts';
import { type End, readEntry } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { committedSource, requireTrust } from '../../repository/trusted-now.ts';

export interface StartOptions extends PublishOptions, LockOptions {
  as?: string;
  task?: string;
  intent?: string;
}

export interface StartResult extends Bundle {
  session_id: string;
  identity: string;
  start_delta_id: string;
  resumed: boolean;
  last_wrapped: RecentDelta | null;
  instruction: string;
  warnings: Warning[];
}

/** Opens fresh work, or finds the session this work tree is in. SPEC §8.5. Signals stay where they are. */
export async function start(repository: Repository, options: StartOptions = {}): Promise<StartResult> {
  enterWorkTree(repository);
  if (options.task !== undefined) assertTask(options.task);
  const trust = await requireTrust(repository);
  const identity = await chosenIdentity(repository, trust, options.as);
  const signer = await requireSigner(repository, trust, identity);
  const locks = await openLocks(repository, trust, options);
  const before = await workTreeSession(repository, trust, identity);
  const resumed = before && (await resume(repository, trust, locks, before)) ? before : null;
  const knownSessions = await readKnownSessions(repository, trust);
  if (resumed) await tidyKnownSessions(repository, trust, knownSessions);
  if (resumed) keepTrailers(repository, resumed, options.task ?? null);
  if (resumed) return answer(repository, trust, knownSessions, resumed, firstId(repository, resumed), true);
  const { intent, task } = options;
  const about = { ...(intent ? { intent } : {}), ...(task ? { task } : {}) };
  const opener = { repository, trust, knownSessions, locks, identity, signer };
  const { writer, delta_id, path } = await beginSession(opener, about);
  const { session } = writer;
  await publishRecords(repository, session, [path], options.commit ? `handoff: ${identity} starts` : null, options);
  const why = before ? endWarnings(withLiveness(repository, trust, before).liveness.end) : [];
  const result = await answer(repository, trust, knownSessions, session, delta_id, false);
  return { ...result, warnings: [...why, ...result.warnings] };
}

/** Whether the identity's session in this work tree is open, here and on the remote. */
async function resume(repository: Repository, trust: Trust, locks: Locks, session: Session): Promise<boolean> {
  const { liveness } = withLiveness(repository, trust, session);
  if (!liveness.opened || !isOpen(liveness)) return false;
  if (await endIfSuperseded(repository, locks, session)) return false;
  pointTo(dirsOf(repository), session);
  beat(repository, session);
  return true;
}

/** Why this is not the session that was here before. */
function endWarnings(end: End | null): Warning[] {
  if (!end) return [];
  const message = `The session before this one was released by ${end.identity}: ${end.reason}. This is a new one.`;
  return [{ kind: 'session_released', message }];
}

/** They stay where they are: pickup hands them over. */
function messageWarnings({ history }: KnownSessions, { identity }: Session): Warning[] {
  const { length } = pendingSignals(history, identity);
  if (length === 0) return [];
  const what = length === 1 ? '1 message waits' : `${length} messages wait`;
  const command = `git handoff signal pending --as ${quoteWord(identity)}`;
  return [{ kind: 'messages_waiting', message: `${what} for ${identity}: ${command}` }];
}

function firstId(repository: Repository, { session_id }: Session): string {
  const entry = readEntry(dirsOf(repository), session_id, 1);
  if (!('bytes' in entry)) throw new Error(`Session ${session_id} has no first record.`);
  return recordId(parseRecord(entry.bytes).signedBytes, nodeSuite);
}

async function answer(
  repository: Repository,
  trust: Trust,
  knownSessions: KnownSessions,
  session: Session,
  start_delta_id: string,
  resumed: boolean,
): Promise<StartResult> {
  const position = await readPosition(repository);
  const source = await committedSource(repository, position);
  const bundle = await readBundle(repository, source, trust, knownSessions, session, [], position);
  const baton = newestBaton(knownSessions.history);
  return {
    session_id: session.session_id,
    identity: session.identity,
    start_delta_id,
    resumed,
    ...bundle,
    last_wrapped: baton && toRecentDelta(baton),
    instruction: resumed
      ? 'Show the status card and go on: this is the session you were in.'
      : 'Show the status card. To continue what somebody wrapped, use pickup: start does not hand you the baton.',
    warnings: [
      ...(resumed ? [] : forYouWarnings(knownSessions, session.identity, repository.now())),
      ...messageWarnings(knownSessions, session),
      ...pickedUpTwice(knownSessions, session),
      ...leftOutWarnings(bundle.left_out),
      ...distrustWarnings(knownSessions.distrusted),
    ],
  };
}
