import { formatCd } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { isOpen } from '../journal/sessions/liveness.ts';
import { listSessions, readSession, type Session } from '../journal/sessions/registry.ts';
import { dirsOf, withLiveness } from '../journal/sessions/session-state.ts';
import type { Directories, StateDirectory, TimeAndHost } from '../repository/parts.ts';
import { workTreeCalled } from '../repository/work-trees.ts';

/** An open session that another work tree of this repository has, and the command that goes there. */
export interface Elsewhere {
  session: Session;
  cd: string;
}

/** Those of an identity, or of all; the newest first. */
export function openElsewhere(
  repository: Directories & StateDirectory & TimeAndHost,
  trust: Trust,
  identity: string | null,
): Elsewhere[] {
  const wanted = listSessions(dirsOf(repository)).filter((each) => identity === null || each.identity === identity);
  const open = wanted.filter((each) => isOpen(withLiveness(repository, trust, each).liveness));
  const found = open.map((session) => ({ session, cd: wayTo(repository, session) }));
  return found
    .filter((each): each is Elsewhere => each.cd !== null)
    .sort((a, b) => (a.session.opened_at < b.session.opened_at ? 1 : -1));
}

/** Null where a session is in this work tree, in one that is gone, or on another machine. */
export function wayToSession(repository: Directories & StateDirectory, session_id: string): string | null {
  const session = readSession(dirsOf(repository), session_id);
  return session && wayTo(repository, session);
}

function wayTo({ dirs, worktree }: Directories, session: Session): string | null {
  const path = session.worktree === worktree ? null : workTreeCalled(dirs, session.worktree);
  return path && formatCd(path);
}
