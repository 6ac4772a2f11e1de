import type { SessionFolder } from '../audit/history/growth.ts';
import { findSessions } from '../audit/history/history.ts';
import { listRecords, readRecords } from '../audit/records/growth.ts';
import { byNewestListed, type ListedRecord } from '../audit/records/listed-record.ts';
import { openFolders } from '../audit/records/presence.ts';
import { type FoundRecord, openRecordIndex } from '../audit/records/record-index.ts';
import { auditFolders } from '../audit/tree/all-sessions.ts';
import type { SessionRecord } from '../audit/tree/session.ts';
import { auditTree } from '../audit/tree/tree.ts';
import { loadTrust } from '../audit/trust/trust.ts';
import { type Finding, type FindingCode, HandoffError } from '../core/error.ts';
import type { VerifiedRecord } from '../core/record/verify.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { openEverywhere } from '../repository/everywhere/everywhere.ts';
import type { Messages, Settings, StateDirectory } from '../repository/parts.ts';
import { assertPinned, cacheFolder, type Repository } from '../repository/repository.ts';
import { requireTrust } from '../repository/trusted-now.ts';
import { type KnownRecords, openKnownRecords } from './known-records.ts';

/** What is to be kept of a record, or null: all that is kept has to fit in memory. */
export type Choice<T> = (path: string, record: SessionRecord, verified: VerifiedRecord | null) => T | null;

/** What was kept of a record, and the verdict on it. */
export interface JudgedRecord<T> {
  item: T;
  isValid: boolean;
  /** For a record that is not valid: the code of the finding. */
  reason?: FindingCode;
}

/** Which records are wanted. */
export type Question =
  | { path: string }
  /** The beginning of an id. */
  | { digits: string }
  | { most: number; isWanted: (listed: ListedRecord) => boolean };

/**
 * Judges the sessions of the records that are wanted, and chooses among their records. Where those cannot be found without
 * reading everything, everything is judged: the answer is the same.
 */
export async function findRecords<T>(
  repository: Repository,
  question: Question,
  choose: Choice<T>,
): Promise<JudgedRecord<T>[]> {
  const staged = await openKnownRecords(repository);
  const trust = await trustIn(staged);
  if (trust) await assertPinned(repository, trust.repoId);
  const folders = trust && (await findFolders(repository, staged, question).catch(nullIfGone));
  return folders ? judgeMatching(repository, staged, trust, folders, choose) : judgeAll(repository, staged, choose);
}

/**
 * The same for what other branches add, where somebody names what is not here. Only sessions that hold whole are known there. They
 * have an index of their own, because no tree of git has what all branches have together.
 */
export async function findElsewhere<T>(
  repository: Repository,
  question: Question,
  choose: Choice<T>,
): Promise<JudgedRecord<T>[]> {
  if (repository.dirs.topLevel === null) return [];
  const { source, headTree, trust } = await openEverywhere(repository, await requireTrust(repository));
  if (source === null || source === headTree) return [];
  const committedRecords: KnownRecords = { source, committed: source, changed: new Set() };
  const folders = await findFolders(repository, committedRecords, question, 'records-everywhere');
  return folders ? judgeMatching(repository, committedRecords, trust, folders, choose) : [];
}

/** Every session record there is, valid or not. */
export async function findAllRecords<T>(repository: Repository, choose: Choice<T>): Promise<JudgedRecord<T>[]> {
  return judgeAll(repository, await openKnownRecords(repository), choose);
}

/** Null where nobody is trusted: what is to be said about that is for `judgeAll`. */
async function trustIn({ source }: KnownRecords): Promise<Trust | null> {
  try {
    return await loadTrust(source, nodeSuite, () => {});
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_initialised') return null;
    throw error;
  }
}

/** In a partial clone, objects may be missing that the index of records needs. */
function nullIfGone(error: unknown): null {
  if (error instanceof HandoffError && error.code === 'io') return null;
  throw error;
}

