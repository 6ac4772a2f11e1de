import { type Budget, whileTime } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import { groupBy } from '../core/group-by.ts';
import type { SharedFields } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { rivalAt, rivalTokens } from '../core/task/rival-tokens.ts';
import { type SessionKey, type TaskToken, type TaskTrail, writebackOf } from '../core/task/state.ts';
import { quoteWord } from '../core/text/quote.ts';
import { changedTasks, type Trails } from './tasks.ts';

/**
 * SPEC §6.6: what decides over a task is not written under a number of its lock that others have, or have passed. Only that is
 * judged: what a session wrote before it was superseded stays true whenever it is merged, and whoever finds another's number in
 * their own records, by mistake or malice, claims the task anew and says it again.
 */
export async function judgeTokens(added: readonly PlacedRecord[], trails: Trails, budget: Budget): Promise<Finding[]> {
  const findings: Finding[] = [];
  const arrived = new Map(added.map((placed) => [placed.record.id, placed]));
  for (const task of whileTime(budget, changedTasks(added))) {
    const trail = await trails.trailOf(task);
    const change = arrived.get(trail.changes[0]!.delta_id);
    if (!change) continue; // something that was there is newer
    const deciding = [change, ...writebackFor(change, trail, arrived)];
    for (const placed of deciding) {
      const other = supersededBy(placed, change, trail.tokens);
      if (other) findings.push(stale(placed, task, other));
    }
  }
  return [...findings, ...(await usedTwice(added, trails, budget))];
}

/** The number of a task's lock that a session wrote under, and the session's folder. */
interface Held extends TaskToken {
  task: string;
  path: string;
}

/** SPEC §6.6: a number of a task's lock is one session's of those of an identity, which can tell. */
async function usedTwice(added: readonly PlacedRecord[], { tokensOf }: Trails, budget: Budget): Promise<Finding[]> {
  const held = new Map<string, Held>();
  for (const placed of added) {
    const { lock } = placed.record.fields;
    const own = sessionOf(placed);
    const path = placed.path.slice(0, placed.path.lastIndexOf('/'));
    if (lock) held.set(`${lock.task} ${lock.token} ${own.session_id} ${own.identity}`, { ...lock, ...own, path });
  }
  const findings: Finding[] = [];
  const holders = new Map<string, TaskToken[]>();
  const keyOf = (task: string, { token, identity }: Omit<TaskToken, 'session_id'>) => `${task} ${token} ${identity}`;
  for (const task of whileTime(budget, new Set([...held.values()].map((each) => each.task))))
    for (const [key, group] of groupBy(await tokensOf(task), (each) => keyOf(task, each))) holders.set(key, group);
  for (const own of whileTime(budget, held.values())) {
    const other = holders.get(keyOf(own.task, own))?.find(({ session_id }) => session_id !== own.session_id);
    if (other) findings.push(heldTwice(own, other));
  }
  return findings;
}

function heldTwice({ task, token, session_id, path }: Held, other: TaskToken): Finding {
  return {
    code: 'stale_token',
    severity: 'error',
    path,
    message: `Session ${session_id} wrote under number ${token} of the lock of ${task}, and so did session ${other.session_id} of the same identity.`,
    hint: `One of them never held the lock. Leave it out of the branch, claim the task anew (git handoff claim ${quoteWord(task)}) and record the work again.`,
  };
}

/** The thought that makes it done, if that arrives too. */
function writebackFor(change: PlacedRecord, trail: TaskTrail, arrived: ReadonlyMap<string, PlacedRecord>) {
  const { record } = change;
  const thought = record.kind === 'task' && record.fields.status === 'done' ? writebackOf(trail) : null;
  const placed = thought && arrived.get(thought.delta_id);
  return placed ? [placed] : [];
}

/** Who holds the number of a record, or one above it. Whoever says that a task is done answers for the thought they say it by. */
function supersededBy(placed: PlacedRecord, change: PlacedRecord, tokens: readonly TaskToken[]): TaskToken | null {
  const { lock, task_id }: SharedFields = placed.record.fields;
  if (!lock || lock.task !== task_id) return null;
  return rivalAt(lock.token, rivalTokens(tokens, [placed, change].map(sessionOf)));
}

function sessionOf({ record }: PlacedRecord): SessionKey {
  const { session_id, identity } = record.fields;
  return { session_id, identity };
}

function stale({ path, record }: PlacedRecord, task: string, other: TaskToken): Finding {
  const { session_id, lock } = record.fields;
  return {
    code: 'stale_token',
    severity: 'error',
    path,
    record: record.id,
    message: `Session ${session_id} decides over ${task} under number ${lock!.token} of its lock, and session ${other.session_id} of ${other.identity} holds number ${other.token}.`,
    hint: `Somebody else has taken the task. To go on all the same: git handoff claim ${quoteWord(task)}, then record the work again (git handoff thought ${quoteWord(task)}, git handoff task update ${quoteWord(task)}) and push that too.`,
  };
}
