import { HandoffError } from '../error.ts';
import type { IdentityDocument, PolicyDocument } from '../generated/types.ts';
import type { DocumentKind } from '../record/kinds.ts';
import type { ParsedRecord } from '../record/record.ts';
import { signedMessage } from '../record/signed-message.ts';
import { type PublicKey, recordId, type Suite } from '../record/verify.ts';
import { type IdentityKey, isRevoked, stands } from './key-standing.ts';
import { fingerprint, parsePublicKey } from './sshsig.ts';
import { isStrictKey } from './strict.ts';

export type Role = IdentityDocument['role'];

export interface Identity {
  name: string;
  version: number;
  id: string;
  role: Role;
  keys: IdentityKey[];
  document: ParsedRecord<'identity'>;
}

/** Who signs policies and, by threshold, maintainers. */
export interface RootKeys {
  threshold: number;
  principals: ReadonlyMap<string, PublicKey>;
}

/** What a policy asks for besides its signers, as its schema has it. */
type PolicyRules = Pick<
  PolicyDocument,
  'protected' | 'writeback' | 'exempt' | 'stale_after' | 'limits' | 'sections' | 'agents'
>;

export interface Policy {
  version: number;
  id: string;
  root: RootKeys;
  rules: PolicyRules;
  document: ParsedRecord<'policy'>;
}

/** What a tree says about who is trusted, after all of it was checked. */
export interface Trust {
  repoId: string;
  policy: Policy;
  /** The ids of all versions, the first one first. */
  policyIds: readonly string[];
  identities: ReadonlyMap<string, Identity>;
  /** Those whom only a key that was revoked since has signed in: they count for nothing until somebody else signs. */
  distrusted: ReadonlyMap<string, Identity>;
}

/** SPEC §5.1: threshold within the number of keys; no principal and no key named twice. */
export function readPolicy(document: ParsedRecord<'policy'>, suite: Suite): Policy {
  const { root, version } = document.fields;
  const principals = new Map<string, PublicKey>();
  const fingerprints = new Set<string>();
  for (const line of root.keys) {
    const [name = '', ...key] = line.split(' ');
    const publicKey = readPublicKey(key.join(' '), suite);
    if (principals.has(name)) throw invalidPolicy('each principal once', `${name} twice`);
    if (fingerprints.has(publicKey.fingerprint)) throw invalidPolicy('each key once', `${publicKey.fingerprint} twice`);
    principals.set(name, publicKey);
    fingerprints.add(publicKey.fingerprint);
  }
  if (root.threshold > principals.size) {
    throw invalidPolicy(`a threshold from 1 to ${principals.size}`, String(root.threshold));
  }
  return {
    version,
    id: recordId(document.signedBytes, suite),
    root: { threshold: root.threshold, principals },
    rules: document.fields,
    document,
  };
}

/** SPEC §5.2: exactly the next version, bound to the last one, signed by the threshold of both. */
export async function assertSucceeds(
  policy: Policy,
  prior: Policy | null,
  repoId: string | null,
  suite: Suite,
): Promise<void> {
  assertFollows(policy, prior, repoId);
  if (prior) await assertThreshold(policy.document, prior.root, suite, `version ${prior.version}`);
  await assertThreshold(policy.document, policy.root, suite, `version ${policy.version}`);
}

/** The same, whoever signed it. */
export function assertFollows(policy: Policy, prior: Policy | null, repoId: string | null): void {
  const { prev, repo, nonce } = policy.document.fields;
  const version = (prior?.version ?? 0) + 1;
  if (policy.version !== version) throw invalidPolicy(`version ${version}`, String(policy.version));
  if (prev !== (prior?.id ?? null)) throw invalidPolicy(`prev ${prior?.id ?? null}`, String(prev));
  if (repo !== (repoId ?? undefined)) throw invalidPolicy(`repo ${repoId ?? 'absent in version 1'}`, String(repo));
  if ((nonce === undefined) !== (prior !== null))
    throw invalidPolicy('a nonce in version 1 and nowhere else', String(nonce));
}

async function assertThreshold(document: ParsedRecord, root: RootKeys, suite: Suite, whose: string): Promise<void> {
  const signers = await rootSigners(document, root, suite);
  if (signers.size >= root.threshold) return;
  throw invalidPolicy(`${root.threshold} signatures by root principals of ${whose}`, `${signers.size}`);
}

/** The root principals who signed a document, each counted once. A wrong signature under a trusted key is never ignored. */
export async function rootSigners(document: ParsedRecord, root: RootKeys, suite: Suite): Promise<Set<string>> {
  const signers = new Set<string>();
  for (const line of document.signatures) {
    const key = root.principals.get(line.identity);
    if (key?.fingerprint !== line.fingerprint) continue;
    await assertSigned(document, key, line.bytes, suite);
    signers.add(line.identity);
  }
  return signers;
}

export async function assertSigned(
  document: ParsedRecord,
  key: PublicKey,
  signature: Uint8Array,
  suite: Suite,
): Promise<void> {
  if (await suite.verify(key.bytes, signedMessage(document, suite), signature)) return;
  throw new HandoffError('signature_invalid', `The signature by ${key.fingerprint} does not fit these bytes.`, {
    hint: 'The file was changed after it was signed. Restore it from git.',
    data: { expected: `a signature by ${key.fingerprint}`, found: 'one over other bytes' },
  });
}

