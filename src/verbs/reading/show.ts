import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt } from '../../audit/finding.ts';
import { type Entry, FILE, find, type Source } from '../../audit/source/source.ts';
import { loadTrust, readSignedDocument } from '../../audit/trust/trust.ts';
import { equalBytes } from '../../core/bytes/bytes.ts';
import type { YamlMap } from '../../core/bytes/yaml.ts';
import { HandoffError } from '../../core/error.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { identityPath, PROJECT_PATH, policyPath, ROOT, taskPath } from '../../core/paths.ts';
import { type DocumentKind, namespaceOf } from '../../core/record/kinds.ts';
import { isDocument, type ParsedRecord, parseRecord } from '../../core/record/record.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Signature } from '../../core/record/signed-parts.ts';
import { type PublicKey, recordId } from '../../core/record/verify.ts';
import { parseSessionName } from '../../core/session/session-name.ts';
import { armourSshsig } from '../../core/trust/sshsig.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { type Choice, findElsewhere, findRecords, type JudgedRecord } from '../../custody/find-records.ts';
import { journalled } from '../../custody/known-sessions.ts';
import { listSessions } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import { onlyOne, parseRecordArgument } from '../../repository/record-path.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { allowedSigner } from '../setup/identity-list.ts';
import { type LogEntry, log, openRecords } from './log.ts';

export interface ShowOptions {
  /** A path, an id, or at least six digits of one. */
  record: string;
  /** A directory to write payload, payload.sig and allowed_signers to. */
  sshsig?: string;
}

export interface ShowResult {
  id: string;
  record: YamlMap;
  body: string | null;
  path: string;
  valid: boolean;
  signer: { identity: string; fingerprint: string } | null;
  sshsig?: { directory: string; command: string };
}

/** A session and its records, as `log` shows them. */
export interface SessionShown {
  session_id: string;
  identity: string;
  /** The newest first. */
  records: LogEntry[];
}

/** One record, or, where none is called so, the records of a session. */
export async function showNamed(repository: Repository, options: ShowOptions): Promise<ShowResult | SessionShown> {
  try {
    return await show(repository, options);
  } catch (error) {
    const isAsked = options.sshsig === undefined && isNone(error);
    const session = isAsked ? await findSession(repository, options.record) : null;
    if (session) return session;
    throw error;
  }
}

/** No record is called so, or none could be. */
function isNone(error: unknown): boolean {
  if (!(error instanceof HandoffError)) return false;
  return error.code === 'usage' || (error.code === 'unknown_record' && error.data?.found === 0);
}

async function findSession(repository: Repository, name: string): Promise<SessionShown | null> {
  const { identity, prefix } = parseSessionName(name);
  if (!/^[0-9a-f]{4}[0-9a-f-]*$/.test(prefix)) return null;
  const { records } = await log(repository, { session: prefix, ...(identity === null ? {} : { identity }) });
  const [first] = records;
  const isOne = records.every((each) => each.session_id === first?.session_id && each.identity === first.identity);
  return first && isOne ? { session_id: first.session_id, identity: first.identity, records } : null;
}

/** One record: its fields, its text, who signed it and whether that holds. */
export async function show(repository: Repository, options: ShowOptions): Promise<ShowResult> {
  const found = await findRecord(repository, options.record);
  const result: ShowResult = {
    id: recordId(found.record.signedBytes, nodeSuite),
    record: found.record.fields,
    body: found.record.body,
    path: found.path,
    valid: found.fingerprint !== null,
    signer: found.fingerprint === null ? null : { identity: found.signer, fingerprint: found.fingerprint },
  };
  if (options.sshsig === undefined) return result;
  return { ...result, sshsig: await exportSshsig(found, await requireTrust(repository), options.sshsig) };
}

interface Found {
  path: string;
  record: ParsedRecord;
  signer: string;
  /** Null when the record is not valid. */
  fingerprint: string | null;
}

async function findRecord(repository: Repository, name: string): Promise<Found> {
  const parsed = parseRecordArgument(name);
  const [path, prefix] = 'path' in parsed ? [parsed.path, undefined] : [null, parsed.prefix];
  if (path?.startsWith(`${ROOT}/`) && !path.startsWith(`${ROOT}/sessions/`)) return findDocument(repository, path);
  const whole = path && (path.startsWith(`${ROOT}/`) ? path : `${ROOT}/${path}`);
  const question = whole === null ? { digits: prefix! } : { path: whole };
  const choose: Choice<Found> = (at, record, verified) => {
    const isHit = whole ? at === whole : recordId(record.signedBytes, nodeSuite).startsWith(`sha256:${prefix}`);
    const signer = record.fields.identity;
    return isHit ? { path: at, record, signer, fingerprint: verified?.fingerprint ?? null } : null;
  };
  const places = [
    async () => judgedItems(await findRecords(repository, question, choose)),
    () => findJournalled(repository, path, prefix),
    async () => judgedItems(await findElsewhere(repository, question, choose)),
  ];
  let found: Found[] = [];
  for (const look of places) if (found.length === 0) found = await look();
  return onlyOne(found, name);
}

