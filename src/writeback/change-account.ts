import { ROOT } from '../core/paths.ts';
import type { SharedFields } from '../core/record/kinds.ts';
import { parseSessionRecord } from '../core/record/record.ts';
import type { Trust } from '../core/trust/trust.ts';
import { readChanges } from '../git/changes/changes.ts';
import type { Commit, Oid } from '../git/objects/store.ts';
import { missingObject, shallowAncestry } from '../git/objects/store-error.ts';
import { readForkedRange } from '../git/refs/forked-range.ts';
import { type Range, readRange } from '../git/refs/range.ts';
import { readEntry } from '../journal/sessions/records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf } from '../journal/sessions/session-state.ts';
import type { GitAccess, Settings, StateDirectory } from '../repository/parts.ts';
import { type ProtectedTip, trackedTips } from '../repository/tracking.ts';

/** What a piece of work changed outside .handoff, from where it began up to a commit. SPEC §9.2 */
export interface ChangeAccount {
  /** The commit it is compared with; null: with nothing. */
  base: Oid | null;
  tree: Oid;
  files_changed: string[];
  /** The patch id of the whole change, which a squash keeps. Null where nothing changed. */
  patch_id: string | null;
  /** The patch id of each commit, which a rebase keeps. The newest first. */
  commit_patch_ids: string[];
}

/** More commits than that, and only the newest are listed one by one: a record has a size. */
const MOST_COMMITS = 1000;

/** `base`: where the work began, if somebody says so. */
export async function accountOf(
  repository: GitAccess & Settings & StateDirectory,
  trust: Trust,
  session: Session,
  commit: Commit,
  base?: Oid,
): Promise<ChangeAccount> {
  const began = await findBase(repository, trust, session, commit.oid, base);
  const before = began.base === null ? null : (await repository.store.readCommit(began.base)).tree;
  const single = began.commits.filter(({ parents }) => parents.length < 2).slice(0, MOST_COMMITS);
  // nothing happened: no process need be asked
  const comparisons = before === commit.tree ? [] : [{ before, after: commit.tree }];
  const changes = await readChanges(
    repository.git,
    [...comparisons, ...single.map(({ oid }) => ({ commit: oid }))],
    ROOT,
  );
  const whole = comparisons.length === 0 ? NOTHING : changes[0]!;
  const ids = changes.slice(comparisons.length).map(({ patchId }) => patchId);
  return {
    base: began.base,
    tree: commit.tree,
    files_changed: [...whole.paths].sort(),
    patch_id: whole.patchId,
    commit_patch_ids: [...new Set(ids.filter((id) => id !== null))],
  };
}

const NOTHING = { paths: [], patchId: null };

interface Beginning {
  base: Oid | null;
  commits: Range['commits'];
}

async function findBase(
  repository: GitAccess & Settings & StateDirectory,
  trust: Trust,
  session: Session,
  commit: Oid,
  base: Oid | undefined,
): Promise<Beginning> {
  if (base !== undefined) return since(repository, commit, [{ ref: base, oid: base }]);
  const tracked = await trackedTips(repository, trust);
  const shared = tracked.length === 0 ? null : await since(repository, commit, tracked);
  // a remote that shares no history with us says nothing about where the work began
  if (shared && (shared.base !== null || shared.commits.length === 0)) return shared;
  const head = openedAt(repository, session);
  if (head === null) return since(repository, commit, []);
  if (!(await repository.store.has(head))) throw missingObject(head);
  return since(repository, commit, [{ ref: head, oid: head }]);
}

/** The commit at which the session began; null on an unborn branch. */
function openedAt(repository: StateDirectory, { session_id }: Session): Oid | null {
  const entry = readEntry(dirsOf(repository), session_id, 1);
  if (!('bytes' in entry)) return null;
  const opening: SharedFields = parseSessionRecord(entry.bytes).fields;
  return opening.head ?? null;
}

/** The commits since the protected tips, and the commit where the work left them. */
async function since(repository: GitAccess, commit: Oid, protectedTips: readonly ProtectedTip[]): Promise<Beginning> {
  const tips = protectedTips.map(({ oid }) => oid);
  const { commits, boundary } = await readForkedRange(repository.git, repository.store, commit, tips);
  if (commits.length === 0) return { base: commit, commits };
  if (boundary.size === 1) return { base: [...boundary][0]!, commits };
  // whoever merged all of a branch in has left it there
  const merged = tips.find((oid) => boundary.has(oid));
  if (merged && tips.length === 1) return { base: merged, commits };
  if (boundary.size === 0) {
    if (await repository.store.isShallow()) throw shallowAncestry();
    return { base: null, commits };
  }
  return { base: await nearestBase(repository, commit, tips), commits };
}

/** Edges on several sides, as after a merge: of several branches, the one that was left last is where the work began. */
async function nearestBase(repository: GitAccess, commit: Oid, tips: readonly Oid[]): Promise<Oid | null> {
  let nearest: { base: Oid; commits: number } | null = null;
  for (const tip of tips) {
    const [base] = await repository.store.mergeBases(commit, tip);
    if (!base) continue;
    if (tips.length === 1) return base;
    const { commits } = await readRange(repository.git, commit, [base]);
    if (!nearest || commits.length < nearest.commits) nearest = { base, commits: commits.length };
  }
  return nearest?.base ?? null;
}
