import { readOldSession } from '../../audit/delta/old-session.ts';
import type { Source } from '../../audit/source/source.ts';
import { HandoffError } from '../../core/error.ts';
import type { Baton } from '../../core/record/record-summary.ts';
import { findSessions } from '../../core/session/history-queries.ts';
import { listSome } from '../../core/text/list-some.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { batonInHand } from '../../custody/baton/baton-in-hand.ts';
import { type ReceivedBaton, receiveBaton } from '../../custody/baton/received-baton.ts';
import type { Warning } from '../../custody/bundle.ts';
import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { refuseDistrusted } from '../../custody/distrust-warning.ts';
import { type KnownSessions, readKnownSessions } from '../../custody/known-sessions.ts';
import { restoreSaved } from '../../journal/saved/restore-saved.ts';
import { savedNotHere } from '../../journal/saved/saved-not-here.ts';
import { readPosition } from '../../repository/position.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { committedSource, requireTrust } from '../../repository/trusted-now.ts';
import { unknownSession } from '../../repository/unknown-session.ts';

export interface RestoreOptions extends SessionChoice {
  /** Whose changes: a session by its id, or the beginning of it. Default: what the session here was handed, or left. */
  target?: string;
}

export interface RestoreResult {
  /** The session that saved them. */
  session_id: string;
  commit: string;
  paths: string[];
  /** False where all of it was there already. */
  applied: boolean;
  warnings: Warning[];
}

/** Brings back what a session had not committed when it was wrapped. SPEC §8.6: the signed baton says which commit that is. */
export async function restore(repository: Repository, options: RestoreOptions = {}): Promise<RestoreResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const knownSessions = await readKnownSessions(repository, trust);
  const source = knownSessions.source ?? (await committedSource(repository, await readPosition(repository)));
  const found = await findBaton(repository, trust, knownSessions, source, options);
  const baton = await receiveBaton(repository, source, found);
  const commit = await requireSaved(repository, baton);
  return { session_id: baton.session_id, commit, ...(await restoreSaved(repository, commit)) };
}

async function findBaton(
  repository: Repository,
  trust: Trust,
  knownSessions: KnownSessions,
  source: Source,
  { target, ...choice }: RestoreOptions,
): Promise<Baton> {
  if (target !== undefined) return batonOf(knownSessions, source, target);
  const { session } = await requireSession(repository, trust, choice);
  const baton = batonInHand(knownSessions, session);
  if (baton) return baton;
  throw new HandoffError('nothing_saved', `Session ${session.session_id.slice(0, 8)} was handed no baton.`, {
    hint: 'Name the session whose changes they are: git handoff restore SESSION; git handoff sessions lists them.',
  });
}

async function batonOf({ history, trust, distrusted }: KnownSessions, source: Source, name: string): Promise<Baton> {
  const [found, ...others] = findSessions(history, name);
  const session = found ?? (await readOldSession(source, trust, nodeSuite, name));
  if (!session) await refuseDistrusted(source, distrusted, name);
  if (!session || others.length > 0) throw unknownSession(name, found ? [found, ...others] : []);
  if (session.baton) return session.baton;
  throw new HandoffError('nothing_saved', `Session ${session.session_id.slice(0, 8)} has left no baton.`, {
    hint: 'Changes are saved when a session is wrapped; until then they are in its work tree.',
  });
}

/** The commit that the baton names, whatever the ref says by now. */
async function requireSaved(repository: Repository, { session_id, saved }: ReceivedBaton): Promise<string> {
  const sid8 = session_id.slice(0, 8);
  if (!saved) {
    throw new HandoffError('nothing_saved', `Session ${sid8} had committed everything when it was wrapped.`, {
      hint: 'There is nothing to bring back: its work is in its commits.',
    });
  }
  if (saved.commit === null) {
    const paths = listSome([...saved.paths, ...(saved.more ? [`${saved.more} more`] : [])], 10);
    throw new HandoffError(
      'nothing_saved',
      `What session ${sid8} had not committed was named and not saved: ${paths}.`,
      {
        hint: 'It is in the work tree in which that session was, if it still is.',
        data: { paths: saved.paths },
      },
    );
  }
  if (await repository.store.has(saved.commit)) return saved.commit;
  throw savedNotHere(await repository.config(), session_id, saved.commit);
}
