import { readHistory } from '../audit/history.ts';
import { openTree } from '../audit/tree-source.ts';
import { HandoffError } from '../core/error.ts';
import { addSession, emptyHistory, type History } from '../core/history.ts';
import { recordName } from '../core/paths.ts';
import { parseRecord } from '../core/record.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Trust } from '../core/trust.ts';
import { recordId, verifyRecord } from '../core/verify.ts';
import { nodeSuite } from '../crypto.ts';
import { rememberClock } from '../journal/clock.ts';
import { isCommitted } from '../journal/committed.ts';
import { type Entry, lastRecord, readEntry, recordNumbers } from '../journal/records.ts';
import type { Session } from '../journal/registry.ts';
import { forgetOld } from './forget.ts';
import { cacheFolder, type Repository } from './repository.ts';
import { dirsOf, type LiveSession, liveSessions } from './session.ts';

/** What can be known here: what HEAD holds, and what the sessions of this machine have journalled beyond it. */
export interface Known {
  history: History;
  live: LiveSession[];
}

export async function readKnown(repository: Repository, trust: Trust): Promise<Known> {
  const history = await committedHistory(repository, trust);
  const live = liveSessions(repository, trust);
  const committed = new Set<string>();
  for (const { session } of live) {
    if (isHeld(repository, history, session)) committed.add(session.session_id);
    else await addJournal(repository, trust, history, session);
  }
  await forgetOld(repository, live, committed);
  rememberClock(dirsOf(repository), history.clock);
  return { history, live };
}

async function committedHistory(repository: Repository, trust: Trust): Promise<History> {
  if ((await repository.store.resolve('HEAD')) === null) return emptyHistory();
  const { history, findings } = await readHistory(await openTree(repository.store, 'HEAD'), trust, {
    suite: nodeSuite,
    cacheFolder: repository.build === null ? null : cacheFolder(repository, 'history'),
    onProgress: repository.progress,
  });
  if (findings.length > 0)
    repository.warn(`Problems in .handoff: ${findings.length}. They are left out of what follows: git handoff verify`);
  return history;
}

/** Whether HEAD has all that the journal has. What was found to be committed need not be compared byte for byte again. */
function isHeld(repository: Repository, { sessions }: History, session: Session): boolean {
  const known = sessions.find(({ session_id }) => session_id === session.session_id);
  if (!known) return false;
  const last = lastRecord(dirsOf(repository), session.session_id);
  if (known.last_seq !== last?.number) return false;
  return isCommitted(dirsOf(repository), session.session_id) || known.last_id === idOf(last);
}

async function addJournal(repository: Repository, trust: Trust, history: History, session: Session): Promise<void> {
  try {
    addSession(history, session.folder, await journalled(repository, trust, session));
  } catch (error) {
    // a key that was revoked since: what it signed says nothing any more
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`The journal of session ${session.session_id} is left out: ${error.message}`);
  }
}

/** The records of a session's journal, each verified. */
export async function journalled(repository: Repository, trust: Trust, session: Session): Promise<PlacedRecord[]> {
  const dirs = dirsOf(repository);
  const identity = trust.identities.get(session.identity);
  if (!identity) throw notHere(session.identity);
  const keys = identity.keys.filter(({ state }) => state !== 'revoked');
  const records: PlacedRecord[] = [];
  for (const number of recordNumbers(dirs, session.session_id)) {
    const entry = readEntry(dirs, session.session_id, number);
    if (!('bytes' in entry)) continue;
    const record = await verifyRecord(parseRecord(entry.bytes), keys, nodeSuite);
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
