import type { ChangedSession } from '../audit/delta/sessions.ts';
import type { Evidence } from '../audit/evidence/evidence.ts';
import { find, type Source } from '../audit/source/source.ts';
import { isSealed } from '../audit/tree/sealed.ts';
import { readSignedDocument } from '../audit/trust/trust.ts';
import { type Finding, HandoffError } from '../core/error.ts';
import { taskPath } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { toVerdict, type Verdict } from '../core/record/verdict.ts';
import { byNewest } from '../core/session/newest.ts';
import {
  stateOf,
  type TaskThought,
  type TaskToken,
  type TaskTrail,
  wholeTrail,
  writebackOf,
} from '../core/task/state.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import type { Account } from '../core/writeback/account.ts';
import { nodeSuite } from '../crypto.ts';
import type { Oid } from '../git/objects/store.ts';
import { type CommitSet, union } from './coverage/ancestry.ts';

/** A task that the change says is done, and nobody has changed since. */
export interface DoneTask {
  id: string;
  change: PlacedRecord;
  /** The thought that makes it done, wherever it is. */
  thought: TaskThought | null;
  isDone: boolean;
}

/** Everything that is known about a task once the change is there. */
export interface Trails {
  trailOf(id: string): Promise<TaskTrail>;
  /** Who wrote under its lock, which is less to read. */
  tokensOf(id: string): Promise<TaskToken[]>;
}

/** What the protected branch has, all of it, and what arrives. */
export function openTrails(evidence: Evidence, sessions: readonly ChangedSession[]): Trails {
  const arrived = sessions.flatMap(({ records }) => records);
  return {
    trailOf: memo(async (id) => wholeTrail(id, [...(await evidence.ofTasks([id])), ...arrived])),
    tokensOf: memo(async (id) => wholeTrail(id, [...(await evidence.holdersOf([id])), ...arrived]).tokens),
  };
}

function memo<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (id) => {
    const value = known.get(id) ?? read(id);
    known.set(id, value);
    return value;
  };
}

export async function doneTasks(added: readonly PlacedRecord[], { trailOf }: Trails): Promise<DoneTask[]> {
  const tasks: DoneTask[] = [];
  for (const change of added.filter(({ record }) => record.kind === 'task' && record.fields.status === 'done')) {
    const id = change.record.fields.task_id as string;
    const trail = await trailOf(id);
    const state = stateOf(trail);
    if (state?.delta_id === change.record.id)
      tasks.push({ id, change, thought: writebackOf(trail), isDone: state.status === 'done' });
  }
  return tasks;
}

export interface TaskCase {
  /** The tree as it is to be. */
  source: Source;
  trust: Trust;
  done: readonly DoneTask[];
  /** Whether the commit a thought names is part of what is to be, itself or as a commit that does the same. */
  isAnchored(thought: TaskThought): Promise<boolean>;
}

/** SPEC §10.5: what is said to be done has its writeback, and its proof where one is asked for. */
export async function judgeTasks(input: TaskCase): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, change, thought, isDone } of input.done) {
    if (!isDone || !thought) findings.push(notDone(change, id));
    else if (!(await input.isAnchored(thought))) findings.push(notLanded(change, id, thought));
    else if ((await proofOf(input, id)) === 'seal' && !(await isSealed(input.source, folderOf(thought.path))))
      findings.push(notSealed(change, id));
  }
  return findings;
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
    hint: `git handoff thought ${quoteWord(id)} on the commit that did it, then git handoff task update ${quoteWord(id)} --status done`,
  };
}

