import type { Account } from '../../core/writeback/account.ts';
import type { Oid } from '../../git/objects/store.ts';
import type { Range, RangeCommit } from '../../git/refs/range.ts';
import type { CodeOf } from './code.ts';
import type { Comparer } from './comparer.ts';
import type { OwnChanges } from './own-changes.ts';
import type { Repeats, SingleCommit } from './repeats.ts';

export interface AnchorCase {
  range: Range;
  head: Oid;
  own: OwnChanges;
  repeats: Repeats;
  /** What a thought is about, as far as it is to be had. */
  workOf(account: Account): Promise<ThoughtWork>;
}

/** What thoughts are read with. */
export interface ThoughtCase {
  comparer: Comparer;
  codeOf: CodeOf;
  /** What the protected branch is at. */
  knownCommits: readonly Oid[];
  /** All thoughts that arrive. */
  accounts: readonly Account[];
}

/** What was done, where it can still be read. */
export interface ThoughtWork {
  /** Whether the thought's commit is here. */
  isHere: boolean;
  /** Its commits by their patch ids. */
  commits: ReadonlyMap<string, readonly SingleCommit[]>;
  /** Whether the thought tells the truth about the patch id of the whole, and that patch fits at one place; true where nobody can tell. */
  isWhole(): Promise<boolean>;
  /** Whether a commit comes after all that the thought's commit and the protected branch have in common. */
  isAhead(commit: SingleCommit): Promise<boolean>;
  /** Whether the protected branch has left these paths alone since this commit. */
  isUntouched(since: Oid, paths: readonly string[]): Promise<boolean>;
  /** What a squash of the thought's commit onto another brings. */
  carriedOnto(parent: Oid): Promise<Carried>;
  /** The code that one of its commits changes. */
  pathsOf(commit: SingleCommit): Promise<string[]>;
}

/** What a squash brings that the thought's commit has done, or has behind it. */
export interface Carried {
  /** The code that it changes, whoever renamed it since. */
  paths: ReadonlySet<string>;
  /** The other thoughts that list some of it, about what the commit has behind it. */
  beside: readonly Account[];
  /** Whether these and the thought list all that it brings. */
  isListed: boolean;
}

/** The commits that may do what a thought is about, the oldest first. */
export interface Candidates extends AnchorCase {
  free: readonly RangeCommit[];
  alike: ReadonlyMap<string, readonly RangeCommit[]>;
}

/** Commits that do what a thought is about. */
export interface Found {
  commits: Map<Oid, HowFound>;
  /** Other thoughts, whose files came with it. */
  beside?: readonly Account[];
}

/** Null: it is as it was. Else git has moved it, and these are the paths that were changed before it was moved. */
export type HowFound = { changed: ReadonlySet<string> } | null;

export type Rule = (input: Candidates, account: Account) => Promise<Found | null>;

/** As often as the thought has it: what was taken back and done again is there twice. */
export function eachPatchId({ commitPatchIds }: Account): string[] {
  return [...commitPatchIds].flatMap(([id, count]) => Array.from({ length: count }, () => id));
}

/** Whether the thought's own commits, where they are to be had, have the ids that it lists. Else it tells of another change. */
export function hasItsIds(
  { isHere, commits }: Pick<ThoughtWork, 'isHere' | 'commits'>,
  { commitPatchIds }: Account,
): boolean {
  return !isHere || [...commitPatchIds].every(([id, count]) => (commits.get(id)?.length ?? 0) >= count);
}

export async function filterAsync<T>(list: readonly T[], isIt: (item: T) => Promise<boolean>): Promise<T[]> {
  const answers = await Promise.all(list.map(isIt));
  return list.filter((_, at) => answers[at]);
}

export async function findAsync<T>(list: readonly T[], isIt: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of list) if (await isIt(item)) return item;
  return undefined;
}
