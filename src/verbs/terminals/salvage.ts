import { HandoffError } from '../../core/error.ts';
import { draftBaton, withoutBlanks } from '../../custody/baton/baton-draft.ts';
import type { Warning } from '../../custody/bundle.ts';
import { chosenIdentity } from '../../custody/chosen-session.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { type LockOptions, openLocks } from '../../journal/locks/open-locks.ts';
import type { Saved } from '../../journal/saved/saved-name.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { pointedSessions } from '../../journal/sessions/pointers.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../../journal/sessions/session-state.ts';
import { enterWorkTree, openTreeAt, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { workTreeCalled } from '../../repository/work-trees.ts';
import { pickup } from '../session/pickup.ts';
import { type WrapResult, wrap } from '../session/wrap.ts';
import { knownWork } from '../session/wrap-draft.ts';
import { assertMayTake, requireLost } from './lost-session.ts';

export interface SalvageOptions extends LockOptions {
  target: string;
  as?: string;
  /** Although it shows signs of life. */
  force?: boolean;
  /** Who should continue. */
  nextAgent?: string;
}

export interface SalvageResult {
  /** The session that holds the baton: whoever salvages has picked up the work, and put it down again. */
  session_id: string;
  identity: string;
  salvaged_session_id: string;
  salvaged_identity: string;
  baton: WrapResult['baton'];
  /** What was not committed; null where all was. */
  saved: Saved | null;
  commit: string | null;
  warnings: Warning[];
}

/**
 * An agent ended without a word: its work is picked up, what is not committed is saved, and a baton says what is known, so that
 * anybody can go on. Cut off anywhere, the same command goes on: whoever has picked up has not wrapped yet.
 */
export async function salvage(repository: Repository, options: SalvageOptions): Promise<SalvageResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  const identity = await chosenIdentity(repository, trust, options.as);
  const lost = await requireLost(repository, trust, options.target, identity);
  const path = workTreeCalled(repository.dirs, lost.session.worktree);
  const there = path === null || path === repository.dirs.topLevel ? repository : await openTreeAt(repository, path);
  try {
    return await salvageThere(there, { identity, lost: lost.session, isBegun: lost.isBegun }, options);
  } finally {
    if (there !== repository) await there.close();
  }
}

interface Salvaging {
  identity: string;
  lost: Session;
  /** By whom is salvaging, who was cut off. */
  isBegun: boolean;
}

async function salvageThere(
  repository: Repository,
  { identity, lost, isBegun }: Salvaging,
  { force = false, nextAgent, ...locking }: SalvageOptions,
): Promise<SalvageResult> {
  const trust = await requireTrust(repository);
  const locks = await openLocks(repository, trust, locking);
  if (!isBegun) await assertMayTake(repository, trust, locks, { lost, identity, force });
  const taken = isBegun ? await begun(repository, identity, lost) : await take(repository, identity, lost, locking);
  const body = await describe(repository, lost, taken.tasks);
  const { session_id } = taken;
  const who = { as: identity, session: session_id, ...(nextAgent ? { nextAgent } : {}) };
  const summary = `What ${lost.identity} left in session ${lost.session_id.slice(0, 8)}, put together from what is known`;
  const wrapped = await wrapKnown(repository, { ...who, summary, ...lock(locking) }, body, summary);
  const { baton, saved, commit, warnings } = wrapped;
  const salvaged = { salvaged_session_id: lost.session_id, salvaged_identity: lost.identity };
  const told = [...taken.warnings.filter(({ kind }) => kind !== 'no_baton'), ...warnings]; // now there is one
  return { session_id, identity, ...salvaged, baton, saved, commit, warnings: told };
}

interface Taken {
  session_id: string;
  tasks: string[];
  warnings: Warning[];
}

const REASON = 'salvaged';

async function take(repository: Repository, as: string, lost: Session, locking: LockOptions): Promise<Taken> {
  const fromSession = lost.session_id;
  const picked = await pickup(repository, { as, fromSession, force: true, reason: REASON, ...lock(locking) });
  const { session_id, tasks, warnings } = picked;
  return { session_id, tasks: tasks.map(({ task_id }) => task_id), warnings };
}

/** The session in which this was tried before. */
async function begun(repository: Repository, identity: string, lost: Session): Promise<Taken> {
  const trust = await requireTrust(repository);
  const own = pointedSessions(dirsOf(repository), repository.worktree).find(
    (session) =>
      session.identity === identity &&
      session.inherited_from === lost.session_id &&
      isOpen(withLiveness(repository, trust, session).liveness),
  );
  if (!own) throw new Error(`Session ${lost.session_id} is being salvaged by nobody.`);
  const tasks = readClaims(dirsOf(repository), own.session_id).map(({ task }) => task);
  return { session_id: own.session_id, tasks, warnings: [] };
}

function lock({ local }: LockOptions): LockOptions {
  return local === undefined ? {} : { local };
}

/** In the words of the tool, but for what is in the records; what nobody has said is left open. */
async function describe(repository: Repository, lost: Session, tasks: readonly string[]): Promise<string> {
  const trust = await requireTrust(repository);
  const work = await knownWork(repository, trust, lost, tasks);
  const last = work.records.at(-1)?.record.fields.at ?? lost.opened_at;
  const head = [
    `${lost.identity} ended without a word in session ${lost.session_id}, begun ${lost.opened_at}, last record ${last}.`,
    'Nobody who did the work wrote what follows: it was put together from its records, its commits and its files.',
  ];
  return `${head.join('\n')}\n\n${withoutBlanks(draftBaton(trust.policy.rules.sections, work))}`;
}

/** A name of a file, or a commit's subject, may look like a secret: then the baton goes without what is only repeated there. */
async function wrapKnown(
  repository: Repository,
  options: Omit<Parameters<typeof wrap>[1], 'message' | 'reconstructed' | 'reason'>,
  body: string,
  summary: string,
): Promise<WrapResult> {
  const given = { ...options, reason: REASON, reconstructed: true as const };
  try {
    return await wrap(repository, { ...given, message: body });
  } catch (error) {
    if (!(error instanceof HandoffError) || error.code !== 'secret_found') throw error;
    return wrap(repository, {
      ...given,
      message: `${summary}.\n\nThe rest looks like a secret: see its records and commits.\n`,
    });
  }
}
