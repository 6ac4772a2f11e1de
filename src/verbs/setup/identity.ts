import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import type { IdentityDocument } from '../../core/generated/types.ts';
import { assertIdentityName } from '../../core/names.ts';
import { identityPath } from '../../core/paths.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { isActive } from '../../core/trust/key-standing.ts';
import { type Identity, type Role, readPublicKey, rootSigners, type Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { keyPath, makeKey, readKeys } from '../../journal/keys/keys.ts';
import { type NamedSigner, signDocument } from '../../journal/keys/sign.ts';
import { type Actor, keyRing, maintainerSigner, rootSigner } from '../../journal/keys/signers.ts';
import { enterWorkTree, type Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { identityFields } from '../../trust/identity-document.ts';
import { readWaiting, tellReplaced } from '../../trust/waiting.ts';

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
  /** Who signed this version; empty while a signature by somebody else is asked for. */
  signed_by: string[];
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

/** What goes with an identity that is published. */
interface Along {
  others?: FileToWrite[];
  removed?: string[];
  /** The identity that retires its own keys, for which it needs nobody else. */
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
  const replaced = (await readWaiting(repository, trust)).find((each) => each.identity === name);
  if (replaced) tellReplaced(repository, replaced);
  const gone = replaced && !pending ? [...removed, replaced.shown.path] : removed;
  const commit = await publish(repository, { files, removed: gone, message, identity: signer.identity }, options);
  return { identity: name, role, fingerprint, path, signed_by: [signer.identity], commit, pending };
}

/** Root principals sign maintainers in, maintainers everybody else. SPEC §5.4 */
export function signerOf(role: Role, repository: Repository, trust: Trust, actor: Actor): Promise<NamedSigner> {
  if (role === 'maintainer') return rootSigner(repository, trust.repoId, trust.policy.root, actor);
  return maintainerSigner(repository, trust, actor);
}

async function localKey(repository: Repository, trust: Trust, name: string): Promise<PublicKey> {
  const ring = keyRing(repository, trust.repoId);
  const existing = (await readKeys(ring, name))[0];
  if (existing) return existing.publicKey;
  return makeKey(keyPath(ring, name));
}

export async function readPublicKeyFile(path: string): Promise<PublicKey> {
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
export function assertUnused(key: PublicKey, trust: Trust): void {
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
