import { HandoffError } from '../../core/error.ts';
import { type TaskThought, type TaskTrail, thoughtsSinceEntered } from '../../core/task/state.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { type KnownSessions, knownTrail, readKnownSessions } from '../../custody/known-sessions.ts';
import { tidyKnownSessions } from '../../custody/tidy.ts';
import { accountsFor } from '../../gate/accounts.ts';
import { notBehind } from '../../gate/coverage/history.ts';
import { type Claim, findUntruth } from '../../gate/coverage/truth.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { readTask, type TaskDefinition } from '../../repository/task-definitions.ts';
import { trackedTips } from '../../repository/tracking.ts';
import { openWriter, type RecordOptions, type RecordResult, writeRecord } from '../session/record-verbs.ts';

export interface ReviewOptions extends RecordOptions {
  id: string;
  verdict: 'approve' | 'reject';
  /** Items of the task's checklist that were verified: their words, or their numbers from 1. */
  checked?: string[];
  text?: string;
  /** Which of the task's thoughts, by its id or the beginning of it: where it is not the newest that HEAD has. */
  thought?: string;
}

export interface ReviewResult extends RecordResult {
  /** What the verdict is about. */
  thought: { delta_id: string; identity: string; commit_sha: string };
}

/** A reviewer's verdict on the thought that makes a task done, in a session of their own. SPEC §9.5 */
export async function review(repository: Repository, options: ReviewOptions): Promise<ReviewResult> {
  enterWorkTree(repository);
  const { id, verdict, text } = options;
  const writer = await openWriter(repository, options, null);
  const { session, trust } = writer;
  const task = await readTask(repository, trust, id);
  const checked = checkedItems(task, options.checked ?? []);
  const knownSessions = await readKnownSessions(repository, trust);
  const thought = await thoughtToReview(repository, await knownTrail(knownSessions, id), options);
  if (verdict === 'approve') await assertTrue(repository, trust, knownSessions, id, thought);
  warnings(task, verdict, checked, thought, session.identity).forEach(repository.warn);
  const about = { task_id: id, verdict, thought: thought.delta_id, commit_sha: thought.commit, checked };
  await tidyKnownSessions(repository, trust, knownSessions);
  const draft = { kind: 'review' as const, fields: { ...about, ...(text?.trim() ? { text } : {}) } };
  const written = await writeRecord(writer, draft, `handoff: ${session.identity} reviews ${id}`, options);
  return {
    ...written,
    thought: { delta_id: thought.delta_id, identity: thought.identity, commit_sha: thought.commit },
  };
}

/**
 * The newest thought of all branches that are known here may be somebody else's, about code that the reviewer has never seen. So where
 * HEAD has the commit of another one, the reviewer says which is meant.
 */
async function thoughtToReview(
  repository: Repository,
  trail: TaskTrail,
  { id, thought: named }: ReviewOptions,
): Promise<TaskThought> {
  const thoughts = thoughtsSinceEntered(trail);
  const [newest] = thoughts;
  if (!newest) throw noThought(id);
  if (named !== undefined) return namedThought(id, thoughts, named);
  const head = await repository.store.resolve('HEAD');
  if (head === null || thoughts.every(({ commit }) => commit === newest.commit)) return newest;
  const elsewhere = await notBehind(
    repository,
    head,
    thoughts.map(({ commit }) => commit),
  );
  const isSeen = async ({ commit }: TaskThought): Promise<boolean> =>
    !elsewhere.has(commit) && (await repository.store.has(`${commit}^{commit}`));
  if (await isSeen(newest)) return newest;
  for (const thought of thoughts) if (await isSeen(thought)) throw ambiguous(id, newest, thought);
  return newest;
}

function namedThought(id: string, thoughts: readonly TaskThought[], named: string): TaskThought {
  const wanted = named.replace(/^sha256:/, '');
  const found = wanted.length < 6 ? [] : thoughts.filter(({ delta_id }) => delta_id.startsWith(`sha256:${wanted}`));
  if (found.length === 1) return found[0]!;
  throw new HandoffError(
    'unknown_record',
    `${JSON.stringify(named)} names ${found.length === 0 ? 'no' : 'more than one'} thought about ${id}.`,
    { hint: `git handoff task show ${quoteWord(id)} lists them.`, data: { task_id: id, found: found.length } },
  );
}

