import type { Finding } from '../core/error.ts';
import { emptyHistory, type History } from '../core/history.ts';
import type { DocumentKind } from '../core/kinds.ts';
import { ROOT } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import type { Trust } from '../core/trust.ts';
import type { Suite } from '../core/verify.ts';
import { copiesOf, findTwins } from './copies.ts';
import { type Difference, readDifferences } from './differences.ts';
import { attempt, finding, type Report } from './finding.ts';
import type { SessionFolder } from './growth.ts';
import { isFile, reportLookalikes, reportNoPlace } from './layout.ts';
import { type Place, placeOf } from './place.ts';
import { foldSessions } from './session-records.ts';
import { type Entry, FOLDER, find, type Source } from './source.ts';
import { assertFollowsDocument } from './succession.ts';
import { checkSkill, loadTrust, readDocument, readSignedDocument } from './trust.ts';

/** What was there, and what is to take its place. */
export interface Step {
  before: Source;
  now: Source;
}

export interface DeltaOptions {
  suite: Suite;
  onProgress?(checked: number): void;
}

/** A session that began or went on, as far as it holds. */
export interface ChangedSession {
  folder: string;
  records: PlacedRecord[];
  /** The paths of those that were not there before. */
  added: ReadonlySet<string>;
}

export interface Delta {
  /** Who is trusted once it is accepted. */
  trust: Trust;
  /** How many files were added, changed or deleted. */
  files: number;
  sessions: ChangedSession[];
  /** What those sessions, and no others, add up to. */
  history: History;
  findings: Finding[];
}

/**
 * Everything that a change does to `.handoff`, judged by who was trusted before it. SPEC §10.2, §10.3. What was there before is
 * not judged again: the cost is that of what is new.
 */
export async function auditDelta(step: Step, trust: Trust, options: DeltaOptions): Promise<Delta> {
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  const [oldRoot, newRoot] = await Promise.all([step.before.root(), step.now.root()]);
  const isNew = unlike(oldRoot);
  reportLookalikes(
    newRoot.filter((entry) => entry.name === ROOT || isNew(entry)),
    report,
  );
  const pair = { before: topOf(oldRoot), now: topOf(newRoot) };
  const placed = (await readDifferences(step, pair, report)).map((each) => ({ ...each, place: placeOf(each.path) }));
  const limit = recordsPerPush(trust);
  if (placed.length > limit) {
    report(tooMany(placed.length, limit));
    return { trust, files: placed.length, sessions: [], history: emptyHistory(), findings };
  }
  const changes = placed.filter((each) => isAllowed(each, report));
  const next = await loadNext(step, changes, trust, options.suite, report);
  await auditDocuments(step, changes, next, options.suite, report);
  const history = emptyHistory();
  const sessions = await auditSessions(step, changes, next, history, options, report);
  findings.sort((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1));
  return { trust: next, files: placed.length, sessions, history, findings };
}

type Placed = Difference & { place: Place | null };

function topOf(root: readonly Entry[]): Entry | null {
  return root.find(({ name }) => name === ROOT) ?? null;
}

function unlike(others: readonly Entry[]): (entry: Entry) => boolean {
  return ({ name, oid, mode }) =>
    !others.some((other) => other.name === name && other.oid === oid && other.mode === mode);
}

function recordsPerPush({ policy }: Trust): number {
  return (policy.document.fields.limits as unknown as { records_per_push: number }).records_per_push;
}

/** SPEC §7.2: records and policies are only added, documents only go on, and nothing else has a place. */
function isAllowed({ path, before, now, place }: Placed, report: Report): boolean {
  if (now === null) {
    if (place !== null && !REMOVABLE.has(place)) report(deleted(path));
    return false;
  }
  if (now.mode !== FOLDER && !isFile(now, report)) return false;
  if (place === null || now.mode === FOLDER) {
    reportNoPlace(now, 'what SPEC §2.2 lists', report);
    return false;
  }
  if (before === null || !IMMUTABLE.has(place)) return true;
  report(changed(path));
  return false;
}

const REMOVABLE: ReadonlySet<Place> = new Set(['pending', 'skill']);
const IMMUTABLE: ReadonlySet<Place> = new Set(['record', 'policy']);

function deleted(path: string): Finding {
  return finding('record_deleted', path, 'the file that is there', 'nothing', KEEP);
}

function changed(path: string): Finding {
  return finding('record_changed', path, 'the bytes that are there', 'other bytes', KEEP);
}

const KEEP =
  'A revert takes back code, never records. Put them back: git restore --source=BASE --staged --worktree -- .handoff, then git commit --amend';

function tooMany(count: number, limit: number): Finding {
  const hint = 'Bring it in several parts, or ask for a higher limit: git handoff policy set limits.records_per_push';
  return finding('too_large', ROOT, `at most ${limit} files at once`, String(count), hint);
}

/**
 * SPEC §10.2: policies and identities of the result, of which every link leads back to the policy that was there. What was wrong
 * before is not this change's doing.
 */