function judgedItems(hits: readonly JudgedRecord<Found>[]): Found[] {
  return hits.map(({ item, isValid }) => (isValid ? item : { ...item, fingerprint: null }));
}

/** What another work tree of this clone has written and this branch does not have: a baton that was picked up here. */
async function findJournalled(
  repository: Repository,
  path: string | null,
  prefix: string | undefined,
): Promise<Found[]> {
  const trust = await requireTrust(repository);
  const found: Found[] = [];
  for (const session of listSessions(dirsOf(repository))) {
    for (const { path: at, record } of await journalled(repository, trust, session).catch(noneIfUntrusted)) {
      const isHit = path ? at === path || at === `${ROOT}/${path}` : record.id.startsWith(`sha256:${prefix}`);
      if (isHit) found.push({ path: at, record, signer: session.identity, fingerprint: record.fingerprint });
    }
  }
  return found;
}

function noneIfUntrusted(error: unknown): PlacedRecord[] {
  if (error instanceof HandoffError) return [];
  throw error;
}

/** Policies, identities, tasks and the project have a path too; each is judged as `verify` does. */
async function findDocument(repository: Repository, path: string): Promise<Found> {
  const source = await openRecords(repository);
  const entry = await find(source, path);
  if (entry?.mode !== FILE) return onlyOne<Found>([], path);
  const record = parseRecord(await source.read(entry, MAX_RECORD_BYTES));
  const trust = await loadTrust(source, nodeSuite, () => {});
  const counts = trust !== null && isDocument(record) && (await isInForce(source, entry, record, trust));
  const line = record.signatures.find((signature) => trust && isTrusted(signature, trust));
  return { path, record, signer: line?.identity ?? '', fingerprint: (counts && line?.fingerprint) || null };
}

/** At its own path, and what `verify` would go by. A document that waits for signatures is not. */
async function isInForce(
  source: Source,
  entry: Entry,
  { kind, fields, signedBytes }: ParsedRecord<DocumentKind>,
  trust: Trust,
): Promise<boolean> {
  const isSigned = async () => {
    const read = () => readSignedDocument(source, entry, kind, trust, nodeSuite);
    return (await attempt(entry.path, () => {}, read)) !== null;
  };
  switch (kind) {
    case 'policy':
      return entry.path === policyPath(fields.version) && fields.version <= trust.policy.version;
    case 'identity': {
      const inForce = trust.identities.get(fields.name)?.document.signedBytes;
      return entry.path === identityPath(fields.name) && inForce !== undefined && equalBytes(inForce, signedBytes);
    }
    case 'project':
      return entry.path === PROJECT_PATH && isSigned();
    case 'task-definition':
      return entry.path === taskPath(fields.task_id) && isSigned();
  }
}

function isTrusted({ identity, fingerprint }: Signature, { policy, identities }: Trust): boolean {
  if (policy.root.principals.get(identity)?.fingerprint === fingerprint) return true;
  return identities.get(identity)?.keys.some((key) => key.fingerprint === fingerprint) ?? false;
}

/** Everything stock OpenSSH needs to confirm the record without us. SPEC §4.5 */
async function exportSshsig(
  found: Found,
  trust: Trust,
  directory: string,
): Promise<{ directory: string; command: string }> {
  const root = trust.policy.root.principals.get(found.signer);
  const keys: PublicKey[] = [...(trust.identities.get(found.signer)?.keys ?? []), ...(root ? [root] : [])];
  const key = keys.find(({ fingerprint }) => fingerprint === found.fingerprint);
  if (!key) {
    throw new HandoffError('signature_invalid', `${found.path} is not valid, so there is nothing to export.`, {
      hint: 'git handoff verify says why.',
    });
  }
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'payload'), found.record.signedBytes);
  await writeFile(join(directory, 'payload.sig'), armoured(found, key));
  await writeFile(join(directory, 'allowed_signers'), `${allowedSigner(found.signer, key)}\n`);
  const namespace = namespaceOf(found.record.kind);
  const command = `ssh-keygen -Y verify -f allowed_signers -I ${found.signer} -n ${namespace} -s payload.sig < payload`;
  return { directory, command };
}

function armoured({ record, signer, fingerprint }: Found, key: PublicKey): string {
  const listed = record.signatures.find((line) => line.identity === signer && line.fingerprint === fingerprint);
  return armourSshsig(key.bytes, namespaceOf(record.kind), record.signature ?? listed!.bytes);
}
