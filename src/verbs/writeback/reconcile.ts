import { posix } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { ThoughtRecord } from '../../core/generated/types.ts';
import { groupBy } from '../../core/group-by.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import type { SharedFields } from '../../core/record/kinds.ts';
import { parseAs, parseSessionRecord } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import {
  stateOf,
  type TaskThought,
  type TaskTrail,
  type TracedRecord,
  wholeTrail,
  writebackAtChange,
  writebackOf,
} from '../../core/task/state.ts';
import { listSome } from '../../core/text/list-some.ts';
import { nodeSuite } from '../../crypto.ts';
import { type KnownSessions, readKnownSessions } from '../../custody/known-sessions.ts';
import { tidyKnownSessions } from '../../custody/tidy.ts';
import type { Oid } from '../../git/objects/store.ts';
import { append } from '../../journal/append.ts';
import { publishRecords } from '../../journal/commits/publish-records.ts';
import { readEntry } from '../../journal/sessions/records.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { openHere } from '../../repository/everywhere/everywhere.ts';
import type { GitAccess } from '../../repository/parts.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { readKnownTasks } from '../../repository/task-definitions.ts';
import { protectedTip } from '../../repository/tracking.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { type DoneChange, findReverts } from '../../writeback/reverts.ts';
import { type Author, authorOf, openWriter, type RecordOptions } from '../session/record-verbs.ts';

export interface ReconcileOptions extends RecordOptions {
  /** Only say what was reverted. */
  dryRun?: boolean;
}

export interface ReconcileResult extends Partial<Author> {
  /** Where it was looked for; null when there is no commit yet. */
  branch: string | null;
  reverted: { task_id: string; commit_sha: string; reverted_by: string }[];
  /** The tasks that are `todo` again. */
  reinstated: string[];
}

/** Done tasks whose change was taken back on the protected branch are to do again. SPEC §9.6 */
export async function reconcile(repository: Repository, options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const trust = await requireTrust(repository);
  const knownSessions = await readKnownSessions(repository, trust, await openHere(repository, trust));
  const tip = await protectedTip(repository, trust);
  const found = tip ? await findReverts(repository, tip.oid, await doneChanges(repository, knownSessions)) : new Map();
  const reverts = [...found].map(([{ task_id, commit_sha }, by]): Revert => ({ task_id, commit_sha, by }));
  const reinstated = reverts.map(({ task_id }) => task_id);
  const isWriting = !options.dryRun && reverts.length > 0;
  if (isWriting) await tidyKnownSessions(repository, trust, knownSessions);
  const author = isWriting ? await reinstate(repository, options, reverts, tip!.ref) : {};
  return {
    ...author,
    branch: tip?.ref ?? null,
    reverted: reverts.map(({ task_id, commit_sha, by }) => ({ task_id, commit_sha, reverted_by: by[0]! })),
    reinstated: options.dryRun ? [] : reinstated,
  };
}

interface Revert {
  task_id: string;
  commit_sha: Oid;
  by: Oid[];
}

async function reinstate(
  repository: Repository,
  options: ReconcileOptions,
  reverts: readonly Revert[],
  ref: string,
): Promise<Author> {
  enterWorkTree(repository);
  const writer = await openWriter(repository, options, null);
  const paths: string[] = [];
  for (const { task_id, commit_sha, by } of reverts) {
    const reason = reasonFor(commit_sha, by, ref);
    const { path } = await append(writer, { kind: 'task', fields: { task_id, status: 'todo', reason } });
    paths.push(path);
  }
  const message = options.commit ? `handoff: ${writer.session.identity} reinstates what was reverted` : null;
  await publishRecords(repository, writer.session, paths, message, options);
  return authorOf(writer.session);
}

const MOST_NAMED = 8;

