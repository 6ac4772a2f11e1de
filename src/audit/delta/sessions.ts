import type { Finding } from '../../core/error.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Suite } from '../../core/record/verify.ts';
import { emptyHistory, type History } from '../../core/session/history.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { among, type Report, refusing } from '../finding.ts';
import type { SessionFolder } from '../history/growth.ts';
import { FOLDER, find, type Source } from '../source/source.ts';
import { copiesOf, findTwins } from '../tree/copies.ts';
import { foldSessions } from '../tree/session-records.ts';
import type { Placed, TreePair } from './differences.ts';

/** A session that began or went on, as far as it holds. */
export interface ChangedSession {
  folder: string;
  records: PlacedRecord[];
  /** The paths of those that were not there before. */
  added: ReadonlySet<string>;
}

/** What the sessions are judged by, and the history that they are folded into. */
interface SessionContext {
  trust: Trust;
  suite: Suite;
  history: History;
  onProgress?(checked: number): void;
}

/** SPEC §10.3.5: a session that gets a record is judged whole, and every finding about what arrives counts. */
export async function auditSessions(
  { before, now }: TreePair,
  changes: readonly Placed[],
  { history, ...context }: SessionContext,
  report: Report,
): Promise<ChangedSession[]> {
  const { folders, added } = changedFolders(changes);
  const news = new Set([...added].flatMap(([folder, paths]) => [folder, ...paths]));
  const sessions: ChangedSession[] = [];
  const onSession = ({ entry }: SessionFolder, records: readonly PlacedRecord[]): void => {
    sessions.push({ folder: entry.path, records: [...records], added: added.get(entry.path)! });
  };
  const old: Finding[] = [];
  const refuse = refusing(report);
  const looking = findTwins(folders, before);
  looking.catch(() => {}); // told below
  const isArriving = (path: string): boolean => news.has(path);
  await foldSessions(history, folders, { source: now, ...context, isWhole: true, isArriving, onSession }, (found) =>
    news.has(found.path ?? '') ? refuse(withWayOut(found)) : old.push(found),
  );
  for (const found of await withoutKnown(old, before, context)) report(found);
  const arrived = new Set(folders.filter(({ isNew }) => isNew).map(({ entry }) => entry.path));
  const isNew = ({ folder }: ChangedSession) => arrived.has(folder);
  const twins = await looking;
  const copies = twins.length > 0 ? await copiesOf(sessions.filter(isNew), twins, before) : [];
  copies.forEach(report);
  return sessions;
}

/** What a revoked key signed is not on the protected branch yet: the session can be left out, and its work recorded anew. */
function withWayOut(found: Finding): Finding {
  const folder = found.path!.split('/').slice(0, 4).join('/');
  const hint = `Leave the session out (git rm -r --quiet ${quoteWord(folder)}, then git commit --no-verify) and let somebody whose key counts record the work: git handoff thought TASK`;
  return found.code === 'key_revoked' ? { ...found, hint } : found;
}

/** The folders that get records, each with the paths of those records. */
function changedFolders(changes: readonly Placed[]): { folders: SessionFolder[]; added: Map<string, Set<string>> } {
  const folders = new Map<string, SessionFolder>();
  const added = new Map<string, Set<string>>();
  for (const { path, folder, isInNewFolder } of changes.filter(({ use }) => use === 'record')) {
    const entry = folder!;
    folders.set(entry.path, { owner: ownerOf(path), entry, isNew: isInNewFolder });
    added.set(entry.path, (added.get(entry.path) ?? new Set()).add(path));
  }
  return { folders: [...folders.values()], added };
}

function ownerOf(path: string): string {
  return path.split('/')[2]!;
}

/** A record that arrives can make a fault show at one that was there. What was wrong before is not this change's doing. */
async function withoutKnown(
  findings: readonly Finding[],
  before: Source,
  { trust, suite }: Pick<SessionContext, 'trust' | 'suite'>,
): Promise<readonly Finding[]> {
  if (findings.length === 0) return [];
  const folders: SessionFolder[] = [];
  for (const path of new Set(findings.map((found) => found.path!.split('/').slice(0, 4).join('/')))) {
    const entry = await find(before, path);
    if (entry?.mode === FOLDER) folders.push({ owner: ownerOf(path), entry, isNew: false });
  }
  const oldFindings: Finding[] = [];
  const context = { source: before, trust, suite, onSession() {} };
  await foldSessions(emptyHistory(), folders, context, (found) => oldFindings.push(found));
  const isKnown = among(oldFindings);
  return findings.filter((found) => !isKnown(found));
}
