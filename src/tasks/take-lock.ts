import type { HandoffError } from '../core/error.ts';
import { firstFreeToken } from '../core/task/rival-tokens.ts';
import { REACH } from '../journal/locks/lock-ref.ts';
import { holderOf, isHeldBy, type LockState } from '../journal/locks/open-locks.ts';
import { taskClaimed, tokenOf } from '../journal/locks/task-lock.ts';
import type { Session } from '../journal/sessions/registry.ts';
import type { TimeAndHost } from '../repository/parts.ts';
import type { Board } from './board.ts';
import { alternatives } from './rivals.ts';
import type { Wanted } from './wanted-task.ts';

/**
 * SPEC §8.9: whoever decides under a number that others hold, or have passed, is refused (§6.6), so those are all passed: but
 * only from the number after the last one, where all who want the lock meet, and in steps that a server takes.
 */
export async function takeLock(
  repository: TimeAndHost,
  session: Session,
  { board, task, held, locks, reason }: Wanted & { reason?: string | undefined },
): Promise<number> {
  const name = `task/${task.task_id}` as const;
  const holder = holderOf(repository.host.name, session, repository.now().toISOString(), reason);
  const tokens = board.trailOf(task.task_id)?.tokens ?? [];
  let own = isHeldBy(held, session) ? held : await takeSteps(held, 1);
  for (const first = tokenOf(own, session); ; ) {
    const token = tokenOf(own, session);
    const free = firstFreeToken(token, first, tokens, session);
    if (free === token) return token;
    own = await takeSteps(own, Math.min(free - token, REACH));
  }

  async function takeSteps(prior: LockState | null, steps: number): Promise<LockState> {
    const isTaken = await locks.take(name, prior, holder, steps);
    const now = await locks.read(name);
    if (!isTaken || !isHeldBy(now, session)) throw lost(task.task_id, now, board);
    return now;
  }
}

function lost(task_id: string, held: LockState | null, board: Board): HandoffError {
  return taskClaimed(task_id, held?.holder ?? null, alternatives(board, task_id));
}
