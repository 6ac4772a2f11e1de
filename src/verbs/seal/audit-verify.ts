import type { Report } from '../../audit/finding.ts';
import type { SessionFolder } from '../../audit/history/growth.ts';
import type { Source } from '../../audit/source/source.ts';
import { auditFolders, listFolders, readSessionId } from '../../audit/tree/all-sessions.ts';
import { sidOf } from '../../audit/tree/session-records.ts';
import type { Finding } from '../../core/error.ts';
import { parseSessionName } from '../../core/session/session-name.ts';
import { byNature } from '../../core/text/natural-order.ts';
import { nodeSuite } from '../../crypto.ts';
import { journalFindings } from '../../journal/commits/journal-findings.ts';
import { lostFromHead, readLost } from '../../journal/commits/lost-records.ts';
import { isHere } from '../../journal/commits/recover-records.ts';
import { listSessions, type Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { Repository } from '../../repository/repository.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { unknownSession } from '../../repository/unknown-session.ts';

export interface AuditVerifyOptions {
  /** The id of a session, or its beginning; all of them when there is none. */
  session?: string;
}

export interface AuditVerifyResult {
  valid: boolean;
  record_count: number;
  /** How many records, or other places, have a finding. */
  broken_count: number;
  /** The path of the first of them, by identity, session and number. */
  first_broken_at: string | null;
  findings: Finding[];
  sessions: AuditedSession[];
}

export interface AuditedSession {
  /** Its folder. */
  path: string;
  identity: string;
  record_count: number;
  broken_count: number;
}

/** Signatures, chains and seals of the records as they are now, committed or not; and that none is lost. SPEC §6, §11.1 */
export async function auditVerify(
  repository: Repository,
  options: AuditVerifyOptions = {},
): Promise<AuditVerifyResult> {
  const { session } = options;
  const trust = await requireTrust(repository);
  const source = await currentSource(repository);
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  // what has no place in any session matters to whoever asks about all of them
  const folders = await listFolders(source, session === undefined ? report : () => {});
  const isWorkTree = source.oid === null; // files as HEAD has them are not what anything could be compared with
  const all: Sessions = {
    folders,
    own: isWorkTree ? ownSessions(repository) : [],
    lost: isWorkTree ? await readLost(repository) : [],
  };
  const asked = session === undefined ? all : await named(source, all, session);
  const context = { source, trust, suite: nodeSuite, onProgress: repository.progress };
  const counts = await auditFolders(asked.folders, context, report);
  findings.push(...(await journalFindings(repository, source, asked.own)));
  findings.push(...asked.lost.filter((path) => !findings.some((found) => found.path === path)).map(lostFromHead));
  findings.sort((a, b) => byNature(a.path!, b.path!));
  const sessions = rowsOf(asked, counts, findings);
  if (session !== undefined && sessions.length === 0) throw unknownSession(session, []);
  return { ...totals(sessions, findings), findings, sessions };
}

/** What is looked at. */
interface Sessions {
  folders: SessionFolder[];
  /** Those that were written in this work tree. */
  own: Session[];
  /** Paths of records that HEAD has, and the work tree has not. */
  lost: string[];
}

function ownSessions(repository: Repository): Session[] {
  return listSessions(dirsOf(repository)).filter((session) => isHere(repository, session));
}

/** By id or unique beginning. A session that has no file left is known by its journal, or by HEAD. */
async function named(source: Source, { folders, own, lost }: Sessions, text: string): Promise<Sessions> {
  const { identity, prefix } = parseSessionName(text);
  const isTheirs = (owner: string) => (identity ?? owner) === owner;
  const near = folders.filter((folder) => isTheirs(folder.owner) && sidOf(folder).startsWith(prefix.slice(0, SID)));
  const ids = await Promise.all(near.map(async (folder) => (await readSessionId(source, folder)) ?? sidOf(folder)));
  // where no record can be read, the name of the folder is all there is to go by
  const isMeant = (id: string) => id.startsWith(prefix) || (id.length === SID && prefix.startsWith(id));
  const asked = {
    folders: near.filter((_, index) => isMeant(ids[index]!)),
    own: own.filter((session) => isTheirs(session.identity) && isMeant(session.session_id)),
    lost: lost.filter((path) => isTheirs(ownerIn(path)) && isMeant(sidIn(path))),
  };
  const sids = new Set([
    ...asked.folders.map(sidOf),
    ...asked.own.map(({ session_id }) => session_id.slice(0, SID)),
    ...asked.lost.map(sidIn),
  ]);
  if (prefix === '' || sids.size !== 1) throw unknownSession(text, prefix === '' ? [] : asked.folders.map(toNamed));
  return asked;
}

function toNamed(folder: SessionFolder): { identity: string; session_id: string } {
  return { identity: folder.owner, session_id: sidOf(folder) };
}

function ownerIn(path: string): string {
  return path.split('/')[2]!;
}

const SID = 8;

/** One for each folder, and for each session whose folder is gone. */
function rowsOf(
  { folders, own, lost }: Sessions,
  counts: readonly number[],
  findings: readonly Finding[],
): AuditedSession[] {
  const rows = new Map(
    folders.map(({ entry, owner }, index) => [entry.path, row(entry.path, owner, counts[index]!)] as const),
  );
  const owners = new Map(own.map(({ folder, identity }) => [folder, identity]));
  for (const path of lost) owners.set(folderOf(path), path.split('/')[2]!);
  for (const { code, path } of findings) {
    const folder = folderOf(path!);
    if (!rows.has(folder) && owners.has(folder)) rows.set(folder, row(folder, owners.get(folder)!, 0));
    if (code === 'record_deleted') rows.get(folder)!.record_count++;
  }
  for (const path of brokenPaths(findings)) {
    const broken = rows.get(folderOf(path));
    if (broken) broken.broken_count++;
  }
  return [...rows.values()].sort((a, b) => byNature(a.path, b.path));
}

/** The folder of a session, from the path of any file in it. */
function folderOf(path: string): string {
  return path.split('/').slice(0, 4).join('/');
}

function sidIn(path: string): string {
  return folderOf(path).slice(-SID);
}

function row(path: string, identity: string, record_count: number): AuditedSession {
  return { path, identity, record_count, broken_count: 0 };
}

function totals(sessions: readonly AuditedSession[], findings: readonly Finding[]) {
  const broken = brokenPaths(findings);
  return {
    valid: broken.length === 0,
    record_count: sessions.reduce((sum, { record_count }) => sum + record_count, 0),
    broken_count: broken.length,
    first_broken_at: broken[0] ?? null,
  };
}

/** In the order of the findings, each once. What is distrusted is not broken. */
function brokenPaths(findings: readonly Finding[]): string[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return [...new Set(errors.map(({ path }) => path!))];
}
