import { type Finding, HandoffError } from '../../core/error.ts';
import { parsePolicyName, parseSessionFolder } from '../../core/paths.ts';
import type { Suite } from '../../core/record/verify.ts';
import { standingKeys } from '../../core/trust/key-standing.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { attempt, finding, type Report } from '../finding.ts';
import { FOLDERS_AT_ONCE, limiter, RECORDS_AT_ONCE } from '../source/limit.ts';
import type { Entry, Source } from '../source/source.ts';
import { assertPlaced, checkSkill, loadTrust, readDocument, readSignedDocument } from '../trust/trust.ts';
import type { SessionCache } from './cache.ts';
import { isFolder, type Layout, listUnique, readLayout, reportNoPlace } from './layout.ts';
import { auditSession, type SessionAudit, type SessionContext } from './session.ts';

export interface TreeAudit {
  /** Null when the genesis policy does not hold; then no record was judged. */
  trust: Trust | null;
  /** Records and documents that were looked at. */
  checked: number;
  records: number;
  findings: Finding[];
}

export interface AuditOptions {
  suite: Suite;
  sessions?: SessionCache | null;
  onProgress?(checked: number): void;
  onRecord?: SessionContext['onRecord'];
  /** Throws to end the audit, as when the root is not the pinned one. */
  onTrust?(trust: Trust): Promise<void>;
}

/** Every signed file of a tree, against the policy and identities of that tree. SPEC §7 */
export async function auditTree(source: Source, options: AuditOptions): Promise<TreeAudit> {
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  // What needs no verdict is read while one is made: signatures are what takes long, and should begin soon.
  const judging = startEarly(loadTrust(source, options.suite, report));
  const layout = await readLayout(source, report);
  const listing = startEarly(listSessions(source, layout.sessions));
  const trust = await judging.catch((error) => {
    // a .handoff that is a link, or bears another name, is no repository without one
    if (error instanceof HandoffError && error.code === 'not_initialised' && findings.length > 0) return null;
    throw error;
  });
  if (trust) await options.onTrust?.(trust);
  const [documents, records] = await Promise.all([
    auditDocuments(source, layout, trust, options.suite, report),
    trust ? auditSessions(source, await listing, trust, options, report) : 0,
  ]);
  findings.sort(byPlace);
  return { trust, checked: documents + records, records, findings };
}

/** A failure is told to whoever awaits it below; until then, or if nobody comes to that, it must not end the process. */
function startEarly<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** loadTrust has judged policies and identities; here are the others, and how many there are. */
async function auditDocuments(
  source: Source,
  layout: Layout,
  trust: Trust | null,
  suite: Suite,
  report: Report,
): Promise<number> {
  const files = layout.identities.flatMap(({ files }) => files);
  const count =
    layout.policies.length + files.length + layout.tasks.length + layout.proofs.length + (layout.project ? 1 : 0);
  if (!trust) return count;
  const { project, tasks } = layout;
  if (project) await attempt(project.path, report, () => readSignedDocument(source, project, 'project', trust, suite));
  for (const task of tasks) await attempt(task.path, report, () => auditTask(source, task, trust, suite, report));
  for (const { name, files } of layout.identities) {
    const skill = files.find((file) => file.name === 'skill.md');
    // one that is distrusted still tells which skill was signed: a revocation breaks nothing
    const identity = trust.identities.get(name) ?? trust.distrusted.get(name);
    if (skill) await attempt(skill.path, report, () => checkSkill(source, skill, identity, suite, report));
  }
  for (const pending of [...files, ...layout.policies].filter(isPending)) {
    const kind = pending.name === 'pending.yaml' ? 'identity' : 'policy';
    await attempt(pending.path, report, async () =>
      assertPlaced(await readDocument(source, pending, kind, trust.repoId), pending),
    );
  }
  if (layout.ledger || layout.proofs.length > 0) {
    // most trees have neither, and then need not load what judges them
    const { auditLedger, auditProof } = await import('../ledger/audit.ts');
    if (layout.ledger) await auditLedger(source, trust, suite, report);
    for (const proof of layout.proofs) await attempt(proof.path, report, () => auditProof(source, proof, trust, suite));
  }
  return count;
}

function isPending({ name }: Entry): boolean {
  return name === 'pending.yaml' || parsePolicyName(name)?.pending === true;
}

async function auditTask(source: Source, entry: Entry, trust: Trust, suite: Suite, report: Report): Promise<void> {
  const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, suite);
  if (`${fields.task_id}.yaml` === entry.name) return;
  report(
    finding('path_mismatch', entry.path, `${fields.task_id}.yaml`, entry.name, 'A task stands in the file of its id.'),
  );
}

