import type { ChangedSession } from '../../audit/delta/sessions.ts';
import type { Evidence } from '../../audit/evidence/evidence.ts';
import type { Budget } from '../../core/budget.ts';
import type { Finding } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { oncePer } from '../../core/once.ts';
import { isOfKind } from '../../core/record/kinds.ts';
import { toVerdict, type Verdict } from '../../core/record/verdict.ts';
import { byNewest } from '../../core/session/newest.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type CommitSet, union } from '../coverage/ancestry.ts';
import type { DoneTask } from '../tasks.ts';
import type { Writeback } from '../writeback.ts';

/**
 * SPEC §10.6: where the policy asks for it, every commit is covered by a thought that somebody other than its author has approved,
 * and so is what makes a task done. A thought that a later one makes up for needs no approval of its own.
 */
export async function judgeReviews(
  { covers, findUnlisted }: Covered,
  done: readonly DoneTask[],
  reviews: readonly Verdict[],
  budget: Budget,
): Promise<Finding[]> {
  const isSeen = approvedBy(reviews);
  const unlisted = await findUnlisted(isSeen);
  const open = unreviewed(covers, unlisted, isSeen, budget);
  const unseen = done
    .flatMap(({ id, thought }) => (thought ? [{ ...thought, task_id: id }] : []))
    .filter((thought) => !isSeen(thought));
  const named = [...new Map([...open, ...unseen].map((thought) => [thought.delta_id, thought])).values()];
  const told = union(open.flatMap((account) => covers.get(account) ?? []));
  const left = [...unlisted].filter((oid) => !told.has(oid)).slice(0, MOST_COMMITS);
  return [...named.map(notReviewed), ...left.map(notListed)];
}

/** More are not named. */
const MOST_COMMITS = 100;

/** What thoughts cover, and which of it those that somebody approved do not list. */
type Covered = Pick<Writeback, 'covers' | 'findUnlisted'>;

type IsSeen = (thought: Pick<Said, 'delta_id' | 'identity'>) => boolean;

/** Whether somebody approved a thought. */
function approvedBy(reviews: readonly Verdict[]): IsSeen {
  const byThought = groupBy(reviews, ({ thought }) => thought);
  return ({ delta_id, identity }) => isApproved(identity, byThought.get(delta_id) ?? []);
}

/** The thoughts that cover a commit which none that somebody approved covers. */
function unreviewed(
  covers: ReadonlyMap<Account, CommitSet>,
  unlisted: ReadonlySet<Oid>,
  isSeen: IsSeen,
  budget: Budget,
): Account[] {
  const seen = new Map([...covers].filter(([account]) => isSeen(account)));
  const reached = union(seen.values());
  for (const oid of unlisted) reached.delete(oid);
  const isCovered = withinAll(reached, budget);
  const others = [...covers].filter(([account]) => !seen.has(account));
  return others.filter(([, commits]) => !isCovered(commits)).map(([account]) => account);
}

/** Those whose files count: somebody approved them, or a finding asks for it already. */
export async function reviewedAmong(
  accounts: readonly Account[],
  { covers, findUnlisted }: Covered,
  reviews: readonly Verdict[],
  budget: Budget,
): Promise<Account[]> {
  const isSeen = approvedBy(reviews);
  const unlisted = await findUnlisted(isSeen);
  const named = new Set(unreviewed(covers, unlisted, isSeen, budget));
  return accounts.filter((account) => named.has(account) || isSeen(account));
}

/** Many thoughts may share one set of commits, which is looked through once. */
function withinAll(all: ReadonlySet<Oid>, budget: Budget): (commits: CommitSet) => boolean {
  const isWithin = oncePer((commits: CommitSet) => hasOnly(commits, all));
  return (commits) => {
    budget.assertTime();
    return isWithin(commits);
  };
}

function hasOnly(commits: CommitSet, all: ReadonlySet<Oid>): boolean {
  for (const oid of commits) if (!all.has(oid)) return false;
  return true;
}

/** All reviews of these thoughts, in the change or on the protected branch. A review by the bot does not count: anybody can act as the bot. */
export async function verdictsOn(
  thoughts: ReadonlySet<string>,
  { evidence, sessions, trust }: { evidence: Evidence; sessions: readonly ChangedSession[]; trust: Trust },
): Promise<Verdict[]> {
  const arrived = sessions
    .flatMap(({ records }) => records)
    .filter(isOfKind('review'))
    .filter(({ record: { fields } }) => fields.thought !== undefined && thoughts.has(fields.thought));
  const verdicts = [...arrived, ...(await evidence.reviewsOf(thoughts))].map(toVerdict);
  return verdicts.filter(({ identity }) => trust.identities.get(identity)?.role !== 'bot');
}

/** What is reviewed. */
type Said = Pick<Account, 'delta_id' | 'identity' | 'task_id' | 'path'>;

/** Each reviewer's last word counts, and one refusal is enough. */
function isApproved(author: string, reviews: readonly Verdict[]): boolean {
  const words = new Map<string, Verdict>();
  for (const review of reviews.filter(({ identity }) => identity !== author)) {
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

function notListed(commit: Oid): Finding {
  return {
    code: 'review_missing',
    severity: 'error',
    commit,
    message: `Commit ${commit.slice(0, 12)} changes code, and no thought record that somebody approved lists it: what was approved stands on it.`,
    hint: `Record a thought about it (git handoff thought TASK --commit ${commit.slice(0, 12)}), or about all that comes, and somebody else approves that: git handoff review TASK --verdict approve`,
  };
}