/** SPEC §5.5: a key is listed once; with two states it would have the one that is found first. */
export function readIdentity(document: ParsedRecord<'identity'>, suite: Suite): Identity {
  const { name, version, role, keys } = document.fields;
  const listed = keys.map(({ key, ...rest }) => ({ ...readPublicKey(key, suite), ...rest }));
  const prints = listed.map(({ fingerprint }) => fingerprint);
  const seen = new Set<string>();
  const again = prints.find((print) => seen.size === seen.add(print).size);
  if (again) throw listedTwice(name, again);
  assertBeginning(document);
  return { name, version, id: recordId(document.signedBytes, suite), role, keys: listed, document };
}

/** A version of a document, by which the next one names it. */
export interface DocumentVersion {
  version: number;
  id: string;
}

/** Whether a document is the very next one; `current` is null where there is none yet. */
export function isNextVersion({ fields }: ParsedRecord<DocumentKind>, inForce: DocumentVersion | null): boolean {
  return fields.version === (inForce?.version ?? 0) + 1 && fields.prev === (inForce?.id ?? null);
}

/** SPEC §5.3: version 1 has no predecessor, and every other version has one. Which one that was a gate can tell, and no tree. */
export function assertBeginning({ fields }: ParsedRecord<DocumentKind>): void {
  const { version, prev } = fields;
  if ((version === 1) !== (prev === null)) throw noPredecessor(version, prev);
}

/** SPEC §5.4: maintainers are signed in by the threshold of root principals; one lays its keys down by itself. */
export async function assertMaintainer(identity: Identity, policy: Policy, suite: Suite): Promise<void> {
  if ((await laidDownBy(identity, suite)).length === 0) await assertByThreshold(identity, policy, suite);
}

/**
 * SPEC §5.5: whoever holds a key may say that nobody is to trust it, without asking anybody. Of an identity that has no key left but
 * revoked ones, which can give nothing to anyone, the keys of its own that say so.
 */
export async function laidDownBy({ name, keys, document }: Identity, suite: Suite): Promise<IdentityKey[]> {
  if (keys.some(stands)) return [];
  const signers: IdentityKey[] = [];
  for (const line of document.signatures) {
    const key = line.identity === name && keys.find(({ fingerprint }) => fingerprint === line.fingerprint);
    if (!key) continue;
    await assertSigned(document, key, line.bytes, suite);
    signers.push(key);
  }
  return signers;
}

export async function assertByThreshold(identity: Identity, policy: Policy, suite: Suite): Promise<void> {
  const signers = await rootSigners(identity.document, policy.root, suite);
  if (signers.size >= policy.root.threshold) return;
  throw notSignedIn(identity.document, `${policy.root.threshold} root principals of policy ${policy.version}`);
}

/** SPEC §5.4: agents, tasks and project.yaml are signed by one maintainer, with a key that is not revoked. */
export async function assertSignedByMaintainer(
  document: ParsedRecord,
  identities: ReadonlyMap<string, Identity>,
  suite: Suite,
): Promise<void> {
  let revoked: string | null = null;
  let signed = false;
  for (const line of document.signatures) {
    const signer = identities.get(line.identity);
    const key = signer?.keys.find((candidate) => candidate.fingerprint === line.fingerprint);
    if (!key || signer?.role !== 'maintainer') continue;
    await assertSigned(document, key, line.bytes, suite);
    if (isRevoked(key)) revoked = key.fingerprint;
    else signed = true;
  }
  if (signed) return;
  throw revoked ? keyRevoked(revoked) : notSignedIn(document, 'a maintainer');
}

function noPredecessor(version: number, prev: string | null): HandoffError {
  return new HandoffError(
    'schema_invalid',
    `prev: expected null in version 1 and nowhere else, found ${prev} in ${version}`,
    {
      hint: 'Each version names the id of the one before it.',
      data: { expected: 'null in version 1 and nowhere else', found: `${prev} in version ${version}` },
    },
  );
}

function listedTwice(name: string, print: string): HandoffError {
  return new HandoffError('signer_not_entitled', `The identity ${name} lists the key ${print} twice.`, {
    hint: 'List each key once, with one state.',
    data: { expected: 'each key once', found: print },
  });
}

export function keyRevoked(fingerprint: string): HandoffError {
  return new HandoffError('key_revoked', `The signing key ${fingerprint} was revoked.`, {
    hint: 'If the content is right, a maintainer must sign it again, or its author record it again, with an active key.',
    data: { expected: 'a key that is not revoked', found: fingerprint },
  });
}

export function readPublicKey(line: string, suite: Suite): PublicKey {
  const bytes = parsePublicKey(line).key;
  if (!isStrictKey(bytes)) throw weakKey();
  return { bytes, fingerprint: fingerprint(bytes, suite) };
}

function weakKey(): HandoffError {
  return new HandoffError('schema_invalid', 'Not a key: its point is of small order, or not in canonical form.', {
    hint: 'Make one with git handoff identity keygen NAME, or ssh-keygen -t ed25519.',
    data: { expected: 'a canonical Ed25519 point of large order', found: 'another' },
  });
}

function notSignedIn(document: ParsedRecord, expected: string): HandoffError {
  const signers = document.signatures.map((line) => `${line.identity} ${line.fingerprint}`).join(', ');
  return new HandoffError('signer_unknown', `Nobody who may sign this did: expected ${expected}, found ${signers}.`, {
    hint: 'Ask a maintainer to sign it: git handoff identity add NAME --key FILE.pub',
    data: { expected, found: signers },
  });
}

function invalidPolicy(expected: string, found: string): HandoffError {
  return new HandoffError('policy_invalid', `Policy: expected ${expected}, found ${found}.`, {
    hint: 'Change the policy with git handoff policy set, and sign it with git handoff policy sign.',
    data: { expected, found },
  });
}
