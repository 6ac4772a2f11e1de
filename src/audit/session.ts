import { assertPlace, chainFaults, type Link, toLink } from '../core/chain.ts';
import { HandoffError } from '../core/error.ts';
import { parseRecordName, parseSessionFolder } from '../core/paths.ts';
import { type ParsedRecord, parseRecord } from '../core/record.ts';
import { type Identity, keyRevoked, type Trust } from '../core/trust.ts';
import { type Suite, type VerifiedRecord, verifyRecord } from '../core/verify.ts';
import { attempt, finding, type Report } from './finding.ts';
import { type Entry, FILE, type Source } from './source.ts';

/** What a session's folder is audited with. */
export interface SessionContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  /** Bounds how many records are in memory at once. */
  limit<T>(task: () => Promise<T>): Promise<T>;
  /** Called for each file that was looked at, with what it turned out to be. */
  onRecord(path: string, record: ParsedRecord | null, verified: VerifiedRecord | null): void;
}

/** What is left of a session once it was audited: enough to compare it with others. */
export interface SessionAudit {
  sessionId: string;
  records: number;
  lastId: string;
  clock: number;
  fingerprints: string[];
  /** `<task> <token>` of the locks it claims to hold. */
  locks: string[];
}

/** Every record of one session: each by itself, then the chain. Null when anything was found. SPEC §6 */
export async function auditSession(folder: Entry, identityName: string, context: SessionContext, report: Report): Promise<SessionAudit | null> {
  let clean = true;
  const note: Report = (found) => {
    clean = false;
    report(found);
  };
  const identity = context.trust.identities.get(identityName);
  const files = sortedFiles(await context.source.list(folder), note);
  const links = await Promise.all(
    files.map(({ entry }) => context.limit(() => auditRecord(entry, folder, identity, identityName, context, note))),
  );
  reportChain(links, files, folder, note);
  return clean && links[0] ? summarise(links as Link[]) : null;
}

/** The policy may ask for less than the protocol allows. */
function maxBytes({ policy }: Trust): number {
  return (policy.document.fields.limits as unknown as { record_bytes: number }).record_bytes;
}

interface NumberedFile {
  entry: Entry;
  seq: number;
}

/** In the order of their numbers; a file without a number has no place here. SPEC §6.2 */
function sortedFiles(entries: readonly Entry[], report: Report): NumberedFile[] {
  const files: NumberedFile[] = [];
  for (const entry of entries) {
    const place = parseRecordName(entry.name);
    if (place && entry.mode === FILE) files.push({ entry, seq: place.seq });
    else if (place) report(finding('mode_invalid', entry.path, 'a regular file, mode 100644', `mode ${entry.mode}`, NO_MODE));
    else report(finding('path_mismatch', entry.path, 'NNNN-<kind>.yaml or .md', JSON.stringify(entry.name), NO_PLACE));
  }
  return files.sort((a, b) => a.seq - b.seq);
}

async function auditRecord(
  entry: Entry,
  folder: Entry,
  identity: Identity | undefined,
  identityName: string,
  context: SessionContext,
  report: Report,
): Promise<Link | null> {
  let record: ParsedRecord | null = null;
  const verified = await attempt(entry.path, report, async () => {
    record = parseRecord(await context.source.read(entry, maxBytes(context.trust)));
    return judge(record, entry, folder, identity, identityName, context);
  });
  context.onRecord(entry.path, record, verified);
  return verified && toLink(verified, verified.id, verified.fingerprint);
}

/** SPEC §6: at its place, by its identity, with a key that may. */
async function judge(
  record: ParsedRecord,
  entry: Entry,
  folder: Entry,
  identity: Identity | undefined,
  identityName: string,
  { trust, suite }: SessionContext,
): Promise<VerifiedRecord> {
  const { sid8 } = parseSessionFolder(folder.name)!;
  const { seq, kind } = parseRecordName(entry.name)!;
  assertPlace(record, { identity: identityName, sid8, seq, kind }, trust.repoId);
  if (!identity) throw unknownSigner(identityName);
  const verified = await verifyRecord(record, identity.keys, suite);
  const key = identity.keys.find((candidate) => candidate.fingerprint === verified.fingerprint)!;
  if (key.state === 'revoked') throw keyRevoked(key.fingerprint);
  if (kind === 'waiver' && identity.role !== 'maintainer') throw notEntitled(identityName, kind);
  return verified;
}

function reportChain(links: readonly (Link | null)[], files: readonly NumberedFile[], folder: Entry, report: Report): void {
  const damaged = new Set(files.filter((_, index) => links[index] === null).map(({ seq }) => seq));
  const good = links.filter((link) => link !== null);
  if (files.length === 0) report(finding('chain_broken', folder.path, 'a session that opens with record 1', 'no record', NO_CHAIN));
  for (const fault of chainFaults(good, damaged)) {
    const path = files.find(({ seq }) => seq === fault.seq)!.entry.path;
    report({
      ...finding(fault.code, path, fault.expected, fault.found, NO_CHAIN),
      record: good.find(({ seq }) => seq === fault.seq)!.id,
    });
  }
}

function summarise(links: readonly Link[]): SessionAudit {
  const last = links.at(-1)!;
  return {
    sessionId: last.sessionId,
    records: links.length,
    lastId: last.id,
    clock: last.clock,
    fingerprints: [...new Set(links.map((link) => link.fingerprint))],
    locks: [...new Set(links.flatMap(({ lock }) => (lock ? [`${lock.task} ${lock.token}`] : [])))],
  };
}

const NO_MODE = 'Records are plain files: git update-index --chmod=-x FILE, and no links.';
const NO_PLACE = 'Nothing but records belongs in a session folder; move the file elsewhere.';
const NO_CHAIN = 'A record was removed, added or reordered after the fact. Restore the session folder from git.';

function unknownSigner(name: string): HandoffError {
  return new HandoffError('signer_unknown', `No maintainer has signed in an identity called ${name}.`, {
    hint: `git handoff identity add ${name} --key FILE.pub`,
    data: { expected: `.handoff/identities/${name}/identity.yaml signed by a maintainer`, found: 'none that holds' },
  });
}

function notEntitled(name: string, kind: string): HandoffError {
  return new HandoffError('signer_not_entitled', `A ${kind} needs a maintainer; ${name} is none.`, {
    hint: 'Ask a maintainer to write it.',
    data: { expected: 'role maintainer', found: name },
  });
}

