import { parseRecord } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import { newestBaton } from '../../core/session/history-queries.ts';
import { assertTask } from '../../core/task/name.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { tidyHolder } from '../../custody/at-work.ts';
import { type Bundle, type Delta, readBundle, toDelta, type Warning } from '../../custody/bundle.ts';
import { currentSession } from '../../custody/chosen-session.ts';
import { distrustWarnings } from '../../custody/distrust-warning.ts';
import { type Known, readKnown } from '../../custody/known-sessions.ts';
import { leftOutWarnings } from '../../custody/left-out.ts';
import { identityConflict, identityHolder, openSession, takeOver } from '../../custody/open-session.ts';
import { tidyKnown } from '../../custody/tidy.ts';
import { append, assertDraft, beat, type Writer } from '../../journal/append.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { keepTrailers, writeTrailers } from '../../journal/commits/trailers.ts';
import { BOT, namedIdentity, requireSigner } from '../../journal/keys/acting.ts';
import { type HoldOptions, type Holds, holderOf, openHolds } from '../../journal/locks/holds.ts';
import { endIfSuperseded } from '../../journal/locks/superseded.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { pointTo } from '../../journal/sessions/pointers.ts';
import { type End, readEntry } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { positionFields, readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { committedSource, requireTrust } from '../../repository/trusted-now.ts';

export interface StartOptions extends PublishOptions, HoldOptions {
  as?: string;
  task?: string;
  intent?: string;
}

export interface StartResult extends Bundle {
  session_id: string;
  identity: string;
  start_delta_id: string;
  resumed: boolean;
  last_wrapped: Delta | null;
  instruction: string;
  warnings: Warning[];
}

/** Opens fresh work, or finds the session this work tree is in. SPEC §8.5. Signals stay where they are. */
export async function start(repository: Repository, options: StartOptions = {}): Promise<StartResult> {
  enterWorkTree(repository);
  if (options.task !== undefined) assertTask(options.task);
  const trust = await requireTrust(repository);
  const identity = (await namedIdentity(repository, options.as)) ?? BOT;
  const signer = await requireSigner(repository, trust, identity);
  const holds = await openHolds(repository, trust, options);
  const before = await currentSession(repository, trust, identity);
  const resumed = before && (await resume(repository, trust, holds, before)) ? before : null;
  const known = await readKnown(repository, trust);
  if (resumed) await tidyKnown(repository, trust, known);
  if (resumed) keepTrailers(repository, resumed, options.task ?? null);
  if (resumed) return answer(repository, trust, known, resumed, firstId(repository, resumed), true);
  const position = await readPosition(repository);
  const { intent, task } = options;
  const fields = { ...(intent ? { intent } : {}), ...(task ? { task } : {}), ...positionFields(position) };
  assertDraft(trust, identity, { kind: 'start', fields });
  const session = await enter(repository, trust, known, holds, identity);
  const writer: Writer = { repository, session, trust, signer, holds };
  pointTo(dirsOf(repository), session);
  writeTrailers(repository, session, task ?? null);
  const { delta_id, path } = await append(writer, { kind: 'start', fields });
  await publishRecords(repository, session, [path], options.commit ? `handoff: ${identity} starts` : null, options);
  const why = before ? endWarnings(withLiveness(repository, trust, before).liveness.end) : [];
  const result = await answer(repository, trust, known, session, delta_id, false);
  return { ...result, warnings: [...why, ...result.warnings] };
}

/** Whether the identity's session in this work tree is open, here and on the remote. */
async function resume(repository: Repository, trust: Trust, holds: Holds, session: Session): Promise<boolean> {
  const { liveness } = withLiveness(repository, trust, session);
  if (!liveness.opened || !isOpen(liveness)) return false;
  if (await endIfSuperseded(repository, holds, session)) return false;
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

/** One of its own that has gone stale elsewhere makes way. */
async function enter(
  repository: Repository,
  trust: Trust,
  known: Known,
  holds: Holds,
  identity: string,
): Promise<Session> {
  const prior = await identityHolder(repository, trust, known, holds, identity);
  const { held, live, active } = prior;
  if (active) throw identityConflict(identity, held!.holder);
  await tidyKnown(repository, trust, known);
  tidyHolder(repository, prior);
  return openSession(repository, holds, { identity, inherited_from: null, prior: held }, async (session) => {
    if (live?.liveness.state !== 'stale') return;
    const { session_id } = live.session;
    const holder = holderOf(repository.host.name, session, session.opened_at, 'superseded_while_stale');
    await takeOver(repository, holds, session_id, await holds.read(`session/${session_id}`), holder);
  });
}

function firstId(repository: Repository, { session_id }: Session): string {
  const entry = readEntry(dirsOf(repository), session_id, 1);
  if (!('bytes' in entry)) throw new Error(`Session ${session_id} has no first record.`);
  return recordId(parseRecord(entry.bytes).signedBytes, nodeSuite);
}

async function answer(
  repository: Repository,
  trust: Trust,
  known: Known,
  session: Session,
  start_delta_id: string,
  resumed: boolean,
): Promise<StartResult> {
  const position = await readPosition(repository);
  const source = await committedSource(repository, position);
  const bundle = await readBundle(repository, source, trust, known, session, [], position);
  const baton = newestBaton(known.history);
  return {
    session_id: session.session_id,
    identity: session.identity,
    start_delta_id,
    resumed,
    ...bundle,
    last_wrapped: baton && toDelta(baton),
    instruction: resumed
      ? 'Show the status card and go on: this is the session you were in.'
      : 'Show the status card. To continue what somebody wrapped, use pickup: start does not hand you the baton.',
    warnings: [...leftOutWarnings(bundle.left_out), ...distrustWarnings(known.distrusted)],
  };
}
