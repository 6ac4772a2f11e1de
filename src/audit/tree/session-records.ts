import { groupBy } from '../../core/group-by.ts';
import { parseRecordName, parseSessionFolder } from '../../core/paths.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Suite } from '../../core/record/verify.ts';
import { addSession, type History } from '../../core/session/history.ts';
import { shortened } from '../../core/text/shortened.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { finding, type Report } from '../finding.ts';
import type { SessionFolder } from '../history/growth.ts';
import { FOLDERS_AT_ONCE, limiter, RECORDS_AT_ONCE } from '../source/limit.ts';
import type { Source } from '../source/source.ts';
import { auditSession, type SessionContext } from './session.ts';

export interface FoldContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  onProgress?(checked: number): void;
  /** Set by whoever judges records and needs their whole text. A history keeps in memory only what it shows. */
  isWhole?: boolean;
  isArriving?: SessionContext['isArriving'];
  /** Called for each session that was folded, with the keys of all its records, distrusted ones too. */
  onSession(folder: SessionFolder, records: readonly PlacedRecord[], fingerprints: readonly string[]): void;
}

/** Audits sessions and folds what holds of them; all else is reported. */
export async function foldSessions(
  history: History,
  folders: readonly SessionFolder[],
  context: FoldContext,
  report: Report,
): Promise<void> {
  const fold = (session: Session): void => {
    addSession(history, session.folder.entry.path, session.records);
    context.onSession(session.folder, session.records, session.fingerprints);
  };
  const isShared = sharedSids(folders);
  const undecided: Session[] = [];
  const read = sessionReader(context, report);
  await Promise.all(
    folders.map(async (folder) => {
      const session = { folder, ...(await read(folder)) };
      if (isShared(folder)) undecided.push(session);
      else fold(session);
    }),
  );
  for (const session of withoutCopies(undecided, report)) fold(session);
}

interface Session extends ReadSession {
  folder: SessionFolder;
}

interface ReadSession {
  records: PlacedRecord[];
  fingerprints: readonly string[];
}

export function sidOf({ entry }: SessionFolder): string {
  return parseSessionFolder(entry.name)!.sid8;
}

/** Whether another folder of the same identity may hold the same session. */
function sharedSids(folders: readonly SessionFolder[]): (folder: SessionFolder) => boolean {
  const owned = groupBy(folders, ownedSid);
  return (folder) => owned.get(ownedSid(folder))!.length > 1;
}

function ownedSid(folder: SessionFolder): string {
  return `${folder.owner} ${sidOf(folder)}`;
}

/** SPEC §6.6: a session has one folder. Where it has two, nobody can tell which is the copy: neither counts. */
function withoutCopies(sessions: readonly Session[], report: Report): Session[] {
  const folders = groupBy(sessions, idOf);
  return sessions.filter((session) => {
    const [first, second] = folders.get(idOf(session))!;
    const copy = first === session ? second : first;
    if (!copy || session.records.length === 0) return true;
    report(severalFolders(session, copy));
    return false;
  });
}

/** A session is its identity's: that somebody else took the same id is nothing to it. Without one valid record it has none. */
function idOf({ folder, records }: Session): string {
  return `${folder.owner} ${records[0]?.record.fields.session_id ?? ''}`;
}

function severalFolders({ folder }: Session, copy: Session): ReturnType<typeof finding> {
  const { path } = folder.entry;
  return finding('chain_broken', path, 'one folder for a session', `another at ${copy.folder.entry.path}`, NO_COPY);
}

const NO_COPY = 'Remove the copy.';

/**
 * The records of a session as far as its chain holds: what comes after a fault hangs on nothing. A record of a revoked key is
 * left out and is no fault: what a key that counts signed after it still does.
 */
export function sessionReader(
  context: Omit<FoldContext, 'onSession'>,
  report: Report,
): (folder: SessionFolder) => Promise<ReadSession> {
  const folderLimit = limiter(FOLDERS_AT_ONCE);
  const limit = limiter(RECORDS_AT_ONCE);
  const keep = context.isWhole ? (placed: PlacedRecord) => placed : shortened;
  let checked = 0;
  return ({ entry, owner }) =>
    folderLimit(1, async () => {
      const records: PlacedRecord[] = [];
      let end = Number.POSITIVE_INFINITY;
      const onFile = (): void => context.onProgress?.(++checked);
      const onRecord: SessionContext['onRecord'] = (path, _, verified) => {
        if (verified) records.push(keep({ path, record: verified }));
      };
      const audit = await auditSession(entry, owner, { ...context, limit, onFile, onRecord }, (found) => {
        if (found.severity === 'error') end = Math.min(end, seqOf(found.path!));
        report(found);
      });
      const whole = records.filter(({ path }) => seqOf(path) < end).sort((a, b) => seqOf(a.path) - seqOf(b.path));
      return { records: whole, fingerprints: audit?.fingerprints ?? [] };
    });
}

/** No number when it is about the folder, or about what has no place in it. */
function seqOf(path: string): number {
  return parseRecordName(path.slice(path.lastIndexOf('/') + 1))?.seq ?? Number.POSITIVE_INFINITY;
}
