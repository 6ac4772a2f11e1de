import { taskStatus, taskTrail } from '../../core/session/history-queries.ts';
import { isOpen } from '../../core/task/order.ts';
import type { TaskStatus } from '../../core/task/state.ts';
import { byNature } from '../../core/text/natural-order.ts';
import { warnOfCycle } from '../../custody/cycle-warning.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTask, type TaskDefinition } from '../../repository/task-definitions.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type Board, blockedBy, readBoard } from '../../tasks/board.ts';

export interface TaskEntry {
  task_id: string;
  title: string;
  status: TaskStatus;
  progress: number | null;
  /** The identity that works on it. */
  claimed_by: string | null;
  /** The identity that said it is done. */
  done_by: string | null;
  blocked_by: string[];
  priority: number;
  tags: string[];
}

export interface TaskListOptions {
  status?: TaskStatus;
  tag?: string;
}

/** All tasks in the natural order of their ids. */
export async function taskList(
  repository: Repository,
  { status, tag }: TaskListOptions = {},
): Promise<{ tasks: TaskEntry[] }> {
  const board = await readBoard(repository, await requireTrust(repository));
  warnOfCycle(repository, board.tasks, board.statusOf);
  const wanted = board.tasks.filter(
    (task) =>
      (status === undefined || board.statusOf(task.task_id) === status) &&
      (tag === undefined || task.tags.includes(tag)),
  );
  wanted.sort((a, b) => byNature(a.task_id, b.task_id));
  return { tasks: wanted.map((task) => toEntry(task, board)) };
}

function toEntry(task: TaskDefinition, board: Board): TaskEntry {
  const { task_id, title, priority, tags } = task;
  const state = taskStatus(board.knownSessions.history, task_id);
  const status = state?.status ?? 'todo';
  return {
    task_id,
    title,
    status,
    progress: state?.progress ?? null,
    claimed_by: isOpen(status) ? (board.holderOf(task_id)?.identity ?? null) : null,
    done_by: status === 'done' ? (state?.identity ?? null) : null,
    blocked_by: blockedBy(task, board),
    priority,
    tags,
  };
}

export interface TaskDetail extends TaskEntry {
  /** The one as `list` has it, for whoever reads both alike. */
  tasks: [TaskEntry];
  depends_on: { task_id: string; status: TaskStatus | 'undefined' }[];
  /** Who waits for it, directly. */
  dependents: string[];
  proof: 'seal' | null;
  acceptance: string[];
  prompt: string | null;
  claim: { identity: string; session_id: string; since: string; host: string } | null;
  changed: { delta_id: string; identity: string; session_id: string } | null;
  /** The newest first. */
  thoughts: { delta_id: string; identity: string; commit_sha: string; path: string }[];
}

export async function taskShow(repository: Repository, { id }: { id: string }): Promise<TaskDetail> {
  const board = await readBoard(repository, await requireTrust(repository));
  const task = requireTask(board.tasks, id);
  const state = taskStatus(board.knownSessions.history, id);
  const entry = toEntry(task, board);
  const holder = isOpen(entry.status) ? board.holderOf(id) : null;
  const thoughts = taskTrail(board.knownSessions.history, id)?.thoughts ?? [];
  return {
    tasks: [entry],
    ...entry,
    depends_on: task.depends_on.map((each) => ({
      task_id: each,
      status: board.isDefined(each) ? board.statusOf(each) : ('undefined' as const),
    })),
    dependents: board.tasks
      .filter(({ depends_on }) => depends_on.includes(id))
      .map(({ task_id }) => task_id)
      .sort(byNature),
    proof: task.proof,
    acceptance: task.acceptance,
    prompt: task.prompt,
    claim: holder && {
      identity: holder.identity,
      session_id: holder.session_id,
      since: holder.at,
      host: holder.host,
    },
    changed: state && { delta_id: state.delta_id, identity: state.identity, session_id: state.session_id },
    thoughts: thoughts.map(({ delta_id, identity, commit, path }) => ({
      delta_id,
      identity,
      commit_sha: commit,
      path,
    })),
  };
}
