import { type Account, exemption, toAccount } from '../core/coverage.ts';
import { HandoffError } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Trust } from '../core/trust.ts';
import { type Change, openChanges } from '../git/changes.ts';
import { type Range, type RangeCommit, readNearRange, readRange } from '../git/range.ts';
import type { Oid } from '../git/store.ts';
import type { Session } from '../journal/registry.ts';
import type { Writer } from './append.ts';
import { type Covers, coverByAncestry, coverByPatch, isCovered } from './gate-coverage.ts';
import { readOwn } from './gate-writeback.ts';
import { readKnown } from './known.ts';
import { isHere } from './recover-records.ts';
import type { Repository } from './repository.ts';
import { protectedRefs, trackedTips } from './tracking.ts';

/**
 * SPEC §11.1: the final thought comes before the seal. So every commit of code since the session began, up to its baton or to
 * where its work tree is now, that the protected branch does not have, is covered by a thought.
 */
export async function assertWrittenBack(
  { repository, trust, session }: Pick<Writer, 'repository' | 'trust' | 'session'>,
  records: readonly PlacedRecord[],
): Promise<void> {
  for (const end of await endsOf(repository, trust, session, records)) {
    const commit = await firstUncounted(repository, trust, records, end);
    if (commit !== undefined) throw tooEarly(session, commit);
  }
}

/** A commit of code up to `end` that nobody has accounted for. */
async function firstUncounted(
  repository: Repository,
  trust: Trust,
  records: readonly PlacedRecord[],
  end: Oid,
): Promise<Oid | undefined> {
  const range = await workOf(repository, trust, end, (records[0]?.record.fields.head ?? null) as Oid | null);
  const accounts = records.filter(({ record }) => record.kind === 'thought').map(toAccount);
  const covers = coverByAncestry(range, accounts);
  const uncounted = range.commits.filter(({ oid }) => !isCovered(covers, oid));
  const isCode = await Promise.all(uncounted.map((commit) => mayBeCode(repository, commit)));
  const open = uncounted.filter((_, at) => isCode[at]);
  if (open.length === 0) return undefined;
  const missing = await uncovered(repository, trust, { ...range, commits: open }, accounts, covers);
  const others = missing.length === 0 ? () => true : await coveredByOthers(repository, trust, range);
  return missing.find((oid) => !others(oid));
}

/**
 * The commits that the session's work goes up to, as far as they are still there: its baton's; else where its work tree is, and the
 * branches that its records name, since another one may be checked out there by now, or the work tree be gone. On a protected
 * branch others work as well, and the gate judges what gets there.
 */
async function endsOf(
  repository: Repository,
  trust: Trust,
  session: Session,
  records: readonly PlacedRecord[],
): Promise<Set<Oid>> {
  const baton = records.find(({ record }) => record.kind === 'baton');
  const revs = baton ? [baton.record.fields.head] : [headOf(repository, session), ...ownBranches(trust, records)];
  const { store } = repository;
  const ends = new Set<Oid>();
  for (const rev of revs)
    if (typeof rev === 'string' && (await store.has(`${rev}^{commit}`))) ends.add((await store.readCommit(rev)).oid);
  return ends;
}

function headOf(repository: Repository, session: Session): string {
  if (isHere(repository, session)) return 'HEAD';
  return session.worktree === '.' ? 'main-worktree/HEAD' : `${session.worktree}/HEAD`;
}

function ownBranches(trust: Trust, records: readonly PlacedRecord[]): string[] {
  const named = records.map(({ record: { fields } }) => fields.branch).filter((name) => typeof name === 'string');
  const refs = [...new Set(named)].map((name) => `refs/heads/${name}`);
  return refs.filter((ref) => !protectedRefs(trust).includes(ref));
}

/** What the protected branch has was judged when it got there. */
async function workOf(repository: Repository, trust: Trust, head: Oid, began: Oid | null): Promise<Range> {
  const { git, store } = repository;
  const tracked = (await trackedTips(repository, trust)).map(({ oid }) => oid);
  const start = began !== null && (await store.has(`${began}^{commit}`)) ? [began] : [];
  const near = start[0] && tracked.length === 0 ? await readNearRange(store, head, start[0]) : null;
  return near ?? readRange(git, head, [...start, ...tracked]);
}

/** A merge, or a commit after which something but .handoff is another, as the topmost trees tell: most of a session's hold records alone. */
async function mayBeCode({ store }: Repository, { oid, parents }: RangeCommit): Promise<boolean> {
  const [parent, second] = parents;
  if (second !== undefined) return true;
  const code = async (rev: Oid | undefined) => {
    const entries = rev === undefined ? [] : (await store.readTree(rev))!.entries;
    return entries.filter(({ name }) => name !== ROOT).map((entry) => `${entry.mode} ${entry.oid} ${entry.name}`);
  };
  const [before, after] = await Promise.all([code(parent), code(oid)]);
  return before.join('\0') !== after.join('\0');
}

/** The newest first. */
async function uncovered(
  repository: Repository,
  { policy }: Trust,
  range: Range,
  accounts: readonly Account[],
  covers: Covers,
): Promise<Oid[]> {
  const isExempt = exemption(policy.document.fields.exempt as string[]);
  const changes = await readCommits(repository, range.commits);
  const byCommit = new Map(range.commits.map(({ oid }, at) => [oid, changes[at]!]));
  coverByPatch(range, byCommit, accounts, covers);
  const code = range.commits.filter(({ oid }) => byCommit.get(oid)!.paths.some((path) => !isExempt(path)));
  return code.map(({ oid }) => oid).filter((oid) => !isCovered(covers, oid));
}

async function readCommits(repository: Repository, commits: readonly RangeCommit[]): Promise<Change[]> {
  const changes = openChanges(repository.git, ROOT);
  try {
    return await readOwn(repository, changes, commits);
  } finally {
    await changes.close();
  }
}

/** A person may have written the thought or waived it, or somebody else's commits came with a pull. */
async function coveredByOthers(repository: Repository, trust: Trust, range: Range): Promise<(oid: Oid) => boolean> {
  const { history } = await readKnown(repository, trust);
  const known = new Set(range.commits.map(({ oid }) => oid));
  const thoughts = Object.values(history.tasks).flatMap((trail) => trail.thoughts);
  const covers = coverByAncestry(
    range,
    thoughts.filter(({ commit }) => known.has(commit)),
  );
  const waived = new Set(history.waivers.map(({ commit }) => commit));
  return (oid) => waived.has(oid) || isCovered(covers, oid);
}

function tooEarly({ session_id }: Session, commit: Oid): HandoffError {
  return new HandoffError(
    'seal_too_early',
    `Commit ${commit.slice(0, 12)} changes code, and no thought record follows it. The final thought comes before the seal.`,
    {
      hint: 'git handoff thought TASK --summary TEXT, then seal.',
      data: { session_id, commit },
    },
  );
}
