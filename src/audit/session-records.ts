import { groupBy } from '../core/group-by.ts';
import { addSession, type History } from '../core/history.ts';
import { parseRecordName, parseSessionFolder } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Trust } from '../core/trust.ts';
import type { Suite } from '../core/verify.ts';
import { finding, type Report } from './finding.ts';
import type { SessionFolder } from './growth.ts';
import { FOLDERS_AT_ONCE, limiter, RECORDS_AT_ONCE } from './limit.ts';
import { auditSession, type SessionContext } from './session.ts';
import type { Source } from './source.ts';

export interface FoldContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  onProgress?(checked: number): void;
  /** Called for each session that was folded. */
  onSession(folder: SessionFolder, records: readonly PlacedRecord[]): void;
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
    context.onSession(session.folder, session.records);
  };
  const twins = sharedSids(folders);
  const undecided: Session[] = [];
  const read = sessionReader(context, report);
  await Promise.all(
    folders.map(async (folder) => {
      const session = { folder, records: await read(folder) };
      if (twins.has(sidOf(folder))) undecided.push(session);
      else fold(session);
    }),
  );
  for (const session of withoutCopies(undecided, report)) fold(session);
}

interface Session {
  folder: SessionFolder;
  records: PlacedRecord[];
}

export function sidOf({ entry }: SessionFolder): string {
  return parseSessionFolder(entry.name)!.sid8;
}

function sharedSids(folders: readonly SessionFolder[]): Set<string> {
  const seen = new Set<string>();
  const sids = folders.map(sidOf);
  return new Set(sids.filter((sid) => seen.has(sid) || !seen.add(sid)));
}

/** SPEC §6.6: a session has one folder. Where it has two, nobody can tell whose it is: neither counts. */
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

/** Of one of which no record holds, nothing. */
function idOf({ records }: Session): string {
  return String(records[0]?.record.fields.session_id ?? '');
}

function severalFolders({ folder }: Session, copy: Session): ReturnType<typeof finding> {
  const { path } = folder.entry;
  return finding('chain_broken', path, 'one folder for a session', `another at ${copy.folder.entry.path}`, NO_COPY);
}

const NO_COPY = 'Remove the copy.';

/** The records of a session as far as its chain holds: what comes after a fault hangs on nothing. */
function sessionReader(context: FoldContext, report: Report): (folder: SessionFolder) => Promise<PlacedRecord[]> {
  const some = limiter(FOLDERS_AT_ONCE);
  const limit = limiter(RECORDS_AT_ONCE);
  let checked = 0;
  return ({ entry, owner }) =>
    some(1, async () => {
      const records: PlacedRecord[] = [];
      let end = Number.POSITIVE_INFINITY;
      const onFile = (): void => context.onProgress?.(++checked);
      const onRecord: SessionContext['onRecord'] = (path, _, verified) => {
        if (verified) records.push({ path, record: verified });
      };
      await auditSession(entry, owner, { ...context, limit, onFile, onRecord }, (found) => {
        end = Math.min(end, seqOf(found.path!));
        report(found);
      });
      return records.filter(({ path }) => seqOf(path) < end).sort((a, b) => seqOf(a.path) - seqOf(b.path));
    });
}

/** No number when it is about the folder, or about what has no place in it. */
function seqOf(path: string): number {
  return parseRecordName(path.slice(path.lastIndexOf('/') + 1))?.seq ?? Number.POSITIVE_INFINITY;
}
