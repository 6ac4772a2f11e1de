import { readFileSync } from 'node:fs';
import { HandoffError } from '../core/error.ts';
import { hasCode } from '../core/error-code.ts';
import type { OwnFields } from '../core/record/kinds.ts';
import type { History } from '../core/session/history.ts';
import { taskTrail } from '../core/session/history-queries.ts';
import { byNewest } from '../core/session/newest.ts';
import type { TaskThought } from '../core/task/state.ts';
import { listSome } from '../core/text/list-some.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { readKnownSessions } from '../custody/known-sessions.ts';
import type { Commit, Oid } from '../git/objects/store.ts';
import { readThoughtFile, type ThoughtFields } from '../journal/drafts/thought-file.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { openHere } from '../repository/everywhere/everywhere.ts';
import { requireBranch, requireCommit } from '../repository/named-commit.ts';
import type { GitAccess } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { readTask, type TaskDefinition } from '../repository/task-definitions.ts';
import { accountOf, type ChangeAccount } from './change-account.ts';

/** A thought as a draft of it is kept. */
export type KeptThought = OwnFields<'thought'> & { base?: string };

/** A thought as it will be written, but for what the session adds. */
export interface PlannedThought {
  fields: OwnFields<'thought'>;
  /** The same fields as a later writer needs them: they name the commit at which the work began, so that it is not guessed again. */
  kept: KeptThought;
  /** The highest clock that was seen: the record counts on from it. */
  clock: number;
}

/** Fields that the user left out are filled in from git and from the records; given ones are compared with them. SPEC §9.2 */
export async function planThought(
  repository: Repository,
  trust: Trust,
  session: Session,
  id: string,
  given: ThoughtFields,
): Promise<PlannedThought> {
  if (given.task_id !== undefined && given.task_id !== id) throw otherTask(id, given.task_id);
  const task = await readTask(repository, trust, id);
  const commit = await requireCommit(repository, given.commit_sha ?? 'HEAD');
  const base = given.no_code ? commit.oid : await givenBase(repository, given);
  const branch = await requireBranch(repository, given.branch, commit.oid);
  const account = await accountOf(repository, trust, session, commit, base);
  if (given.files_changed) assertFiles(given.files_changed, account.files_changed);
  assertDerived(given, account);
  const { history } = await readKnownSessions(repository, trust, await openHere(repository, trust));
  const related = given.related_thought_records ?? relatedThoughts(history, task);
  const fields = toFields(id, branch, commit, account, { ...given, related_thought_records: related });
  const kept = account.base === null ? fields : { ...fields, base: account.base };
  return { fields, kept, clock: history.clock };
}

async function givenBase(repository: GitAccess, { base }: ThoughtFields): Promise<Oid | undefined> {
  return base === undefined ? undefined : (await requireCommit(repository, base)).oid;
}

function toFields(
  id: string,
  branch: string,
  { oid }: Commit,
  account: ChangeAccount,
  given: ThoughtFields,
): OwnFields<'thought'> {
  const { tests_run = [], evidence = [], summary = '', blockers = [], related_thought_records = [] } = given;
  const { tree, patch_id, commit_patch_ids, files_changed } = account;
  return {
    task_id: id,
    branch,
    commit_sha: oid,
    tree,
    ...(patch_id === null ? {} : { patch_id }),
    ...(commit_patch_ids.length === 0 ? {} : { commit_patch_ids }),
    tests_run,
    ...(evidence.length === 0 ? {} : { evidence }),
    summary,
    blockers,
    files_changed,
    related_thought_records,
    ...(given.no_code ? { no_code: true } : {}),
  };
}

export function readThought(path: string): ThoughtFields {
  try {
    return readThoughtFile(readFileSync(path));
  } catch (cause) {
    if (!hasCode(cause) || cause instanceof HandoffError) throw cause;
    throw new HandoffError('usage', `The thought cannot be read from ${path}: ${cause.message}`, {
      hint: 'Name a file that you may read. What it holds, and how to do without one: git handoff thought --help',
      cause,
    });
  }
}

const MOST_RELATED = 16;

/** Those of the tasks that this one needs, the newest of each, and all earlier ones of its own. */
function relatedThoughts(history: History, { task_id, depends_on }: TaskDefinition): string[] {
  const thoughtsOf = (id: string): TaskThought[] => taskTrail(history, id)?.thoughts ?? [];
  const found = [...depends_on.flatMap((id) => thoughtsOf(id).slice(0, 1)), ...thoughtsOf(task_id)];
  return found
    .sort(byNewest)
    .slice(0, MOST_RELATED)
    .map(({ delta_id }) => delta_id);
}

function assertFiles(given: readonly string[], changed: readonly string[]): void {
  const missing = changed.filter((path) => !given.includes(path));
  const surplus = given.filter((path) => !changed.includes(path));
  if (missing.length === 0 && surplus.length === 0) return;
  const parts = [
    ...(missing.length > 0 ? [`missing ${listed(missing)}`] : []),
    ...(surplus.length > 0 ? [`not changed ${listed(surplus)}`] : []),
  ];
  throw new HandoffError('usage', `files_changed is not what git says: ${parts.join('; ')}.`, {
    hint: 'Leave it out, and it is filled in. If the work began at another commit, name that with --base.',
    data: { missing, surplus },
  });
}

/** Whoever gives them may have another commit in mind; a record with ids of other code would account for that. */
function assertDerived(given: ThoughtFields, account: ChangeAccount): void {
  const asText = (value: string | readonly string[] | null) => (Array.isArray(value) ? value.toSorted().join() : value);
  const fields = ['tree', 'patch_id', 'commit_patch_ids'] as const;
  const wrong = fields.filter((key) => given[key] !== undefined && asText(given[key]) !== asText(account[key]));
  if (wrong.length === 0) return;
  throw new HandoffError('usage', `${wrong.join(', ')}: not what git says of this commit.`, {
    hint: 'Leave them out, and they are filled in. If the thought is about another commit, name that with --commit, and where the work began with --base.',
    data: { fields: wrong },
  });
}

function listed(paths: readonly string[]): string {
  const quoted = paths.map((path) => JSON.stringify(path));
  return listSome(quoted, 5);
}

function otherTask(id: string, found: string): HandoffError {
  return new HandoffError('usage', `The file is about task ${JSON.stringify(found)}, not ${id}.`, {
    hint: `git handoff thought ${quoteWord(found)} --file FILE`,
    data: { task_id: id, found },
  });
}
