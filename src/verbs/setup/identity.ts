import { readFile, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { IdentityDocument } from '../../core/generated/types.ts';
import { assertIdentityName } from '../../core/names.ts';
import { identityPath } from '../../core/paths.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { type IdentityKey, isActive } from '../../core/trust/key-standing.ts';
import { formatPublicKey } from '../../core/trust/sshsig.ts';
import { type Identity, type Role, readPublicKey, rootSigners, type Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { generateKey, keyDirectory, keyPath, readKey, readKeys, toSigner, writeKey } from '../../journal/keys/keys.ts';
import { type NamedSigner, signDocument } from '../../journal/keys/sign.ts';
import { type Actor, keyRing, maintainerSigner, requireIdentity, rootSigner } from '../../journal/keys/signers.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { identityFields, nextVersion } from '../../trust/identity-document.ts';
import { planRootKey } from '../../trust/policy-change.ts';

export interface IdentityOptions extends PublishOptions, Actor {
  name: string;
  /** A public key file; for revoke, a fingerprint. */
  key?: string;
}

export interface IdentityResult {
  identity: string;
  role: Role;
  fingerprint: string;
  path: string;
  commit: string | null;
  /** True while more root principals have to sign. */
  pending: boolean;
}

/** Signs in a new identity, with a key that is given, was made here before, or is made now. SPEC §5.4 */
export async function identityAdd(
  repository: Repository,
  options: IdentityOptions & { role?: Role },
): Promise<IdentityResult> {
  const { name, role = 'agent' } = options;
  assertIdentityName(name);
  enterWorkTree(repository);
  const trust = await requireTrust(repository);
  if (trust.identities.has(name)) throw taken(name);
  await signerOf(role, repository, trust, options); // before a key is made that nobody here could sign in
  const key = options.key ? await readPublicKeyFile(options.key) : await localKey(repository, trust, name);
  assertUnused(key, trust);
  const fields = identityFields(trust.repoId, name, role, [key], repository.now().toISOString());
  return publishIdentity(repository, trust, fields, key.fingerprint, `handoff: sign in ${name}`, options);
}

export interface KeygenResult {
  identity: string;
  fingerprint: string;
  public_key: string;
  path: string;
  /** A maintainer has signed in this name with another key: this one is rotated in, not added. */
  signed_in: boolean;
}

/** A key on this machine; nothing is signed in. Outside a repository it serves every repository. */
export async function identityKeygen(
  place: { repository: Repository | null; env: NodeJS.ProcessEnv },
  { name }: { name: string },
): Promise<KeygenResult> {
  assertIdentityName(name);
  const trust = place.repository && (await trustIfAny(place.repository));
  const repoId = trust?.repoId ?? null;
  const ring = place.repository ? keyRing(place.repository, repoId) : { directory: keyDirectory(place.env), repoId };
  const path = keyPath(ring, name);
  const existing = await readKey(path);
  if (existing) throw keyExists(path, name, existing.publicKey);
  const key = generateKey();
  await writeKey(path, key);
  const { bytes, fingerprint } = toSigner(key).publicKey;
  const signed_in = trust?.identities.has(name) ?? false;
  return { identity: name, fingerprint, public_key: formatPublicKey(bytes, name), path, signed_in };
}

function keyExists(path: string, name: string, { bytes }: PublicKey): HandoffError {
  const public_key = formatPublicKey(bytes, name);
  const rotate = `git handoff identity rotate ${quoteWord(name)}`;
  return new HandoffError('usage', `There is a key at ${path} already, and keys are never overwritten.`, {
    hint: `Its public line is "${public_key}". To replace it, run ${rotate} where a maintainer's key is at hand; elsewhere move it away first (mv ${quoteWord(path)} ${quoteWord(`${path}.old`)}), then run this again.`,
    data: { path, public_key },
  });
}

export interface RotateResult extends IdentityResult {
  /** Fingerprints of the keys that sign nothing new from now on; those that were revoked before are not among them. */
  retired: string[];
}

/** A new key; the old one is retired: what it signed stands, and it signs nothing new. SPEC §5.5 */
export async function identityRotate(repository: Repository, options: IdentityOptions): Promise<RotateResult> {
  const trust = await requireTrust(repository);
  const identity = requireIdentity(trust, options.name);
  const path = keyPath(keyRing(repository, trust.repoId), identity.name);
  if (!options.key) await requireOwnKey(repository, trust, identity);
  const key = options.key ? await readPublicKeyFile(options.key) : await newKey(path, identity);
  assertUnused(key, trust);
  const oldKeys = identity.keys.map((old): IdentityKey => (isActive(old) ? { ...old, state: 'retired' } : old));
  const retired = identity.keys.filter(isActive).map(({ fingerprint }) => fingerprint);
  const fields = nextVersion(
    identity,
    [{ ...key, state: 'active' }, ...oldKeys],
    repository.now().toISOString(),
    nodeSuite,
  );
  const message = `handoff: rotate the key of ${identity.name}`;
  const result = isRootKey(identity, trust)
    ? await rotateRootKey(repository, trust, { fields, key, message, options })
    : await publishIdentity(repository, trust, fields, key.fingerprint, message, options);
  // while the change waits for signatures the old key still counts; `.new` is read beside it
  if (!options.key && !result.pending) await swapKeys(path);
  return { ...result, retired };
}

interface RootRotation {
  fields: IdentityDocument;
  key: PublicKey;
  message: string;
  options: IdentityOptions;
}

/** A root key stands in the policy too: its rotation is the next policy, signed by the old key and the new one. */
async function rotateRootKey(repository: Repository, trust: Trust, rotation: RootRotation): Promise<IdentityResult> {
  const { fields, key, message, options } = rotation;
  const { name } = fields;
  const change = await planRootKey(repository, trust, name, key);
  const signed = await signDocument(fields, [change.newSigner]);
  const pending = change.pending || change.root.threshold > 1;
  const path = identityPath(name, pending);
  const files = [
    ...change.files.filter((file) => file.path !== identityPath(name)),
    { path, bytes: signed.bytes, replaces: true },
  ];
  const commit = await publish(repository, { files, message, identity: name }, options);
  return { identity: name, role: 'maintainer', fingerprint: key.fingerprint, path, commit, pending };
}

/** What goes with an identity that is published. */
interface Along {
  others?: FileToWrite[];
  removed?: string[];
  /** Who lays down the keys of it, and needs nobody else. */
  own?: NamedSigner | undefined;
}

/** Maintainers need the root's threshold; until enough have signed, the file waits beside. */
export async function publishIdentity(
  repository: Repository,
  trust: Trust,
  fields: IdentityDocument,
  fingerprint: string,
  message: string,
  options: IdentityOptions,
  { others = [], removed = [], own }: Along = {},
): Promise<IdentityResult> {
  const { name, role } = fields;
  const { root } = trust.policy;
  const signer = own ?? (await signerOf(role, repository, trust, options));
  const { bytes, document } = await signDocument(fields, [signer]);
  const isShort = role === 'maintainer' && (await rootSigners(document, root, nodeSuite)).size < root.threshold;
  const pending = isShort && !own;
  const path = identityPath(name, pending);
  const files = [{ path, bytes, replaces: true }, ...others];
  const commit = await publish(repository, { files, removed, message, identity: signer.identity }, options);
  return { identity: name, role, fingerprint, path, commit, pending };
}

/** Root principals sign maintainers in, maintainers everybody else. SPEC §5.4 */
function signerOf(role: Role, repository: Repository, trust: Trust, actor: Actor): Promise<NamedSigner> {
  if (role === 'maintainer') return rootSigner(repository, trust.repoId, trust.policy.root, actor);
  return maintainerSigner(repository, trust, actor);
}

async function localKey(repository: Repository, trust: Trust, name: string): Promise<PublicKey> {
  const ring = keyRing(repository, trust.repoId);
  const existing = (await readKeys(ring, name))[0];
  if (existing) return existing.publicKey;
  const key = generateKey();
  await writeKey(keyPath(ring, name), key);
  return toSigner(key).publicKey;
}

async function requireOwnKey(repository: Repository, trust: Trust, identity: Identity): Promise<void> {
  const here = await readKeys(keyRing(repository, trust.repoId), identity.name);
  if (here.some(({ publicKey }) => identity.keys.some(({ fingerprint }) => fingerprint === publicKey.fingerprint)))
    return;
  throw new HandoffError(
    'no_key',
    `The key of ${identity.name} is not on this machine, so a new one does not belong here.`,
    {
      hint: `Let ${identity.name} run git handoff identity keygen, then: git handoff identity rotate ${quoteWord(identity.name)} --key FILE.pub`,
    },
  );
}

/** The next key, as `.new`. A rotation that was cut off left one there: signed in by now, or still to be used. */
async function newKey(path: string, identity: Identity): Promise<PublicKey> {
  const left = await readKey(`${path}.new`);
  if (left && !identity.keys.some(({ fingerprint }) => fingerprint === left.publicKey.fingerprint))
    return left.publicKey;
  if (left) await swapKeys(path);
  const key = generateKey();
  await writeKey(`${path}.new`, key);
  return toSigner(key).publicKey;
}

/** The old private key is kept under the name of what it was. */
async function swapKeys(path: string): Promise<void> {
  const old = (await readKey(path))?.publicKey.fingerprint.slice(7, 15).replaceAll(/[+/]/g, '_');
  if (old) await rename(path, `${path}.retired-${old}`);
  await rename(`${path}.new`, path);
}

async function trustIfAny(repository: Repository): Promise<Trust | null> {
  try {
    return await requireTrust(repository);
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_initialised') return null;
    throw error;
  }
}

async function readPublicKeyFile(path: string): Promise<PublicKey> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new HandoffError('usage', `The public key ${path} cannot be read: ${cause.message}`, {
      hint: 'Give the .pub file that ssh-keygen -t ed25519 or git handoff identity keygen made.',
      cause,
    });
  });
  if (text.includes('PRIVATE KEY')) {
    throw new HandoffError('usage', `${basename(path)} is a private key; only the public one is signed in.`, {
      hint: 'Give the .pub file, and keep the private one where it is.',
    });
  }
  return readPublicKey(text.trimEnd(), nodeSuite);
}

/** SPEC §5.5: a key speaks for one identity, once. */
function assertUnused(key: PublicKey, trust: Trust): void {
  const holders = [...trust.identities.values()].filter(({ keys }) =>
    keys.some((k) => k.fingerprint === key.fingerprint),
  );
  if (holders.length === 0) return;
  throw new HandoffError('usage', `The key ${key.fingerprint} belongs to ${holders[0]!.name} already.`, {
    hint: 'Give each identity a key of its own: git handoff identity keygen NAME',
  });
}

export function isRootKey(identity: Identity, { policy }: Trust): boolean {
  const root = policy.root.principals.get(identity.name);
  return identity.keys.some((key) => isActive(key) && key.fingerprint === root?.fingerprint);
}

function taken(name: string): HandoffError {
  return new HandoffError('usage', `There is an identity called ${name} already.`, {
    hint: `To change its key: git handoff identity rotate ${quoteWord(name)}`,
  });
}
