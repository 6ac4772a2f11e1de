import { bestEffort } from '../disk/best-effort.ts';
import { beatAgain, hasShownLife } from '../journal/append.ts';
import { configuredIdentity, givenIdentity } from '../journal/keys/identity-choice.ts';
import { pointedSessions } from '../journal/sessions/pointers.ts';
import { isWrapped, readTip } from '../journal/sessions/records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { Directories, Settings, StateDirectory } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';

/**
 * Whoever looks something up is at work: the session of theirs that is open in this work tree is alive; where nobody is named, the only
 * one. No verb fails because of it, and who holds what does not change: a session that was taken over stays so, and one that has been
 * silent for long is not brought back to life by somebody who looks what became of it. SPEC §8.2
 */
export async function showLife(repository: Repository, as: string | undefined): Promise<void> {
  if (hasShownLife(repository)) return;
  const session = await openSessionOf(repository, as).catch(() => null); // a name that can be none was refused already
  if (session) bestEffort(() => beatAgain(repository, session));
}

/** The session of whoever acts in this work tree, without reading who is trusted. Null where none is open, or nobody can tell which. */
export async function openSessionOf(
  repository: Directories & StateDirectory & Settings,
  as: string | undefined,
): Promise<Session | null> {
  return ownAmong(repository, openSessionsHere(repository), as);
}

/** Those of this work tree: one for each identity that has one. */
export function openSessionsHere(repository: Directories & StateDirectory): Session[] {
  return repository.dirs.topLevel ? (bestEffort(() => openHere(repository)) ?? []) : [];
}

function openHere(repository: Directories & StateDirectory): Session[] {
  const dirs = dirsOf(repository);
  return pointedSessions(dirs, repository.worktree).filter(({ session_id }) => {
    const tip = readTip(dirs, session_id);
    return tip !== null && 'bytes' in tip && !isWrapped(dirs, session_id);
  });
}

/** docs/tool.md §8.5, as far as a sign of life may tell. */
async function ownAmong(
  repository: Settings,
  open: readonly Session[],
  as: string | undefined,
): Promise<Session | null> {
  const named = repository.env.HANDOFF_SESSION;
  const meant = as === undefined && named ? open.filter(({ session_id }) => session_id.startsWith(named)) : open;
  const given = givenIdentity(repository, as);
  const several = given === null && meant.length > 1;
  const identity = several ? await configuredIdentity(repository) : given;
  const own = identity === null ? meant : meant.filter((session) => session.identity === identity);
  return own.length === 1 ? own[0]! : null;
}
