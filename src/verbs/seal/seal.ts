import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { append, type Writer } from '../../journal/append.ts';
import type { PublishOptions } from '../../journal/commits/publish.ts';
import { publishRecords, warnIfOnNoBranch } from '../../journal/commits/publish-records.ts';
import { isHere, isStillCommitted } from '../../journal/commits/recover-records.ts';
import { requireSigner } from '../../journal/keys/identity-choice.ts';
import { type LockOptions, openLocks } from '../../journal/locks/open-locks.ts';
import { readCommitted, unmarkCommitted } from '../../journal/sessions/committed.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { whileSealing } from '../../journal/sessions/sealing.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { readBranch } from '../../repository/position.ts';
import { enterWorkTree, type Repository, requireWorkTree } from '../../repository/repository.ts';
import { findTreeSession } from '../../repository/tree-session.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { newestSeal, planSeal, type Sealed } from '../../sealing/seal-plan.ts';
import { assertIntact, assertSealable } from '../../sealing/sealable.ts';

export interface SealOptions extends SessionChoice, PublishOptions, LockOptions {}

export interface SealResult extends Sealed {
  session_id: string;
  identity: string;
  /** Nothing was added since: the seal that was there is the answer. */
  already_sealed: boolean;
  commit: string | null;
}

/** Signs the tree head over all that a session has recorded. SPEC §11.1 */
export async function seal(repository: Repository, options: SealOptions = {}): Promise<SealResult> {
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  // a session that is named is sealed with its own key, whoever asks
  const choice = options.session === undefined ? options : { session: options.session };
  const { session } = await requireSession(repository, trust, choice).catch(async (error) => {
    throw await writtenElsewhere(repository, trust, choice.session, error);
  });
  return whileSealing(dirsOf(repository), session.session_id, repository, async () => {
    const { session_id, identity } = session;
    const sealed = await newestSeal(repository, trust, session);
    if (sealed) {
      await assertIntact({ repository, trust, session });
      const commit = await settleAgain(repository, session, sealed, options);
      return { session_id, identity, ...sealed, already_sealed: true, commit };
    }
    await assertOnItsBranch(repository, session);
    const signer = await requireSigner(repository, trust, session.identity);
    const writer = { repository, session, trust, signer, locks: await openLocks(repository, trust, options) };
    await assertSealable(writer);
    const added = await appendSeal(writer);
    return {
      session_id,
      identity,
      ...added,
      already_sealed: false,
      commit: await settle(repository, session, added, options),
    };
  });
}

/** Two clones that each go on with one chain would fork it: only the one that wrote it seals it. */
async function writtenElsewhere(
  repository: Repository,
  trust: Trust,
  named: string | undefined,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof HandoffError) || error.code !== 'unknown_session' || named === undefined) return error;
  const found = await findTreeSession(await currentSource(repository), trust, named).catch(() => null);
  if (!found) return error;
  const { session_id, identity } = found;
  return new HandoffError(
    'unknown_session',
    `Session ${session_id} of ${identity} is in the tree, but was not written in this clone: it can be sealed only where it was.`,
    { hint: `Where ${identity} wrote it: git handoff seal ${session_id.slice(0, 8)}`, data: { session: named } },
  );
}

/** One that a branch elsewhere holds is not brought here by its seal: that is for a merge to do. */
async function assertOnItsBranch(repository: Repository, { session_id, folder }: Session): Promise<void> {
  const branch = readCommitted(dirsOf(repository), session_id)?.branch ?? null;
  if (branch === null || branch === readBranch(repository)) return;
  if (existsSync(join(requireWorkTree(repository), folder))) return;
  if (!(await repository.store.has(`refs/heads/${branch}:${folder}`))) return;
  throw new HandoffError('usage', `Session ${session_id} was committed on ${branch}, and is not here.`, {
    hint: `git switch ${quoteWord(branch)}, or merge it; then git handoff seal ${session_id.slice(0, 8)}`,
    data: { session_id, branch },
  });
}

/** The session may be wrapped: then it counts as committed, and has something again that no commit holds. */
export async function appendSeal(writer: Writer): Promise<Sealed> {
  const { repository, session } = writer;
  unmarkCommitted(dirsOf(repository), session.session_id);
  const { delta_id, path, fields } = await append(writer, {
    kind: 'seal',
    fields: {},
    fieldsAt: (seq) => planSeal(repository, session, seq),
  });
  return { delta_id, path, tree_size: fields.tree_size, root: fields.root };
}

/** The first attempt was cut off, or its commit taken back; else what the work tree lost is put back. */
async function settleAgain(
  repository: Repository,
  session: Session,
  sealed: Sealed,
  options: PublishOptions,
): Promise<string | null> {
  if (!(await isStillCommitted(repository, session))) {
    unmarkCommitted(dirsOf(repository), session.session_id);
    return settle(repository, session, sealed, options);
  }
  if (isHere(repository, session)) await publishRecords(repository, session, [], null, options);
  return null;
}

async function settle(
  repository: Repository,
  session: Session,
  { path, tree_size }: Sealed,
  options: PublishOptions,
): Promise<string | null> {
  const message = `handoff: ${session.identity} seals ${tree_size} record${tree_size === 1 ? '' : 's'}`;
  const commit = await publishRecords(repository, session, [path], message, options);
  warnIfOnNoBranch(repository, commit);
  return commit;
}
