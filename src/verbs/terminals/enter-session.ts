import { HandoffError } from '../../core/error.ts';
import { describeWaiting, type WaitingBaton, waitingBatons } from '../../custody/baton/waiting-batons.ts';
import type { Warning } from '../../custody/bundle.ts';
import { workTreeSession } from '../../custody/chosen-session.ts';
import { readKnownSessions } from '../../custody/known-sessions.ts';
import type { LockOptions } from '../../journal/locks/open-locks.ts';
import { isOpen } from '../../journal/sessions/liveness.ts';
import { withLiveness } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { pickup } from '../session/pickup.ts';
import { start } from '../session/start.ts';
import { claim } from '../task/claim.ts';

export interface EnterOptions extends LockOptions {
  as: string;
  /** Claimed for the session; of the waiting batons only one about it is continued. */
  task?: string;
  /** Into the work tree of the baton's branch, or of the task. */
  worktree?: boolean;
  /** Nothing is continued, whatever waits. */
  fresh?: boolean;
}

export interface Entered {
  session_id: string;
  /** Where to work, if that is another work tree. */
  directory: string | null;
  opened: 'resumed' | 'picked_up' | 'started';
  warnings: Warning[];
}

/** The session that an agent is to work in: its own that is open here, else what waits for it, else a fresh one. */
export async function enterSession(repository: Repository, options: EnterOptions): Promise<Entered> {
  const entered = await openOrContinue(repository, options);
  if (options.task === undefined) return entered;
  const { worktree = false } = options;
  const given = { id: options.task, as: options.as, session: entered.session_id, ...lock(options.local) };
  const wantsTree = worktree && entered.directory === null;
  const claimed = await claim(repository, { ...given, ...(wantsTree ? { worktree } : {}) });
  return { ...entered, directory: claimed.cd ? claimed.worktree : entered.directory };
}

async function openOrContinue(repository: Repository, options: EnterOptions): Promise<Entered> {
  const { as, worktree, local } = options;
  const trust = await requireTrust(repository);
  const own = await workTreeSession(repository, trust, as);
  const isGoingOn = own !== null && isOpen(withLiveness(repository, trust, own).liveness);
  const waiting = isGoingOn || options.fresh ? null : await waitingFor(repository, options);
  if (!waiting && worktree && options.task === undefined) throw noPlace();
  if (!waiting) {
    const { session_id, resumed, warnings } = await start(repository, { as, ...lock(local) });
    return { session_id, directory: null, opened: resumed ? 'resumed' : 'started', warnings };
  }
  const fromSession = waiting.session_id;
  const taken = await pickup(repository, { as, fromSession, ...(worktree ? { worktree } : {}), ...lock(local) });
  const directory = taken.cd === null ? null : (taken.work?.worktree ?? null);
  return { session_id: taken.session_id, directory, opened: 'picked_up', warnings: taken.warnings };
}

function lock(local: boolean | undefined): LockOptions {
  return local === undefined ? {} : { local };
}

/** The newest that is meant for this name, else the newest for nobody in particular. */
async function waitingFor(repository: Repository, { as, task }: EnterOptions): Promise<WaitingBaton | null> {
  const known = await readKnownSessions(repository, await requireTrust(repository));
  const all = describeWaiting(known, waitingBatons(known.history), repository.now());
  const fitting = all.filter(({ task_ids }) => task === undefined || task_ids.includes(task));
  return (
    fitting.find(({ next_agent }) => next_agent === as) ?? fitting.find(({ next_agent }) => next_agent === null) ?? null
  );
}

function noPlace(): HandoffError {
  return new HandoffError('usage', 'No work tree can be chosen: no baton waits, and no task was named.', {
    hint: 'Name the task (--task ID), whose work tree is made; or leave out --worktree to work here.',
  });
}
