import { assertPlace, chainFaults, type Link, toLink } from '../core/chain.ts';
import { HandoffError } from '../core/error.ts';
import { matchHead } from '../core/head.ts';
import type { RecordKind } from '../core/kinds.ts';
import { parseSessionFolder } from '../core/paths.ts';
import { cutSignature, type ParsedRecord, parseCut, type SignedParts } from '../core/record.ts';
import { type Identity, type IdentityKey, keyRevoked, type Trust } from '../core/trust.ts';
import {
  assertSigned,
  assertVerified,
  checkSignatures,
  recordId,
  type SignatureCheck,
  type Suite,
  type VerifiedRecord,
} from '../core/verify.ts';
import { attempt, finding, type Report, toFinding } from './finding.ts';
import { type NumberedFile, numberedFiles } from './numbered-files.ts';
import { addFile, reportSeals, type SealedFiles, sealedFiles } from './session-seals.ts';
import type { Entry, Source } from './source.ts';
import { vouchedRecords } from './vouched.ts';

/** What a session's folder is audited with. */
export interface SessionContext {
  source: Source;
  trust: Trust;
  suite: Suite;
  /** Bounds how many records are in memory at once. */
  limit<T>(records: number, task: () => Promise<T>): Promise<T>;
  /** Called for each file that was looked at. */
  onFile(): void;
  /** Called for each file with what it turned out to be. Without it most records need not be parsed in full. */
  onRecord?: ((path: string, record: ParsedRecord | null, verified: VerifiedRecord | null) => void) | undefined;
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
export async function auditSession(
  folder: Entry,
  owner: string,
  context: SessionContext,
  report: Report,
): Promise<SessionAudit | null> {
  let clean = true;
  const note: Report = (found) => {
    clean = false;
    report(found);
  };
  const entries = await attempt(folder.path, note, () => context.source.list(folder));
  const files = numberedFiles(entries ?? [], note);
  const identity = context.trust.identities.get(owner);
  const session: Session = {
    owner,
    sid8: parseSessionFolder(folder.name)!.sid8,
    identity,
    vouched: await vouchedRecords(files, identity, context),
    sealed: sealedFiles(files),
    report: note,
  };
  const links: (Link | null)[] = [];
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const audited = await context.limit(some.length, () => auditRecords(some, session, context));
    links.push(...audited);
  }
  reportChain(links, files, folder, note);
  if (session.sealed) reportSeals(session.sealed, links, files, context.suite, note);
  return clean && links[0] ? summarise(links as Link[]) : null;
}

/** A long session is read in parts, so that it does not hold all of memory's share at once. */
const AT_ONCE = 128;

interface Session {
  owner: string;
  sid8: string;
  /** Undefined when nobody signed such an identity in. */
  identity: Identity | undefined;
  /** By revoked key, up to which record the ledger vouches for it. */
  vouched: ReadonlyMap<string, number>;
  /** Null when it has no seal. */
  sealed: SealedFiles | null;
  report: Report;
}

/** The policy may ask for less than the protocol allows. */
export function maxBytes({ policy }: Trust): number {
  return (policy.document.fields.limits as unknown as { record_bytes: number }).record_bytes;
}

/** Bytes first, then what they say, SPEC §4.5: files are read together, then verified together, then judged one by one. */
async function auditRecords(
  files: readonly NumberedFile[],
  session: Session,
  context: SessionContext,
): Promise<(Link | null)[]> {
  const entries = files.map(({ entry }) => entry);
  const contents = await context.source.readAll(entries, maxBytes(context.trust));
  const opened = files.map((file, index) => openFile(file, contents[index]!));
  const checks = await checkSignatures(opened, session.identity?.keys ?? [], context.suite);
  return opened.map((file, index) => auditRecord(file, checks[index]!, session, context));
}

interface OpenedFile extends NumberedFile {
  /** Or why there are none. */
  bytes: Uint8Array | HandoffError;
  parts: SignedParts | null;
}

function openFile({ entry, seq, kind }: NumberedFile, bytes: Uint8Array | HandoffError): OpenedFile {
  const parts = bytes instanceof HandoffError ? null : cutSignature(bytes);
  return { entry, seq, kind, bytes, parts };
}

function auditRecord(
  { entry, seq, kind, bytes, parts }: OpenedFile,
  check: SignatureCheck | null,
  session: Session,
  context: SessionContext,
): Link | null {
  let record: ParsedRecord | null = null;
  let verified: VerifiedRecord | null = null;
  let link: Link | null = null;
  try {
    if (bytes instanceof HandoffError) throw bytes;
    const matched = context.onRecord || kind === 'seal' ? null : matchHead(bytes, parts, kind);
    record = matched ? null : parseCut(bytes, parts);
    const head = matched ?? record!;
    assertPlace(head, { identity: session.owner, sid8: session.sid8, seq, kind }, context.trust.repoId);
    if (!session.identity) throw unknownSigner(session.owner);
    const key = assertSigned(head, check, session.identity.keys);
    assertEntitled(kind, key, session.identity, seq <= (session.vouched.get(key.fingerprint) ?? 0));
    link = toLink(head, recordId(head.signedBytes, context.suite), key.fingerprint);
    verified = record && assertVerified(record, check, session.identity.keys, context.suite);
  } catch (error) {
    session.report(toFinding(error, entry.path));
  }
  context.onFile();
  context.onRecord?.(entry.path, record, verified);
  const content = bytes instanceof HandoffError ? null : bytes;
  if (session.sealed) addFile(session.sealed, { seq, kind, bytes: content }, verified, context.suite);
  return link;
}

/** SPEC §6.1: by an identity that was signed in, with a key that may, or might then. */
function assertEntitled(
  kind: RecordKind,
  { state, fingerprint }: IdentityKey,
  { name, role }: Identity,
  isVouched: boolean,
): void {
  if (state === 'revoked' && !isVouched) throw keyRevoked(fingerprint);
  if (kind === 'waiver' && role !== 'maintainer') throw notEntitled(name, kind);
}

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
  const paths = new Map(files.map((file) => [file.seq, file]));
  const ids = new Map(good.map(({ seq, id }) => [seq, id]));
  for (const fault of chainFaults(good, damaged)) {
    const { path } = paths.get(fault.seq)!.entry;
    report({ ...finding(fault.code, path, fault.expected, fault.found, NO_CHAIN), record: ids.get(fault.seq)! });
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
