import { type Evidence, withRecords } from '../audit/evidence/evidence.ts';
import { readHistory } from '../audit/history/history.ts';
import type { Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { HandoffError } from '../core/error.ts';
import { recordName } from '../core/paths.ts';
import { parseRecord } from '../core/record/record.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { recordId, verifyRecord } from '../core/record/verify.ts';
import { addSession, emptyHistory, type History } from '../core/session/history.ts';
import { findOwn } from '../core/session/session-summary.ts';
import { type TaskTrail, wholeTrail } from '../core/task/state.ts';
import { standingKeys } from '../core/trust/key-standing.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { isCommitted } from '../journal/sessions/committed.ts';
import { type Entry, lastRecord, readEntry, recordNumbers } from '../journal/sessions/records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, liveSessions } from '../journal/sessions/session-state.ts';
import { cacheFolder, type Repository } from '../repository/repository.ts';
import { evidenceIn } from '../repository/tree-evidence.ts';

/** What can be known here: what HEAD holds, and what the sessions of this machine have journalled beyond it. */
export interface Known {
  history: History;
  live: LiveSession[];
  /** Those of them that HEAD has whole, by id. */
  committed: ReadonlySet<string>;
  /** Identities of which records count for nothing, since their keys were revoked. */
  distrusted: readonly string[];
  /** Whether nothing was found to be broken in what HEAD holds. */
  isSound: boolean;
  /** All that is said about what is named, for verdicts: the history is bounded, and only there to be shown. */
  evidence: Evidence;
}

/** Reads, and changes nothing: what can be tidied up by then is `tidyKnown`'s. */
export async function readKnown(repository: Repository, trust: Trust): Promise<Known> {
  const head = (await repository.store.resolve('HEAD')) === null ? null : await openTree(repository.store, 'HEAD');
  const { history, distrusted, isSound } = await committedHistory(repository, head, trust);
  const live = liveSessions(repository, trust);
  const uncommitted: PlacedRecord[] = [];
  const committed = new Set<string>();
  for (const { session } of live) {
    if (isHeld(repository, history, session)) committed.add(session.session_id);
    else uncommitted.push(...(await addJournal(repository, trust, history, session)));
  }
  const evidence = withRecords(head && evidenceIn(repository, head, trust), uncommitted);
  return { history, live, committed, distrusted, isSound, evidence };
}

/** What is known of a task, nothing left out. */
export async function knownTrail({ evidence }: Known, id: string): Promise<TaskTrail> {
  return wholeTrail(id, await evidence.ofTasks([id]));
}

async function committedHistory(
  repository: Repository,
  head: Source | null,
  trust: Trust,
): Promise<Pick<Known, 'history' | 'distrusted' | 'isSound'>> {
  if (head === null) return { history: emptyHistory(), distrusted: [], isSound: true };
  const { history, findings, distrusted } = await readHistory(head, trust, {
    suite: nodeSuite,
    cacheFolder: repository.build === null ? null : cacheFolder(repository, 'history'),
    onProgress: repository.progress,
  });
  const broken = findings.filter(({ severity }) => severity === 'error').length;
  if (broken > 0)
    repository.warn(`Problems in .handoff: ${broken}. They are left out of what follows: git handoff verify`);
  return { history, distrusted, isSound: broken === 0 };
}

/** Whether HEAD has all that the journal has. What was found to be committed need not be compared byte for byte again. */
function isHeld(repository: Repository, { sessions }: History, session: Session): boolean {
  const known = findOwn(sessions, session);
  if (!known) return false;
  const last = lastRecord(dirsOf(repository), session.session_id);
  if (known.last_seq !== last?.number) return false;
  return isCommitted(dirsOf(repository), session.session_id) || known.last_id === idOf(last);
}

async function addJournal(
  repository: Repository,
  trust: Trust,
  history: History,
  session: Session,
): Promise<PlacedRecord[]> {
  try {
    const records = await journalled(repository, trust, session);
    addSession(history, session.folder, records);
    return records;
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`The journal of session ${session.session_id} is left out: ${error.message}`);
    return [];
  }
}

/** The records of a session's journal, each verified. What a key signed that was revoked since says nothing any more. */
export async function journalled(repository: Repository, trust: Trust, session: Session): Promise<PlacedRecord[]> {
  const dirs = dirsOf(repository);
  const identity = trust.identities.get(session.identity);
  if (!identity) throw notHere(session.identity);
  const standing = new Set(standingKeys(identity).map(({ fingerprint }) => fingerprint));
  const records: PlacedRecord[] = [];
  for (const number of recordNumbers(dirs, session.session_id)) {
    const entry = readEntry(dirs, session.session_id, number);
    if (!('bytes' in entry)) continue;
    const record = await verifyRecord(parseRecord(entry.bytes), identity.keys, nodeSuite);
    if (!standing.has(record.fingerprint)) continue;
    records.push({ path: `${session.folder}/${recordName(number, entry.kind)}`, record });
  }
  return records;
}

function idOf(entry: Entry): string | null {
  return 'bytes' in entry ? recordId(parseRecord(entry.bytes).signedBytes, nodeSuite) : null;
}

/** Its identity came on another branch. */
function notHere(identity: string): HandoffError {
  return new HandoffError('signer_unknown', `${identity} is not signed in on this branch; merge the one where it is.`);
}