function reasonFor(commit: Oid, by: readonly Oid[], ref: string): string {
  const names = by.map((oid) => oid.slice(0, 12));
  const branch = ref.replace(/^refs\/(?:heads|remotes)\//, '').slice(0, 255);
  return `reinstated: its change up to ${commit.slice(0, 12)} was reverted on ${branch} by ${listSome(names, MOST_NAMED)}`;
}

/** Looks only at tasks that are defined: anybody can write records about invented ones, and no work waits for those. */
async function doneChanges(repository: Repository, knownSessions: KnownSessions): Promise<DoneChange[]> {
  const ids = (await readKnownTasks(repository, knownSessions)).map((task) => task.task_id);
  const records = groupBy(await knownSessions.evidence.ofTasks(ids), taskOf);
  const changes: DoneChange[] = [];
  for (const task_id of ids.filter((id) => records.has(id))) {
    const trail = wholeTrail(task_id, records.get(task_id)!);
    const change =
      stateOf(trail)?.status === 'done' ? await doneChange(repository, knownSessions, task_id, trail) : null;
    if (change) changes.push(change);
  }
  return changes;
}

async function doneChange(
  repository: Repository,
  knownSessions: KnownSessions,
  task_id: string,
  trail: TaskTrail,
): Promise<DoneChange | null> {
  const [newest, first] = [writebackOf(trail), writebackAtChange(trail)];
  const change = newest && (await toChange(repository, knownSessions, task_id, newest));
  const earlier =
    first && first.delta_id !== newest?.delta_id ? await toChange(repository, knownSessions, task_id, first) : null;
  return change && { ...change, earlier };
}

/** What was only written under its lock does not change a task. */
function taskOf({ record: { fields } }: TracedRecord): string {
  return ('task_id' in fields && fields.task_id) || '';
}

async function toChange(
  repository: Repository,
  knownSessions: KnownSessions,
  task_id: string,
  thought: TaskThought,
): Promise<DoneChange | null> {
  const fields = await readThoughtRecord(repository, knownSessions, thought);
  if (!fields) return null;
  const { commit_sha, patch_id = null, commit_patch_ids = [] } = fields;
  const since = await beginnings(repository, thought.path, commit_sha);
  return { task_id, commit_sha, patch_id, commit_patch_ids, since, earlier: null };
}

/** The commit itself, which a squash may have left behind, and the one at which its session began. */
async function beginnings({ store }: GitAccess, path: string, commit: Oid): Promise<Oid[]> {
  const found = [commit];
  for (const kind of ['start', 'pickup']) {
    const name = `HEAD:${posix.dirname(path)}/0001-${kind}.yaml`;
    if (!(await store.has(name))) continue;
    const bytes = await store.readBlob((await store.resolve(name))!, MAX_RECORD_BYTES);
    const { head }: SharedFields = parseSessionRecord(bytes).fields;
    if (head === null) return []; // there was nothing before
    if (head !== undefined) found.push(head);
  }
  const present = await Promise.all(found.map((oid) => store.has(`${oid}^{commit}`)));
  return found.filter((_, at) => present[at]);
}

/** The very record that was folded, from the journal or from HEAD; null when neither has it any more. */
async function readThoughtRecord(
  repository: Repository,
  { live }: KnownSessions,
  { path, delta_id }: TaskThought,
): Promise<ThoughtRecord | null> {
  const bytes = journalledThought(repository, live, path) ?? (await committedThought(repository, path));
  if (!bytes) return null;
  const record = parseAs(bytes, 'thought');
  if (recordId(record.signedBytes, nodeSuite) === delta_id) return record.fields;
  throw new HandoffError('record_changed', `${path} is not the record that was verified.`, {
    hint: 'git handoff verify says more.',
  });
}

function journalledThought(repository: Repository, live: KnownSessions['live'], path: string): Uint8Array | null {
  const session = live.find((each) => each.session.folder === posix.dirname(path))?.session;
  const name = parseRecordName(posix.basename(path));
  if (!session || !name) return null;
  const entry = readEntry(dirsOf(repository), session.session_id, name.seq);
  return 'bytes' in entry ? entry.bytes : null;
}

async function committedThought({ store }: GitAccess, path: string): Promise<Uint8Array | null> {
  const name = `HEAD:${path}`;
  return (await store.has(name)) ? store.readBlob((await store.resolve(name))!, MAX_RECORD_BYTES) : null;
}