function notLanded({ path, record }: PlacedRecord, id: string, { commit }: TaskThought): Finding {
  const command = `git handoff thought ${quoteWord(id)} --commit COMMIT --base COMMIT^`;
  return {
    code: 'done_without_thought',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and what its thought record is about, commit ${commit.slice(0, 12)}, is not found here, whole.`,
    hint: `Bring that commit's branch. If it has landed as another COMMIT: ${command}, then git handoff task update ${quoteWord(id)} --status done`,
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

/**
 * SPEC §10.6: where the policy asks for it, every commit is covered by a thought that somebody other than its author has approved,
 * and so is what makes a task done. A thought that a later one makes up for needs no approval of its own.
 */
export function judgeReviews(
  covers: ReadonlyMap<Account, CommitSet>,
  done: readonly DoneTask[],
  reviews: readonly Verdict[],
): Finding[] {
  const open = unreviewed(covers, reviews);
  const unseen = done
    .flatMap(({ id, thought }) => (thought ? [{ ...thought, task_id: id }] : []))
    .filter((thought) => !isApproved(thought, reviews));
  return [...new Map([...open, ...unseen].map((thought) => [thought.delta_id, thought])).values()].map(notReviewed);
}

/** The thoughts that cover a commit which none that somebody approved covers. */
function unreviewed(covers: ReadonlyMap<Account, CommitSet>, reviews: readonly Verdict[]): Account[] {
  const seen = new Map([...covers].filter(([account]) => isApproved(account, reviews)));
  const approved = union(seen.values());
  const others = [...covers].filter(([account]) => !seen.has(account));
  return others.filter(([, commits]) => !isWithin(commits, approved)).map(([account]) => account);
}

/** Those whose files count: somebody approved them, or a finding asks for it already. */
export function reviewedAmong(
  accounts: readonly Account[],
  covers: ReadonlyMap<Account, CommitSet>,
  reviews: readonly Verdict[],
): Account[] {
  const named = new Set(unreviewed(covers, reviews));
  return accounts.filter((account) => named.has(account) || isApproved(account, reviews));
}

function isWithin(commits: CommitSet, all: ReadonlySet<Oid>): boolean {
  for (const oid of commits) if (!all.has(oid)) return false;
  return true;
}

/** All that was said of these thoughts, here or on the protected branch. That of a bot, which is whoever names nobody, does not count. */
export async function verdictsOn(
  thoughts: ReadonlySet<string>,
  { evidence, sessions, trust }: { evidence: Evidence; sessions: readonly ChangedSession[]; trust: Trust },
): Promise<Verdict[]> {
  const arrived = sessions
    .flatMap(({ records }) => records)
    .filter(({ record }) => record.kind === 'review' && thoughts.has(record.fields.thought as string));
  const verdicts = [...arrived, ...(await evidence.reviewsOf(thoughts))].map(toVerdict);
  return verdicts.filter(({ identity }) => trust.identities.get(identity)?.role !== 'bot');
}

function newestOfEach(accounts: readonly Account[]): Account[] {
  const newest = new Map<string, Account>();
  for (const account of accounts) {
    const known = newest.get(account.task_id);
    if (!known || byNewest(account, known) < 0) newest.set(account.task_id, account);
  }
  return [...newest.values()];
}

/** What is reviewed. */
type Said = Pick<Account, 'delta_id' | 'identity' | 'task_id' | 'path'>;

/** Each reviewer's last word counts, and one refusal is enough. */
function isApproved({ delta_id, identity }: Said, reviews: readonly Verdict[]): boolean {
  const words = new Map<string, Verdict>();
  for (const review of reviews.filter((each) => each.thought === delta_id && each.identity !== identity)) {
    const last = words.get(review.identity);
    if (!last || byNewest(review, last) < 0) words.set(review.identity, review);
  }
  const verdicts = [...words.values()].map(({ verdict }) => verdict);
  return verdicts.includes('approve') && !verdicts.includes('reject');
}

function notReviewed({ task_id, delta_id, path, identity }: Said): Finding {
  return {
    code: 'review_missing',
    severity: 'error',
    path,
    record: delta_id,
    message: `Nobody but ${identity} has approved the thought record of ${task_id}, and the policy asks for a review.`,
    hint: `Somebody else looks at it: git handoff review ${quoteWord(task_id)} --verdict approve --checked ITEM, committed here or on the protected branch.`,
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
      hint: `Mend it, then run it again for a new record: git handoff thought ${quoteWord(task_id)} --run -- COMMAND`,
    })),
  );
}