function ambiguous(id: string, newest: TaskThought, here: TaskThought): HandoffError {
  const tell = ({ identity, delta_id, commit }: TaskThought): string =>
    `${identity}'s ${delta_id.slice(7, 19)} about commit ${commit.slice(0, 12)}`;
  const command = `git handoff review ${quoteWord(id)} --verdict VERDICT --thought`;
  return new HandoffError(
    'usage',
    `Which thought about ${id}? HEAD has the commit of ${tell(here)}; the newest is ${tell(newest)}, which HEAD does not have.`,
    {
      hint: `Look at the commit, then say which: ${command} ${here.delta_id.slice(7, 19)}`,
      data: { task_id: id, thoughts: [here.delta_id, newest.delta_id] },
    },
  );
}

/** While the commit is here: once it is gone, what was approved is only what the thought says of it. */
async function assertTrue(
  repository: Repository,
  trust: Trust,
  { evidence }: KnownSessions,
  id: string,
  { delta_id, commit }: TaskThought,
): Promise<void> {
  const account = (await accountsFor(evidence, [commit])).find((each) => each.delta_id === delta_id);
  if (!account || !(await repository.store.has(`${commit}^{commit}`))) {
    repository.warn(
      `Commit ${commit.slice(0, 12)} is not here, and the thought was not compared with it: git fetch first.`,
    );
    return;
  }
  const tips = (await trackedTips(repository, trust)).map(({ oid }) => oid);
  const claim = await findUntruth(repository, account, tips);
  if (claim) throw untrue(id, commit, claim);
}

/** In the order of the checklist, each once. Words go before numbers: an item may be called "2". */
function checkedItems({ task_id, acceptance }: TaskDefinition, given: readonly string[]): string[] {
  const found = given.map((item) => {
    if (acceptance.includes(item)) return item;
    const numbered = /^[1-9][0-9]*$/.test(item) ? acceptance[Number(item) - 1] : undefined;
    if (numbered === undefined) throw unknownItem(task_id, item, acceptance);
    return numbered;
  });
  return acceptance.filter((item) => found.includes(item));
}

function warnings(
  { task_id, acceptance }: TaskDefinition,
  verdict: ReviewOptions['verdict'],
  checked: readonly string[],
  thought: TaskThought,
  reviewer: string,
): string[] {
  const left = acceptance.filter((item) => !checked.includes(item));
  return [
    ...(verdict === 'approve' && left.length > 0
      ? [`${task_id} is approved, but not all of its checklist was checked: ${left.join('; ')}`]
      : []),
    ...(thought.identity === reviewer
      ? [`The thought is ${reviewer}'s own: a policy that asks for a review does not count this one.`]
      : []),
  ];
}

function unknownItem(id: string, item: string, acceptance: readonly string[]): HandoffError {
  const items = acceptance.map((text, at) => `${at + 1}. ${text}`);
  const listed = items.length === 0 ? `The checklist of ${id} is empty.` : `The items of ${id}: ${items.join('; ')}`;
  return new HandoffError('usage', `${JSON.stringify(item)} is not on the checklist. ${listed}`, {
    hint: '--checked takes the words of an item, or its number.',
    data: { item, acceptance: [...acceptance] },
  });
}

function untrue(id: string, commit: string, claim: Claim): HandoffError {
  const code = claim === 'files_changed' ? 'files_uncovered' : 'writeback_missing';
  return new HandoffError(
    code,
    `The thought about ${id} says in ${claim} what git does not say of ${commit.slice(0, 12)}.`,
    {
      hint: `Whoever did the work writes it again: git handoff thought ${quoteWord(id)}. Until then: git handoff review ${quoteWord(id)} --verdict reject`,
      data: { task_id: id, commit_sha: commit, field: claim },
    },
  );
}

function noThought(id: string): HandoffError {
  return new HandoffError('unknown_record', `There is no thought about ${id} to review.`, {
    hint: `Whoever did the work writes it: git handoff thought ${quoteWord(id)}. If it is on another branch, check that out.`,
    data: { task_id: id },
  });
}
