import { isSealed } from '../audit/seal.ts';
import { find, type Source } from '../audit/source.ts';
import { readSignedDocument } from '../audit/trust.ts';
import type { Account } from '../core/coverage.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import type { History, Verdict } from '../core/history.ts';
import { taskTrail } from '../core/history-queries.ts';
import { byNewest } from '../core/newest.ts';
import { taskPath } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import { mergeTrails, stateOf, type TaskThought, type TaskTrail, writebackOf } from '../core/task-state.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/store.ts';

export interface TaskCase {
  /** The tree as it is to be. */
  source: Source;
  trust: Trust;
  /** Of the sessions that arrive. */
  history: History;
  /** The records that were not there before. */
  added: readonly PlacedRecord[];
  /** What was known before; asked for only where it can change the answer. */
  before(): Promise<History>;
  /** Whether the commit a thought names is part of what is to be, itself or as a commit that does the same. */
  isAnchored(thought: TaskThought): Promise<boolean>;
}

/** SPEC §10.5: what is said to be done has its writeback, and its proof where one is asked for. */
export async function judgeTasks(input: TaskCase): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const change of doneChanges(input.added)) {
    const id = change.record.fields.task_id as string;
    const trail = await trailFor(input, id);
    const state = stateOf(trail);
    if (state?.delta_id !== change.record.id) continue; // it was changed again since
    const thought = writebackOf(trail);
    if (state.status !== 'done' || !thought || !(await input.isAnchored(thought))) findings.push(notDone(change, id));
    else if ((await proofOf(input, id)) === 'seal' && !(await isSealed(input.source, folderOf(thought.path))))
      findings.push(notSealed(change, id));
  }
  return findings;
}

/** SPEC §6.6: a number of a task's lock is one session's. */
export async function judgeTokens({ history, before }: Pick<TaskCase, 'history' | 'before'>): Promise<Finding[]> {
  const held = Object.entries(history.tasks).filter(([, { tokens }]) => tokens.length > 0);
  if (held.length === 0) return [];
  const known = await before();
  return held.flatMap(([task, { tokens }]) => {
    const others = [...tokens, ...(taskTrail(known, task)?.tokens ?? [])];
    return tokens
      .filter((one) => others.some((other) => other.token === one.token && other.session_id !== one.session_id))
      .map(({ token, session_id }) => heldTwice(task, token, session_id));
  });
}

function doneChanges(added: readonly PlacedRecord[]): PlacedRecord[] {
  return added.filter(({ record }) => record.kind === 'task' && record.fields.status === 'done');
}

/** What arrives is enough where it holds a thought; else that of an earlier change may do. */
async function trailFor({ history, before }: TaskCase, id: string): Promise<TaskTrail> {
  const own = history.tasks[id]!;
  if (stateOf(own)?.status === 'done') return own;
  const known = taskTrail(await before(), id);
  return known ? mergeTrails(known, own) : own;
}

async function proofOf({ source, trust }: TaskCase, id: string): Promise<unknown> {
  const entry = await find(source, taskPath(id));
  if (!entry) return null;
  try {
    return (await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite)).fields.proof ?? null;
  } catch (error) {
    if (!(error instanceof HandoffError) || error.exitCode === 4) throw error;
    return null; // a definition that does not hold asks for nothing, and is a finding of its own when it arrives
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function notDone({ path, record }: PlacedRecord, id: string): Finding {
  return {
    code: 'done_without_thought',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and no thought record that counts says what was done.`,
    hint: `git handoff thought ${id} on the commit that did it, then git handoff task update ${id} --status done`,
  };
}

function notSealed({ path, record }: PlacedRecord, id: string): Finding {
  return {
    code: 'seal_missing',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} asks for a sealed session, and the session of its thought record does not end in a seal that holds.`,
    hint: 'The session that wrote the thought must end in a seal over all its records: git handoff seal SESSION, where its branch is checked out, before it is merged.',
  };
}

function heldTwice(task: string, token: number, session: string): Finding {
  return {
    code: 'stale_token',
    severity: 'error',
    message: `Session ${session} wrote with number ${token} of the lock of ${task}, which another session holds.`,
    hint: 'Two sessions wrote with the same fencing token: one of them never held the lock. Claim the task anew and record the work again.',
  };
}

/**
 * SPEC §10.6: where the policy asks for it, every commit is covered by a thought that somebody other than its author has approved,
 * and so is what makes a task done. A thought that a later one makes up for needs no approval of its own.
 */
export function judgeReviews(
  covers: ReadonlyMap<Account, ReadonlySet<Oid>>,
  done: readonly Account[],
  reviews: readonly Verdict[],
): Finding[] {
  const approved = new Set<Oid>();
  const others: Account[] = [];
  for (const [account, commits] of covers) {
    if (isApproved(account, reviews)) for (const oid of commits) approved.add(oid);
    else others.push(account);
  }
  const open = others.filter((account) => [...covers.get(account)!].some((oid) => !approved.has(oid)));
  const unseen = done.filter((account) => !isApproved(account, reviews));
  return [...new Set([...open, ...unseen])].map(notReviewed);
}

/** The thoughts that make tasks of this change done. */
export function doneAccounts(added: readonly PlacedRecord[], accounts: readonly Account[]): Account[] {
  const tasks = new Set(doneChanges(added).map(({ record }) => record.fields.task_id));
  return newestOfEach(accounts.filter(({ task_id }) => tasks.has(task_id)));
}

function newestOfEach(accounts: readonly Account[]): Account[] {
  const newest = new Map<string, Account>();
  for (const account of accounts) {
    const known = newest.get(account.task_id);
    if (!known || byNewest(account, known) < 0) newest.set(account.task_id, account);
  }
  return [...newest.values()];
}

/** Each reviewer's last word counts, and one refusal is enough. */
function isApproved({ delta_id, identity }: Account, reviews: readonly Verdict[]): boolean {
  const words = new Map<string, Verdict>();
  for (const review of reviews.filter((each) => each.thought === delta_id && each.identity !== identity)) {
    const last = words.get(review.identity);
    if (!last || byNewest(review, last) < 0) words.set(review.identity, review);
  }
  const verdicts = [...words.values()].map(({ verdict }) => verdict);
  return verdicts.includes('approve') && !verdicts.includes('reject');
}

function notReviewed({ task_id, delta_id, path, identity }: Account): Finding {
  return {
    code: 'review_missing',
    severity: 'error',
    path,
    record: delta_id,
    message: `Nobody but ${identity} has approved the thought record of ${task_id}, and the policy asks for a review.`,
    hint: `Somebody else looks at it: git handoff review ${task_id} --verdict approve --checked ITEM, committed here or on the protected branch.`,
  };
}

/** What was run for the newest thought of each task and did not pass: the record says so, and a reviewer should not have to look for it. */
export function failedRuns(accounts: readonly Account[]): Finding[] {
  return newestOfEach(accounts).flatMap(({ path, delta_id, task_id, failed }) =>
    failed.map((run) => ({
      code: 'run_failed' as const,
      severity: 'warning' as const,
      path,
      record: delta_id,
      message: `What was run for ${task_id} did not pass: ${run}.`,
      hint: `Mend it, then run it again for a new record: git handoff thought ${task_id} --run -- COMMAND`,
    })),
  );
}
