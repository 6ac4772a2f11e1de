import { rename } from 'node:fs/promises';
import { HandoffError } from '../../core/error.ts';
import type { IdentityDocument } from '../../core/generated/types.ts';
import { identityPath } from '../../core/paths.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { type IdentityKey, isActive } from '../../core/trust/key-standing.ts';
import { formatPublicKey } from '../../core/trust/sshsig.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { publish } from '../../journal/commits/publish.ts';
import { keyPath, makeKey, readKey, readKeys } from '../../journal/keys/keys.ts';
import { signDocument } from '../../journal/keys/sign.ts';
import { keyRing, requireIdentity } from '../../journal/keys/signers.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireTrust } from '../../repository/trusted-now.ts';
import { nextVersion } from '../../trust/identity-document.ts';
import { planRootKey } from '../../trust/policy-change.ts';
import {
  assertUnused,
  type IdentityOptions,
  type IdentityResult,
  isRootKey,
  publishIdentity,
  readPublicKeyFile,
  signerOf,
} from './identity.ts';

export interface RotateResult extends IdentityResult {
  /** Fingerprints of the keys that sign nothing new from now on; those that were revoked before are not among them. */
  retired: string[];
  /** The line for a maintainer, who has to sign it in on another machine; until that has arrived, the old key signs. */
  public_key?: string;
  /** Whether it has a key that counts until then. */
  signs?: boolean;
}

/** A new key; the old one is retired: what it signed stands, and it signs nothing new. SPEC §5.5 */
export async function identityRotate(repository: Repository, options: IdentityOptions): Promise<RotateResult> {
  const trust = await requireTrust(repository);
  const identity = requireIdentity(trust, options.name);
  const path = keyPath(keyRing(repository, trust.repoId), identity.name);
  if (!options.key) await requireOwnKey(repository, trust, identity);
  if (!options.key && !(await isSignerHere(repository, trust, identity, options)))
    return askForSignature(path, identity);
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

/** Whether somebody who may sign the next version has a key on this machine. Whoever names one with `--as` means that one. */
async function isSignerHere(
  repository: Repository,
  trust: Trust,
  { role }: Identity,
  options: IdentityOptions,
): Promise<boolean> {
  try {
    await signerOf(role, repository, trust, options);
    return true;
  } catch (error) {
    if (options.as === undefined && error instanceof HandoffError && error.code === 'no_key') return false;
    throw error;
  }
}

/** The next key waits beside the old one, and is found there once a maintainer has signed it in. */
async function askForSignature(path: string, identity: Identity): Promise<RotateResult> {
  const { bytes, fingerprint } = await newKey(path, identity);
  const { name, role } = identity;
  const public_key = formatPublicKey(bytes, name);
  return {
    identity: name,
    role,
    fingerprint,
    path: `${path}.new`,
    signed_by: [],
    commit: null,
    pending: true,
    retired: [],
    public_key,
    signs: identity.keys.some(isActive),
  };
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
  const { fingerprint } = key;
  return { identity: name, role: 'maintainer', fingerprint, path, signed_by: [name], commit, pending };
}

async function requireOwnKey(repository: Repository, trust: Trust, identity: Identity): Promise<void> {
  const here = await readKeys(keyRing(repository, trust.repoId), identity.name);
  if (here.some(({ publicKey }) => identity.keys.some(({ fingerprint }) => fingerprint === publicKey.fingerprint)))
    return;
  throw new HandoffError(
    'no_key',
    `The key of ${identity.name} is not on this machine, so a new one does not belong here.`,
    {
      hint: `Let ${identity.name} run git handoff identity keygen ${quoteWord(identity.name)}, then: git handoff identity rotate ${quoteWord(identity.name)} --key FILE.pub`,
    },
  );
}

/** The next key, as `.new`. A rotation that was cut off left one there: signed in by now, or still to be used. */
async function newKey(path: string, identity: Identity): Promise<PublicKey> {
  const left = await readKey(`${path}.new`);
  if (left && !identity.keys.some(({ fingerprint }) => fingerprint === left.publicKey.fingerprint))
    return left.publicKey;
  if (left) await swapKeys(path);
  return makeKey(`${path}.new`);
}

/** The old private key is kept under the name of what it was. */
async function swapKeys(path: string): Promise<void> {
  const old = (await readKey(path))?.publicKey.fingerprint.slice(7, 15).replaceAll(/[+/]/g, '_');
  if (old) await rename(path, `${path}.retired-${old}`);
  await rename(`${path}.new`, path);
}
