import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseRecordName } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import type { Trust } from '../../core/trust/trust.ts';
import type { Report } from '../finding.ts';
import { readGrowth, type SessionFolder } from '../history/growth.ts';
import { findSessions } from '../history/history.ts';
import { FOLDERS_AT_ONCE, limiter, RECORDS_AT_ONCE } from '../source/limit.ts';
import { FILE, type Source } from '../source/source.ts';
import { auditSession, type SessionContext } from './session.ts';
import { compareSessions } from './tree.ts';

export interface AuditContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  onProgress?(checked: number): void;
  onRecord?: SessionContext['onRecord'];
}

/** The folder of every session; what has no place among them is reported. */
export async function listFolders(source: Source, report: Report): Promise<SessionFolder[]> {
  const sessions = await findSessions(source, report);
  return sessions ? (await readGrowth(source, null, sessions, report))! : [];
}

/** Sessions, each by itself and then among themselves. SPEC §6. Returns how many records each folder has. */
export async function auditFolders(
  folders: readonly SessionFolder[],
  { onProgress, ...context }: AuditContext,
  report: Report,
): Promise<number[]> {
  const inTurn = limiter(FOLDERS_AT_ONCE);
  const limit = limiter(RECORDS_AT_ONCE);
  let checked = 0;
  const auditOne = async ({ entry, owner }: SessionFolder) => {
    let records = 0;
    const onFile = (): void => {
      records++;
      onProgress?.(++checked);
    };
    return {
      path: entry.path,
      audit: await auditSession(entry, owner, { ...context, limit, onFile }, report),
      records,
    };
  };
  const audited = await Promise.all(folders.map((folder) => inTurn(1, () => auditOne(folder))));
  compareSessions(
    audited.flatMap(({ path, audit }) => (audit ? [{ path, audit }] : [])),
    report,
  );
  return audited.map(({ records }) => records);
}

/** The id that the records of a folder name; null when none can be read. Nobody has verified it. */
export async function readSessionId(source: Source, { entry }: SessionFolder): Promise<string | null> {
  const files = (await source.list(entry)).filter(({ name, mode }) => mode === FILE && parseRecordName(name));
  for (const bytes of await source.readAll(files, MAX_RECORD_BYTES)) {
    const text = bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : '';
    const id = /^session_id: ([0-9a-f]{8}-[0-9a-f-]{27})$/m.exec(text)?.[1];
    if (id) return id;
  }
  return null;
}
