import { ROOT } from '../../core/paths.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { draftBaton, type KnownWork } from '../../custody/baton/baton-draft.ts';
import { requireSession, type SessionChoice } from '../../custody/chosen-session.ts';
import { journalled } from '../../custody/known-sessions.ts';
import { readUncommitted } from '../../git/index/uncommitted.ts';
import { readGit } from '../../git/run.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { shownPath } from '../../journal/saved/saved-name.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { type Repository, requireWorkTree } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';

export interface WrapDraft {
  /** Markdown, to be completed and given to `wrap`. */
  draft: string;
}

/** What can be known of a baton before anybody writes it. Nothing is written, and the session stays open. */
export async function wrapDraft(repository: Repository, options: SessionChoice = {}): Promise<WrapDraft> {
  requireWorkTree(repository);
  const trust = await requireTrust(repository);
  const { session } = await requireSession(repository, trust, options);
  const claimed = readClaims(dirsOf(repository), session.session_id).map(({ task }) => task);
  const work = await knownWork(repository, trust, session, claimed);
  return { draft: draftBaton(trust.policy.rules.sections, work) };
}

/** What is known of a session here, in the work tree that it is in. */
export async function knownWork(
  repository: Repository,
  trust: Trust,
  session: Session,
  claimed: readonly string[],
): Promise<KnownWork> {
  const records = await journalled(repository, trust, session);
  const uncommitted = (await readUncommitted(repository.git, ROOT)).map(({ path }) => shownPath(path));
  const { head = null } = records[0] && 'head' in records[0].record.fields ? records[0].record.fields : {};
  const commits = await commitsSince(repository, typeof head === 'string' ? head : null);
  return { records, claimed, uncommitted, ...commits };
}

const MOST_COMMITS = 20;

/** Commits that change code: one that has records alone is no work to hand over. */
async function commitsSince({ git, store }: GitAccess, head: string | null) {
  if ((await store.resolve('HEAD')) === null) return { commits: [], moreCommits: 0 };
  if (head !== null && !(await store.has(head))) return { commits: [], moreCommits: 0 };
  const range = ['--first-parent', 'HEAD', ...(head === null ? [] : [`^${head}`])];
  const scope = ['--', ':(top)', `:(top,exclude,literal)${ROOT}`];
  const globbing = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  const out = await readGit(globbing, ['log', '--format=%h %s', '-z', '--no-show-signature', ...range, ...scope]);
  const lines = out
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '');
  return { commits: lines.slice(0, MOST_COMMITS), moreCommits: Math.max(0, lines.length - MOST_COMMITS) };
}
