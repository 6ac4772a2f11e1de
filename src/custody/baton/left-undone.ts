import type { SharedFields } from '../../core/record/kinds.ts';
import { parseAs, parseSessionRecord } from '../../core/record/record.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Saved, savedRef } from '../../journal/saved/saved-name.ts';
import { readEntry, recordNumbers } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { openEverywhere } from '../../repository/everywhere/everywhere.ts';
import type { GitAccess, Settings, StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { readKnownTasks } from '../../repository/task-definitions.ts';
import { treesWithCodeOf } from '../../repository/told-thoughts.ts';
import { sharedRemote, trackedTips } from '../../repository/tracking.ts';
import type { Warning } from '../bundle.ts';

/** A branch that is pushed does not take along what was saved: it is a ref of its own. */
export async function savedHereWarnings(
  repository: Settings,
  { session_id }: Session,
  saved: Saved | null,
): Promise<Warning[]> {
  const remote = sharedRemote(await repository.config());
  if (!saved?.commit || remote === undefined) return [];
  const command = `git push ${quoteWord(remote)} ${savedRef(session_id)}`;
  return [{ kind: 'saved_here', message: `What was saved is only in this clone; for others, push it too: ${command}` }];
}

/** Tasks in focus that nobody has defined, on any branch: whoever picks up would look for them in vain. */
export async function focusWarnings(
  repository: Repository,
  trust: Trust,
  focus: readonly string[],
): Promise<Warning[]> {
  if (focus.length === 0) return []; // to read all tasks takes a while
  const tasks = await readKnownTasks(repository, await openEverywhere(repository, trust));
  const known = new Set(tasks.map(({ task_id }) => task_id));
  return focus
    .filter((id) => !known.has(id))
    .map((id) => ({ kind: 'unknown_task', message: `The baton has ${id} in focus, and there is no such task.` }));
}

/** Commits that a gate will ask a thought for, and that none of the session is about. */
export async function noThoughtWarnings(
  repository: GitAccess & Settings & StateDirectory,
  trust: Trust,
  session: Session,
  head: Oid | null,
): Promise<Warning[]> {
  const { writeback, exempt } = trust.policy.rules;
  const commits = head === null || !writeback.required ? [] : await withoutThought(repository, trust, session, head);
  if (commits.length === 0) return [];
  const what = commits.length === 1 ? '1 commit has' : `${commits.length} commits have`;
  const but = exempt.length > 0 ? ' Files that the policy exempts need none.' : '';
  const message = `${what} no thought, from ${commits.at(-1)!.slice(0, 12)} on; before it is merged: git handoff thought TASK TEXT, in a session.${but}`;
  return [{ kind: 'no_thought', message }];
}

/** If there are more, nothing is said about them. */
const MOST_COMMITS = 64;

/**
 * Those after the newest thought of the session, or since it began; the newest first. Where neither is found behind HEAD, as after a
 * rebase, or where a protected branch has them, nothing is certain and none is told.
 */
async function withoutThought(
  repository: GitAccess & Settings & StateDirectory,
  trust: Trust,
  session: Session,
  head: Oid,
): Promise<Oid[]> {
  const { store } = repository;
  const { began, thoughts } = readWork(repository, session);
  const accepted = new Set((await trackedTips(repository, trust)).map(({ oid }) => oid));
  const found: Oid[] = [];
  let oid = head;
  for (let steps = 0; steps < MOST_COMMITS; steps++) {
    if (thoughts.has(oid)) return found;
    if (accepted.has(oid)) return [];
    if (oid === began) return thoughts.size === 0 ? found : [];
    const { tree, parents } = await store.readCommit(oid);
    const [parent] = parents;
    if (parent === undefined) return [];
    const before = (await store.readCommit(parent)).tree;
    const isCode = parents.length === 1 && !(await treesWithCodeOf(repository, tree, [before])).has(before);
    if (isCode) found.push(oid);
    oid = parent;
  }
  return [];
}

interface Work {
  /** What HEAD was when the session began. */
  began: Oid | null;
  /** The commits that its thoughts are about. */
  thoughts: Set<Oid>;
}

function readWork(repository: StateDirectory, { session_id }: Session): Work {
  const dirs = dirsOf(repository);
  const work: Work = { began: null, thoughts: new Set() };
  for (const number of recordNumbers(dirs, session_id)) {
    const entry = readEntry(dirs, session_id, number);
    if (!('bytes' in entry)) continue;
    if (number === 1) work.began = headOf(entry.bytes);
    if (entry.kind === 'thought') work.thoughts.add(parseAs(entry.bytes, 'thought').fields.commit_sha);
  }
  return work;
}

function headOf(opening: Uint8Array): Oid | null {
  const { head }: SharedFields = parseSessionRecord(opening).fields;
  return head ?? null;
}
