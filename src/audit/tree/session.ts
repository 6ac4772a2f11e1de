import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { parseSessionFolder } from '../../core/paths.ts';
import { assertRecordPlace, chainFaults, type Link, toLink } from '../../core/record/chain.ts';
import { matchHead } from '../../core/record/front-matter.ts';
import type { RecordKind } from '../../core/record/kinds.ts';
import { assertSize, isSessionRecord, type ParsedRecord, parseCut } from '../../core/record/record.ts';
import { cutSignature, type SignedParts } from '../../core/record/signed-parts.ts';
import {
  assertSigned,
  assertVerified,
  checkSignatures,
  recordId,
  type SignatureCheck,
  type Suite,
  type VerifiedRecord,
} from '../../core/record/verify.ts';
import { detached } from '../../core/text/excerpt.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { attempt, finding, type Report, toFinding } from '../finding.ts';
import { leafOf } from '../source/leaf.ts';
import { type NumberedFile, numberedFiles } from '../source/numbered-files.ts';
import type { Entry, Source } from '../source/source.ts';
import { reportDuplicates } from './layout.ts';
import { addFile, reportSeals, type SealedFiles, sealedFiles } from './session-seals.ts';
import { assertMayWrite, type SessionSigner, signerOf, unknownSigner, whyDistrusted } from './session-signer.ts';
import { vouchedRecords } from './vouched.ts';

export type SessionRecord = ParsedRecord<RecordKind>;

/** What a session's folder is audited with. */
export interface SessionContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  /** Bounds how many records are in memory at once. */
  limit<T>(records: number, task: () => Promise<T>): Promise<T>;
  /** Whether a file arrives: the limit of the policy is for what arrives, and may have been another when the others came. */
  isArriving?: ((path: string) => boolean) | undefined;
  /** Called for each file that was looked at. */
  onFile(): void;
  /** Called for each file with what it turned out to be. Without it most records need not be parsed in full. */
  onRecord?: ((path: string, record: SessionRecord | null, verified: VerifiedRecord | null) => void) | undefined;
}

/** What is left of a session once it was audited: enough to compare it with others. */
export interface SessionAudit {
  sessionId: string;
  records: number;
  lastId: string;
  clock: number;
  fingerprints: string[];
  /** How many of them are by keys that were revoked: they count for nothing. */
  distrusted: number;
  /** `<task> <token>` of the locks it claims to hold. */
  locks: string[];
}

/** Every record of one session: each by itself, then the chain. Null when anything is broken; what is distrusted is not. SPEC §6 */
export async function auditSession(
  folder: Entry,
  owner: string,
  context: SessionContext,
  report: Report,
): Promise<SessionAudit | null> {
  let clean = true;
  const note: Report = (found) => {
    clean &&= found.severity === 'warning';
    report(found);
  };
  const entries = await attempt(folder.path, note, () => context.source.list(folder));
  reportDuplicates(entries ?? [], note); // SPEC §7.1
  const files = numberedFiles(entries ?? [], note);
  const identity = signerOf(owner, context.trust);
  const session: Session = {
    owner,
    sid8: parseSessionFolder(folder.name)!.sid8,
    identity,
    isDistrusted: !context.trust.identities.has(owner),
    vouched: await vouchedRecords(files, identity, context),
    distrusted: new Set(),
    sealed: sealedFiles(files),
    report: note,
  };
  const links: (Link | null)[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const batch = files.slice(at, at + AT_ONCE);
    const audited = await context.limit(batch.length, () => auditRecords(batch, session, context));
    links.push(...audited);
  }
  reportChain(links, files, folder, note);
  if (session.sealed) reportSeals(session.sealed, links, files, context.suite, note);
  const isWhole = clean && links.length > 0 && links.every((link) => link !== null);
  return isWhole ? summarise(links, session.distrusted) : null;
}

/** A long session is read in parts, so that it does not hold all of memory's share at once. */
const AT_ONCE = 128;

interface Session extends SessionSigner {
  owner: string;
  sid8: string;
  /** The numbers of the records that count for nothing. */
  distrusted: Set<number>;
  /** Null when it has no seal. */
  sealed: SealedFiles | null;
  report: Report;
}

/** SPEC §3.1: the policy may ask for less than the protocol allows, of what arrives. */
export function maxBytes({ policy }: Trust): number {
  return policy.rules.limits.record_bytes;
}

/** Bytes first, then what they say, SPEC §4.5: files are read together, then verified together, then judged one by one. */
async function auditRecords(
  files: readonly NumberedFile[],
  session: Session,
  context: SessionContext,
): Promise<(Link | null)[]> {
  const entries = files.map(({ entry }) => entry);
  const contents = await context.source.readAll(entries, MAX_RECORD_BYTES);
  const leaves = await leavesOf(files, contents, session, context);
  const opened = files.map((file, index) => openFile(file, contents[index]!, leaves[index] ?? null));
  const checks = await checkSignatures(opened, session.identity?.keys ?? [], context.suite);
  return opened.map((file, index) => auditRecord(file, checks[index]!, session, context));
}

