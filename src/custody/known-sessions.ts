import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Evidence, withRecords } from '../audit/evidence/evidence.ts';
import { findSessions, type ReadHistory, readHistory } from '../audit/history/history.ts';
import type { Source } from '../audit/source/source.ts';
import { HandoffError } from '../core/error.ts';
import { recordName } from '../core/paths.ts';
import { CLOCK_SLACK } from '../core/record/clocks.ts';
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
import { type JournalEntry, lastRecord, readEntry, recordNumbers } from '../journal/sessions/records.ts';
import type { Session } from '../journal/sessions/registry.ts';
import { dirsOf, type LiveSession, liveSessions } from '../journal/sessions/session-state.ts';
import { type Everywhere, openEverywhere } from '../repository/everywhere/everywhere.ts';
import type { Messages, StateDirectory } from '../repository/parts.ts';
import { cacheFolder, type Repository } from '../repository/repository.ts';
import { evidenceIn } from '../repository/tree-evidence.ts';

/** All sessions that can be known on this machine: those that any branch has, and what this machine's sessions have journalled beyond that. */
export interface KnownSessions {
  /** What is committed, on any branch; null where nothing is. */
  source: Source | null;
  /** The trust by which that is judged. */
  trust: Trust;
  /** The branch on which something was found that is not checked out, by its path. */
  refOf: Everywhere['refOf'];
  /** Every branch that was looked at. */
  tips: Everywhere['tips'];
  history: History;
  live: LiveSession[];
  /** Those of them that HEAD has whole, by id. */
  committed: ReadonlySet<string>;
  /** Those of them that some branch has whole. */
  held: ReadonlySet<string>;
  /** Identities whose records count for nothing, because their keys were revoked. */
  distrusted: readonly string[];
  /** Whether nothing was found to be broken in what HEAD holds. */
  isSound: boolean;
  /** For verdicts: everything that records say about a task or session. The history is bounded and only for showing. */
  evidence: Evidence;
}

/** Reads and changes nothing: `tidyKnownSessions` does the tidying, after the checks. */
export async function readKnownSessions(
  repository: Repository,
  here: Trust,
  everywhere?: Everywhere,
): Promise<KnownSessions> {
  const { source, headTree, trust, tips, refOf } = everywhere ?? (await openEverywhere(repository, here));
  const { history, distrusted, isSound } = await committedHistory(repository, source, headTree, trust);
  const live = liveSessions(repository, trust);
  const uncommitted: PlacedRecord[] = [];
  const committed = new Set<string>();
  const held = new Set<string>();
  for (const { session } of live) {
    if (!isCommittedSomewhere(repository, history, session)) {
      uncommitted.push(...(await addJournal(repository, trust, history, session)));
      continue;
    }
    held.add(session.session_id);
    if (refOf(session.folder) === null) committed.add(session.session_id);
  }
  const evidence = withRecords(source && evidenceIn(repository, source, trust), uncommitted);
  return { source, trust, tips, refOf, history, live, committed, held, distrusted, isSound, evidence };
}

/** Everything that records say about a task. */
export async function knownTrail({ evidence }: KnownSessions, id: string): Promise<TaskTrail> {
  return wholeTrail(id, await evidence.ofTasks([id]));
}

async function committedHistory(
  repository: StateDirectory & Messages,
  source: Source | null,
  headTree: Source | null,
  trust: Trust,
): Promise<Pick<KnownSessions, 'history' | 'distrusted' | 'isSound'>> {
  if (source === null) return { history: emptyHistory(), distrusted: [], isSound: true };
  const { history, findings, distrusted } = await readUnion(repository, source, headTree, trust);
  const broken = findings.filter(({ severity }) => severity === 'error').length;
  if (broken > 0)
    repository.warn(`Problems in .handoff: ${broken}. They are left out of what follows: git handoff verify`);
  return { history, distrusted, isSound: broken === 0 };
}

/**
 * What is checked out is read as well, and first, where the union has changed: a branch that goes away takes its sessions along, and what
 * is left has to be known from then on without reading all of it.
 */
async function readUnion(
  repository: StateDirectory & Messages,
  source: Source,
  headTree: Source | null,
  trust: Trust,
): Promise<ReadHistory> {
  const { build, progress: onProgress } = repository;
  const options = { suite: nodeSuite, onProgress };
  const own = build === null ? null : cacheFolder(repository, 'history');
  if (source === headTree) return readHistory(source, trust, { ...options, cacheFolder: own });
  const folder = build === null ? null : cacheFolder(repository, 'everywhere');
  const sessions = await findSessions(source, () => {});
  const readOwn = () => (headTree === null ? null : readHistory(headTree, trust, { ...options, cacheFolder: own }));
  if (folder !== null && sessions && !existsSync(join(folder, sessions.oid ?? ''))) await readOwn();
  const read = await readHistory(source, trust, { ...options, cacheFolder: folder, baseFolder: own });
  if (read.history.clock > FOLLOWED) followLess(read.history, (await readOwn())?.history.clock ?? 0);
  return read;
}

/** SPEC §10.3: what a gate lets pass above what was there, and room for what is on its way. */
const FOLLOWED = CLOCK_SLACK / 2;

/** THREATS 49: a branch that nobody has merged may climb as far as it likes. Whoever followed it could not merge either. */
function followLess(history: History, own: number): void {
  if (history.clock > own + FOLLOWED) history.clock = own;
}

/** Whether a branch has all that the journal has. What was found to be committed need not be compared byte for byte again. */
function isCommittedSomewhere(repository: StateDirectory, { sessions }: History, session: Session): boolean {
  const committed = findOwn(sessions, session);
  if (!committed) return false;
  const last = lastRecord(dirsOf(repository), session.session_id);
  if (committed.last_seq !== last?.number) return false;
  return isCommitted(dirsOf(repository), session.session_id) || committed.last_id === idOf(last);
}

async function addJournal(
  repository: StateDirectory & Messages,
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
export async function journalled(repository: StateDirectory, trust: Trust, session: Session): Promise<PlacedRecord[]> {
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

function idOf(entry: JournalEntry): string | null {
  return 'bytes' in entry ? recordId(parseRecord(entry.bytes).signedBytes, nodeSuite) : null;
}

/** Its identity came on another branch. */
function notHere(identity: string): HandoffError {
  return new HandoffError('signer_unknown', `${identity} is not signed in on this branch; merge the one where it is.`);
}