async function loadNext(
  { before, now }: Step,
  changes: readonly Placed[],
  trust: Trust,
  suite: Suite,
  report: Report,
): Promise<Trust> {
  if (!changes.some(({ place }) => place === 'policy' || place === 'identity')) return trust;
  const known: Finding[] = [];
  await loadTrust(before, suite, (found) => known.push(found));
  const isKnown = (found: Finding): boolean =>
    known.some(({ path, message }) => path === found.path && message === found.message);
  const next = await loadTrust(now, suite, (found) => {
    if (!isKnown(found)) report(found);
  });
  return next?.repoId === trust.repoId ? next : trust;
}

const SIGNED: ReadonlySet<Place> = new Set(['project', 'task-definition']);

async function auditDocuments(
  step: Step,
  changes: readonly Placed[],
  trust: Trust,
  suite: Suite,
  report: Report,
): Promise<void> {
  for (const { path, before, now, place } of changes) {
    if (place === 'record' || place === 'policy') continue;
    await attempt(path, report, async () => {
      if (SIGNED.has(place!)) await readSignedDocument(step.now, now!, place as DocumentKind, trust, suite);
      if (place === 'pending') await readDocument(step.now, now!, pendingKind(path), trust.repoId);
      else if (before && place !== 'skill') await assertFollowsDocument(step, before, now!, suite);
    });
    if (place === 'task-definition') await attempt(path, report, () => assertTaskName(step.now, now!, trust, report));
    const skill = place === 'skill' ? now : place === 'identity' ? await unchangedSkill(step.now, path, changes) : null;
    if (skill)
      await attempt(skill.path, report, () => checkSkill(step.now, skill, ownerOf(path, trust), suite, report));
  }
}

/** An identity that changes may name another skill than the one that stays. */
async function unchangedSkill(source: Source, identity: string, changes: readonly Placed[]): Promise<Entry | null> {
  const path = identity.replace(/identity\.yaml$/, 'skill.md');
  return changes.some((change) => change.path === path) ? null : find(source, path);
}

function pendingKind(path: string): DocumentKind {
  return path.endsWith('/pending.yaml') ? 'identity' : 'policy';
}

function ownerOf(path: string, trust: Trust) {
  return trust.identities.get(path.split('/')[2]!);
}

/** A task stands in the file of its id. */
async function assertTaskName(source: Source, entry: Entry, { repoId }: Trust, report: Report): Promise<void> {
  const { fields } = await readDocument(source, entry, 'task-definition', repoId);
  if (`${fields.task_id}.yaml` === entry.name) return;
  report(finding('path_mismatch', entry.path, `${fields.task_id}.yaml`, entry.name, 'Name the file after the task.'));
}

async function auditSessions(
  { before, now }: Step,
  changes: readonly Placed[],
  trust: Trust,
  history: History,
  options: DeltaOptions,
  report: Report,
): Promise<ChangedSession[]> {
  const added = new Map<string, Set<string>>();
  const folders = new Map<string, SessionFolder>();
  for (const { path, folder, isInNewFolder } of changes.filter(({ place }) => place === 'record')) {
    const owner = path.split('/')[2]!;
    folders.set(folder!.path, { owner, entry: folder!, isNew: isInNewFolder });
    added.set(folder!.path, (added.get(folder!.path) ?? new Set()).add(path));
  }
  const isNews = ({ path = '' }: Finding): boolean =>
    folders.has(path) || added.get(path.slice(0, path.lastIndexOf('/')))?.has(path) === true;
  const sessions: ChangedSession[] = [];
  const onSession = ({ entry }: SessionFolder, records: readonly PlacedRecord[]): void => {
    sessions.push({ folder: entry.path, records: [...records], added: added.get(entry.path)! });
  };
  const context = { source: now, trust, ...options, onSession };
  const old: Finding[] = [];
  const looking = findTwins([...folders.values()], before);
  looking.catch(() => {}); // told below
  await foldSessions(history, [...folders.values()], context, (found) =>
    isNews(found) ? report(found) : old.push(found),
  );
  for (const found of await withoutKnown(old, before, trust, options.suite)) report(found);
  const arrived = sessions.filter(({ folder }) => folders.get(folder)!.isNew);
  for (const copy of await copiesOf(arrived, await looking, before)) report(copy);
  return sessions;
}

/** A record that arrives can make a fault show at one that was there. What was wrong before is not this change's doing. */
async function withoutKnown(
  findings: readonly Finding[],
  before: Source,
  trust: Trust,
  suite: Suite,
): Promise<readonly Finding[]> {
  if (findings.length === 0) return [];
  const folders: SessionFolder[] = [];
  for (const path of new Set(findings.map((found) => found.path!.split('/').slice(0, 4).join('/')))) {
    const entry = await find(before, path);
    if (entry?.mode === FOLDER) folders.push({ owner: path.split('/')[2]!, entry, isNew: false });
  }
  const known: Finding[] = [];
  const context = { source: before, trust, suite, onSession() {} };
  await foldSessions(emptyHistory(), folders, context, (found) => known.push(found));
  return findings.filter(
    (found) => !known.some(({ path, message }) => path === found.path && message === found.message),
  );
}