/** What a seal is over. Most sessions have no seal, and then no file is hashed for it. */
async function leavesOf(
  files: readonly NumberedFile[],
  contents: readonly (Uint8Array | HandoffError)[],
  { sealed }: Session,
  { source, suite }: SessionContext,
): Promise<(Uint8Array | null)[]> {
  const leaves: (Uint8Array | null)[] = [];
  if (!sealed) return leaves;
  for (const [at, { entry, seq }] of files.entries())
    leaves.push(seq < sealed.end ? await leafOf(source, entry, contents[at]!, suite) : null);
  return leaves;
}

interface OpenedFile extends NumberedFile {
  /** Or why there are none. */
  bytes: Uint8Array | HandoffError;
  parts: SignedParts | null;
  /** Null where no seal is over it, or the file cannot be had. */
  leaf: Uint8Array | null;
}

function openFile(
  { entry, seq, kind }: NumberedFile,
  bytes: Uint8Array | HandoffError,
  leaf: Uint8Array | null,
): OpenedFile {
  const parts = bytes instanceof HandoffError ? null : cutSignature(bytes);
  return { entry, seq, kind, bytes, parts, leaf };
}

function auditRecord(
  { entry, seq, kind, bytes, parts, leaf }: OpenedFile,
  check: SignatureCheck | null,
  session: Session,
  context: SessionContext,
): Link | null {
  let record: SessionRecord | null = null;
  let verified: VerifiedRecord | null = null;
  let link: Link | null = null;
  try {
    if (bytes instanceof HandoffError) throw bytes;
    if (context.isArriving?.(entry.path)) assertSize(bytes.length, maxBytes(context.trust), 'record');
    const matched = context.onRecord || kind === 'seal' ? null : matchHead(bytes, parts, kind);
    const recordHead = matched ?? parseCut(bytes, parts);
    if ('body' in recordHead && isSessionRecord(recordHead)) record = recordHead;
    assertRecordPlace(recordHead, { identity: session.owner, sid8: session.sid8, seq, kind }, context.trust.repoId);
    if (!session.identity) throw unknownSigner(session.owner);
    const key = assertSigned(recordHead, check, session.identity.keys);
    assertMayWrite(kind, session.identity);
    link = keptLink(toLink(recordHead, recordId(recordHead.signedBytes, context.suite), key.fingerprint), bytes);
    const distrust = whyDistrusted({ kind, seq, key }, session);
    if (distrust) session.distrusted.add(seq);
    if (distrust) session.report({ ...toFinding(distrust, entry.path), severity: 'warning', record: link.id });
    else verified = record && assertVerified(record, check, session.identity.keys, context.suite);
  } catch (error) {
    session.report(toFinding(error, entry.path));
  }
  context.onFile();
  context.onRecord?.(entry.path, record, verified);
  if (session.sealed) addFile(session.sealed, { seq, kind, leaf }, verified);
  return link;
}

/** Links are kept until the session's end: those of long records must not keep their texts in memory. */
function keptLink(link: Link, { length }: Uint8Array): Link {
  return length > SHORT ? detached(link) : link;
}

const SHORT = 4096;

function reportChain(
  links: readonly (Link | null)[],
  files: readonly NumberedFile[],
  folder: Entry,
  report: Report,
): void {
  const damaged = new Set(files.filter((_, index) => links[index] === null).map(({ seq }) => seq));
  const good = links.filter((link) => link !== null);
  if (files.length === 0)
    report(finding('chain_broken', folder.path, 'a session that opens with record 1', 'no record', NO_CHAIN));
  for (const { code, id, expected, found } of chainFaults(good, damaged)) {
    const at = links.findIndex((link) => link?.id === id);
    report({ ...finding(code, files[at]!.entry.path, expected, found, NO_CHAIN), record: id });
  }
}

function summarise(links: readonly Link[], distrusted: ReadonlySet<number>): SessionAudit {
  const last = links.at(-1)!;
  const trusted = links.filter(({ seq }) => !distrusted.has(seq));
  return {
    sessionId: last.sessionId,
    records: links.length,
    lastId: last.id,
    clock: last.clock,
    fingerprints: [...new Set(links.map((link) => link.fingerprint))],
    distrusted: distrusted.size,
    locks: [...new Set(trusted.flatMap(({ lock }) => (lock ? [`${lock.task} ${lock.token}`] : [])))],
  };
}

const NO_CHAIN = 'A record was removed, added or reordered after the fact. Restore the session folder from git.';