/** The folders of sessions that have what is wanted; null where only reading everything tells. */
async function findFolders(
  repository: StateDirectory & Messages,
  { source, committed, changed }: KnownRecords,
  question: Question,
  kept = 'records',
): Promise<SessionFolder[] | null> {
  const sessions = await findSessions(source, () => {});
  if (!sessions) return [];
  const foldersAt = openFolders(source, sessions);
  if ('path' in question) return foldersAt(folderOf(question.path));
  if (!committed) return null;
  const staged = (await Promise.all([...changed].map(foldersAt))).flat();
  const index = openRecordIndex(committed, {
    suite: nodeSuite,
    cacheFolder: repository.build === null ? null : cacheFolder(repository, kept),
    onProgress: repository.progress,
  });
  const isElsewhere = ({ path }: ListedRecord): boolean => !changed.has(folderOf(path));
  if ('digits' in question) {
    const found = (await index.withId(question.digits)).filter(({ listed }) => isElsewhere(listed));
    return [...new Set(found.map(({ folder }) => folder)), ...staged];
  }
  const { most, isWanted } = question;
  const found = await index.newest(most, (listed) => isElsewhere(listed) && isWanted(listed));
  return newestFolders([...found, ...(await listAll(staged, source, isWanted))], most);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

async function listAll(
  folders: readonly SessionFolder[],
  source: KnownRecords['source'],
  isWanted: (listed: ListedRecord) => boolean,
): Promise<FoundRecord[]> {
  const lists = folders.map(async (folder) => {
    const records = await readRecords(source, await listRecords(source, folder.entry), nodeSuite);
    return records.filter(isWanted).map((listed) => ({ listed, folder }));
  });
  return (await Promise.all(lists)).flat();
}

function newestFolders(found: readonly FoundRecord[], most: number): SessionFolder[] {
  const newest = found.toSorted((a, b) => byNewestListed(a.listed, b.listed)).slice(0, most);
  return [...new Map(newest.map(({ folder }) => [`${folder.entry.path} ${folder.entry.oid}`, folder])).values()];
}

async function judgeMatching<T>(
  repository: Messages,
  { source }: KnownRecords,
  trust: Trust,
  folders: readonly SessionFolder[],
  choose: Choice<T>,
): Promise<JudgedRecord<T>[]> {
  const seen = openChoice(choose);
  const context = { source, trust, suite: nodeSuite, onProgress: repository.progress, onRecord: seen.onRecord };
  await auditFolders(folders, context, seen.report);
  return seen.judged();
}

async function judgeAll<T>(
  repository: Settings & Messages,
  { source }: KnownRecords,
  choose: Choice<T>,
): Promise<JudgedRecord<T>[]> {
  const seen = openChoice(choose);
  const { findings } = await auditTree(source, {
    suite: nodeSuite,
    onProgress: repository.progress,
    onTrust: (trust) => assertPinned(repository, trust.repoId),
    onRecord: seen.onRecord,
  });
  findings.forEach(seen.report);
  return seen.judged();
}

/** Whether a record is valid is known when all of its chain was audited: until then what was chosen waits. */
function openChoice<T>(choose: Choice<T>) {
  const chosen: { path: string; item: T; isVerified: boolean }[] = [];
  const faults = new Map<string | null | undefined, FindingCode>();
  return {
    onRecord(path: string, record: SessionRecord | null, verified: VerifiedRecord | null): void {
      const item = record && choose(path, record, verified);
      if (item !== null) chosen.push({ path, item, isVerified: verified !== null });
    },
    report({ path, code }: Finding): void {
      faults.set(path, code);
    },
    judged: (): JudgedRecord<T>[] =>
      chosen.map(({ path, item, isVerified }) => {
        const reason = faults.get(path);
        return { item, isValid: isVerified && reason === undefined, ...(reason && { reason }) };
      }),
  };
}
