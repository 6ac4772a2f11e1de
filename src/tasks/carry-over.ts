import { HandoffError } from '../core/error.ts';
import { isOfKind } from '../core/record/kinds.ts';
import { isOpen } from '../core/task/order.ts';
import { recordsByTask } from '../core/task/records-by-task.ts';
import {
  isSameSession,
  type SessionKey,
  stateOf,
  type TaskState,
  type TaskStatus,
  type TracedRecord,
} from '../core/task/state.ts';
import { listSome } from '../core/text/list-some.ts';
import type { Trust } from '../core/trust/trust.ts';
import type { Warning } from '../custody/bundle.ts';
import type { KnownSessions } from '../custody/known-sessions.ts';
import { type Left, sinceBaton } from '../custody/predecessor.ts';
import { append, type Writer } from '../journal/append.ts';
import { readClaims, writeClaim } from '../journal/locks/claims.ts';
import type { Locks } from '../journal/locks/open-locks.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { StateDirectory } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { type Board, boardOf, withTrails } from './board.ts';
import { otherHolder } from './rivals.ts';
import { takeLock } from './take-lock.ts';

/** A task that its predecessor was at work on, which the heir of its work has now. */
export interface CarriedTask {
  task_id: string;
  title: string;
  status: TaskStatus;
  /** The number of the heir's lock. */
  token: number;
}

/** What comes along with a session's work, and what does not. */
export interface CarryOver {
  board: Board;
  wanted: string[];
  warnings: Warning[];
}

/** Whoever picks up, with what that takes. */
interface Heir {
  trust: Trust;
  knownSessions: KnownSessions;
  locks: Locks;
}

/** Each costs a record, and its lock on a remote a conversation. */
const MOST = 20;

/** The tasks that the sessions of a custody chain were at work on when they ended. Nothing is taken yet. */
export async function planCarryOver(
  repository: Repository,
  { trust, knownSessions }: Heir,
  end: Left | null,
): Promise<CarryOver | null> {
  const chain = end ? sinceBaton(knownSessions, end) : [];
  const ids = touchedBy(repository, knownSessions, chain);
  if (ids.length === 0) return null;
  const board = await withTrails(await boardOf(repository, trust, knownSessions), ids);
  const by = (id: string) => lastBy(board, id);
  const others = ids.filter((id) => by(id) && !isIn(chain, by(id)!));
  const about = recordsByTask(others.length > 0 ? await knownSessions.evidence.ofTasks(others) : []);
  const left = ids.filter((id) => wasLeft(by(id), id, about.get(id) ?? [], chain));
  const missing = left.flatMap((id) => whyNot(board, id, chain) ?? []);
  const free = left.filter((id) => whyNot(board, id, chain) === null);
  const rest = free.slice(MOST);
  const more = rest.length > 0 ? [notTaken(listSome(rest, 5), 'they are too many; claim them one by one')] : [];
  return { board, wanted: free.slice(0, MOST), warnings: [...missing, ...more] };
}

/** Tasks that one of these sessions said something about, or whose lock it has, in the order of their ids. */
function touchedBy(repository: StateDirectory, { history }: KnownSessions, chain: readonly SessionKey[]): string[] {
  const isOfChain = (session: SessionKey): boolean => chain.some((each) => isSameSession(each, session));
  const recorded = Object.entries(history.tasks)
    .filter(([, { by, tokens }]) => (by && isOfChain(by)) || tokens.some(isOfChain))
    .map(([id]) => id);
  const claimed = chain.flatMap(({ session_id }) => readClaims(dirsOf(repository), session_id));
  return [...new Set([...recorded, ...claimed.map(({ task }) => task)])].sort();
}

/** Whether the chain's sessions neither finished the task nor gave it back. A session without a record about it was cut off after it took the lock. */
function wasLeft(
  state: TaskState | null,
  id: string,
  records: readonly TracedRecord[],
  chain: readonly SessionKey[],
): boolean {
  if (state && isIn(chain, state)) return isBegun(state.status);
  const said = records.filter(isOfKind('task')).map(({ record: { fields } }) => fields);
  const own = said.filter((fields) => fields.task_id === id && isIn(chain, fields));
  const last = own.sort((a, b) => b.clock - a.clock)[0];
  return last ? isBegun(last.status) : true;
}

function isIn(chain: readonly SessionKey[], session: SessionKey): boolean {
  return chain.some((each) => isSameSession(each, session));
}

function isBegun(status: TaskStatus): boolean {
  return isOpen(status) && status !== 'todo';
}

/** What has become of it since, as far as records tell. */
function whyNot(board: Board, id: string, chain: readonly SessionKey[]): Warning | null {
  if (!board.isDefined(id)) return notTaken(id, 'nobody defines it any more');
  const state = lastBy(board, id);
  if (!state || isIn(chain, state)) return null;
  return notTaken(id, `${state.identity} has changed it since, and it is ${state.status}`);
}

/** Null where no record has changed it. */
function lastBy({ trailOf }: Board, id: string): TaskState | null {
  const trail = trailOf(id);
  return trail && stateOf(trail);
}

function notTaken(id: string, why: string): Warning {
  return { kind: 'task_not_taken', message: `${id} did not come along: ${why}.` };
}

/**
 * Takes the locks: from then on whoever had them before writes nothing about these tasks. What cannot be had stays where it is, and is
 * said: it is no reason not to pick up the work. SPEC §8.9
 */
export async function takeAlong(
  repository: Repository,
  { trust, knownSessions, locks }: Heir,
  session: Session,
  plan: CarryOver | null,
): Promise<{ tasks: CarriedTask[]; warnings: Warning[] }> {
  const tasks: CarriedTask[] = [];
  const warnings = [...(plan?.warnings ?? [])];
  for (const id of plan?.wanted ?? []) {
    const { board } = plan!;
    const task = board.tasks.find(({ task_id }) => task_id === id)!;
    try {
      const held = await locks.read(`task/${id}`);
      const other = await otherHolder({ repository, trust, locks, session }, knownSessions, held);
      if (other) {
        warnings.push(notTaken(id, `${other.identity} is at work on it`));
        continue;
      }
      const token = await takeLock(repository, session, { board, task, held, locks });
      writeClaim(dirsOf(repository), session.session_id, { task: id, token, at: repository.now().toISOString() });
      const status = board.statusOf(id);
      tasks.push({ task_id: id, title: task.title, status: isBegun(status) ? status : 'in_progress', token });
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      warnings.push(notTaken(id, error.message.replace(/\.$/, '')));
    }
  }
  return { tasks, warnings };
}

/** Says of each that it goes on, as it was. Returns the paths of the records. */
export async function recordCarried(
  writer: Writer,
  plan: CarryOver | null,
  tasks: readonly CarriedTask[],
): Promise<{ paths: string[]; warnings: Warning[] }> {
  const paths: string[] = [];
  const warnings: Warning[] = [];
  for (const { task_id, status } of tasks) {
    const progress = lastBy(plan!.board, task_id)?.progress ?? null;
    const fields = { task_id, status, ...(progress === null ? {} : { progress }) };
    try {
      paths.push((await append(writer, { kind: 'task', fields })).path);
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      const message = `${task_id} is yours, but its record could not be written: ${error.message} git handoff claim ${task_id} writes it.`;
      warnings.push({ kind: 'task_not_recorded', message });
    }
  }
  return { paths, warnings };
}