async function auditSessions(
  source: Source,
  listed: Listed,
  trust: Trust,
  options: AuditOptions,
  report: Report,
): Promise<number> {
  let looked = 0;
  const count = (records: number): void => {
    looked += records;
    options.onProgress?.(looked);
  };
  const context: SessionContext = {
    source,
    trust,
    suite: options.suite,
    limit: limiter(RECORDS_AT_ONCE),
    onFile: () => count(1),
    onRecord: options.onRecord,
  };
  const audits: { path: string; audit: SessionAudit }[] = [];
  const inTurn = limiter(FOLDERS_AT_ONCE);
  const auditOne = async ({ owner, folder }: OwnedFolder): Promise<void> => {
    const recalled = options.onRecord ? null : recall(folder, owner, trust, options.sessions);
    if (recalled) count(recalled.records);
    const audit = recalled ?? (await auditSession(folder, owner, context, report));
    if (audit) audits.push({ path: folder.path, audit });
    if (audit?.distrusted === 0 && !recalled && folder.oid)
      options.sessions?.set(cacheKey(folder, owner, trust), audit);
  };
  listed.findings.forEach(report);
  await Promise.all(listed.places.map((place) => inTurn(1, () => auditOne(place))));
  compareSessions(audits, report);
  return looked;
}

interface OwnedFolder {
  owner: string;
  folder: Entry;
}

/** What was found on the way counts only where sessions are judged: without trust none are. */
interface Listed {
  places: OwnedFolder[];
  findings: Finding[];
}

async function listSessions(source: Source, owners: readonly Entry[]): Promise<Listed> {
  const findings: Finding[] = [];
  const report: Report = (found) => findings.push(found);
  const inTurn = limiter(FOLDERS_AT_ONCE);
  const listOne = async (owner: Entry): Promise<OwnedFolder[]> => {
    const folders = (await listUnique(source, owner, report)).filter((entry) => isSessionFolder(entry, report));
    return folders.map((folder) => ({ owner: owner.name, folder }));
  };
  const places = await Promise.all(owners.map((owner) => inTurn(1, () => listOne(owner))));
  return { places: places.flat(), findings };
}

/** What was found last time holds if every key it was signed with still may. Nobody's entitlement is cached. SPEC §7.4 */
function recall(
  folder: Entry,
  owner: string,
  trust: Trust,
  sessions: SessionCache | null | undefined,
): SessionAudit | null {
  const recalled = folder.oid ? sessions?.get(cacheKey(folder, owner, trust)) : undefined;
  const standing = new Set(standingKeys(trust.identities.get(owner)).map(({ fingerprint }) => fingerprint));
  const isStillSigned = recalled?.fingerprints?.every((print) => standing.has(print));
  return isStillSigned && recalled ? recalled : null;
}

/** Everything that decides the verdict on a folder, except the keys: its content, its name, its owner and the rules. */
function cacheKey({ oid, name }: Entry, owner: string, trust: Trust): string {
  return `${oid} ${owner} ${name} ${trust.identities.get(owner)?.role} ${trust.repoId.slice(0, 12)}`;
}

export function isSessionFolder(entry: Entry, report: Report): boolean {
  if (parseSessionFolder(entry.name)) return isFolder(entry, report);
  reportNoPlace(entry, 'YYYYMMDDTHHmmss-<first 8 of the session id>', report);
  return false;
}

/** SPEC §6.6: a session has one folder; a lock's token has one holder among the sessions of an identity. */
export function compareSessions(audits: readonly { path: string; audit: SessionAudit }[], report: Report): void {
  const folders = new Map<string, string>();
  const holders = new Map<string, string>();
  for (const { path, audit } of [...audits].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const owner = path.split('/')[2];
    const session = `${owner} ${audit.sessionId}`;
    const other = folders.get(session);
    if (other)
      report(finding('chain_broken', path, 'one folder for a session', `another at ${other}`, 'Remove the copy.'));
    folders.set(session, path);
    for (const lock of audit.locks) {
      const key = `${owner} ${lock}`;
      const holder = holders.get(key);
      if (holder) report(finding('stale_token', path, `lock ${lock} held by one session`, `also by ${holder}`, STALE));
      holders.set(key, path);
    }
  }
}

const STALE = 'Two sessions of one identity wrote with the same fencing token; the later one never held the lock.';

function byPlace(a: Finding, b: Finding): number {
  return (a.path ?? '') < (b.path ?? '') ? -1 : 1;
}
