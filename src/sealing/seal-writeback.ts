import { openTree } from '../audit/source/tree-source.ts';
import { HandoffError } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import { isOfKind, type SharedFields } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type Account, toAccount } from '../core/writeback/account.ts';
import { readKnownSessions } from '../custody/known-sessions.ts';
import { accountsFor, waivedAmong } from '../gate/accounts.ts';
import { coverByAncestry, union } from '../gate/coverage/ancestry.ts';
import { openAnchoring } from '../gate/coverage/anchors.ts';
import { codeBy } from '../gate/coverage/code.ts';
import { openComparer } from '../gate/coverage/comparer.ts';
import { readOwn } from '../gate/coverage/own-changes.ts';
import { openRepeats } from '../gate/coverage/repeats.ts';
import { openThoughtWork } from '../gate/coverage/thought-work.ts';
import { readExempt } from '../gate/exempt.ts';
import type { Oid } from '../git/objects/store.ts';
import { type Range, type RangeCommit, readNearRange, readRange } from '../git/refs/range.ts';
import type { Writer } from '../journal/append.ts';
import { isHere } from '../journal/commits/recover-records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { openHere } from '../repository/everywhere/everywhere.ts';
import type { Directories, GitAccess, Settings } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { protectedRefs, trackedTips } from '../repository/tracking.ts';

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
  const opening: SharedFields | undefined = records[0]?.record.fields;
  const range = await workOf(repository, trust, end, opening?.head ?? null);
  const accounts = records.filter(isOfKind('thought')).map(toAccount);
  const covered = union(coverByAncestry(range, accounts).values());
  const uncounted = range.commits.filter(({ oid }) => !covered.has(oid));
  const isCode = await Promise.all(uncounted.map((commit) => mayBeCode(repository, commit)));
  const open = uncounted.filter((_, at) => isCode[at]);
  if (open.length === 0) return undefined;
  const missing = await uncovered(repository, trust, { ...range, commits: open }, accounts, end);
  const others = missing.length === 0 ? () => true : await coveredByOthers(repository, trust, range);
  return missing.find((oid) => !others(oid));
}

/**
 * The commits that the session's work goes up to, as far as they are still there: its baton's; else where its work tree is, and the
 * branches that its records name, since another one may be checked out there by now, or the work tree be gone. On a protected
 * branch others work as well, and the gate judges what gets there.
 */
async function endsOf(
  repository: GitAccess & Directories,
  trust: Trust,
  session: Session,
  records: readonly PlacedRecord[],
): Promise<Set<Oid>> {
  const baton = records.find(isOfKind('baton'));
  const revs = baton ? [baton.record.fields.head] : [headOf(repository, session), ...ownBranches(trust, records)];
  const { store } = repository;
  const ends = new Set<Oid>();
  for (const rev of revs)
    if (typeof rev === 'string' && (await store.has(`${rev}^{commit}`))) ends.add((await store.readCommit(rev)).oid);
  return ends;
}

function headOf(repository: Directories, session: Session): string {
  if (isHere(repository, session)) return 'HEAD';
  return session.worktree === '.' ? 'main-worktree/HEAD' : `${session.worktree}/HEAD`;
}

function ownBranches(trust: Trust, records: readonly PlacedRecord[]): string[] {
  const named = records.map(({ record: { fields } }) => branchOf(fields)).filter((name) => name !== undefined);
  const refs = [...new Set(named)].map((name) => `refs/heads/${name}`);
  return refs.filter((ref) => !protectedRefs(trust).includes(ref));
}

function branchOf({ branch }: SharedFields): string | undefined {
  return branch;
}

/** What the protected branch has was judged when it got there. */
async function workOf(repository: GitAccess & Settings, trust: Trust, head: Oid, began: Oid | null): Promise<Range> {
  const { git, store } = repository;
  const tracked = (await trackedTips(repository, trust)).map(({ oid }) => oid);
  const start = began !== null && (await store.has(`${began}^{commit}`)) ? [began] : [];
  const near = start[0] && tracked.length === 0 ? await readNearRange(store, head, start[0]) : null;
  return near ?? readRange(git, head, [...start, ...tracked]);
}

/** A merge, or a commit after which something but .handoff is another, as the topmost trees tell: most of a session's hold records alone. */
async function mayBeCode({ store }: GitAccess, { oid, parents }: RangeCommit): Promise<boolean> {
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
  repository: GitAccess & Directories,
  trust: Trust,
  range: Range,
  accounts: readonly Account[],
  head: Oid,
): Promise<Oid[]> {
  const beginnings = await Promise.all([...range.boundary].map((oid) => openTree(repository.store, oid)));
  const { patterns, folders } = await readExempt(trust, beginnings);
  const codeOf = codeBy(patterns, folders);
  const comparer = openComparer(repository);
  try {
    const changes = await readOwn(comparer, codeOf, range.commits);
    const own = new Map(range.commits.map(({ oid }, at) => [oid, changes[at]!]));
    const elsewhere = accounts.filter(({ commit }) => !own.has(commit));
    const thoughtWorkOf = openThoughtWork(repository, {
      comparer,
      codeOf,
      knownCommits: [...range.boundary],
      accounts,
    });
    const anchoring = openAnchoring({
      range,
      head,
      own,
      repeats: openRepeats(comparer, codeOf),
      workOf: thoughtWorkOf,
    });
    await anchoring.byPatch(elsewhere);
    for (const account of elsewhere) await anchoring.byTree(account);
    const covered = union(anchoring.found.covers.values());
    return [...own].filter(([oid, change]) => codeOf(change).length > 0 && !covered.has(oid)).map(([oid]) => oid);
  } finally {
    await comparer.close();
  }
}

/** A person may have written the thought or waived it, or somebody else's commits came with a pull. */
async function coveredByOthers(repository: Repository, trust: Trust, range: Range): Promise<(oid: Oid) => boolean> {
  const { evidence } = await readKnownSessions(repository, trust, await openHere(repository, trust));
  const commits = range.commits.map(({ oid }) => oid);
  const covered = union(coverByAncestry(range, await accountsFor(evidence, commits)).values());
  const waived = new Set(await waivedAmong(evidence, commits));
  return (oid) => waived.has(oid) || covered.has(oid);
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
