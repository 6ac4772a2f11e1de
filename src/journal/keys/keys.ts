import { createPrivateKey, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { constants, existsSync, realpathSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { noteMessage } from '../../core/ledger/note.ts';
import { type Signable, signedMessage } from '../../core/record/signed-message.ts';
import type { PublicKey } from '../../core/record/verify.ts';
import { quoteWord } from '../../core/text/quote.ts';
import { fingerprint } from '../../core/trust/sshsig.ts';
import { nodeHashes } from '../../crypto.ts';
import { readLinked } from '../../disk/state-file.ts';
import { discoverRepository, type RepositoryDirs } from '../../git/discover.ts';

/** Something that signs for one key: a file of ours, or ssh-keygen with somebody's own key. */
export interface Signer {
  publicKey: PublicKey;
  sign(signable: Signable): Promise<Uint8Array>;
  /** Absent where the key only makes signatures of OpenSSH's form. */
  signNote?(text: string): Uint8Array;
}

/** Where private keys are: outside every work tree of the repository. */
export interface KeyRing {
  directory: string;
  repoId: string | null;
  /** The repository whose work trees are no place for keys; a key file may be a link into one. */
  dirs?: RepositoryDirs;
}

export function keyDirectory(env: NodeJS.ProcessEnv): string {
  if (env.HANDOFF_KEYS) return resolve(env.HANDOFF_KEYS);
  // A relative XDG_CONFIG_HOME is to be ignored, says its specification; it would depend on where a verb was called.
  const config = env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : null;
  return resolve(config ?? join(env.HOME || homedir(), '.config'), 'git-handoff', 'keys');
}

/** `<first 12 of repo id>/<identity>.pem`, else `<identity>.pem`; the `.new` of a rotation that was cut off counts too. */
export async function readKeys(ring: KeyRing, identity: string): Promise<Signer[]> {
  const paths = keyFolders(ring).flatMap((folder) => [
    join(folder, `${identity}.pem`),
    join(folder, `${identity}.pem.new`),
  ]);
  for (const path of paths)
    if (ring.dirs && existsSync(path)) assertOutsideWorkTree(dirname(realpathSync(path)), ring.dirs);
  const signers = await Promise.all(paths.map(readKey));
  return signers.filter((signer) => signer !== null);
}

export async function readKey(path: string): Promise<Signer | null> {
  const pem = readPem(path);
  return pem && toSigner(parsePrivateKey(pem, path));
}

function readPem(path: string): Buffer | null {
  try {
    return readLinked(path);
  } catch (cause) {
    const { message } = cause as Error;
    throw new HandoffError('no_key', `The key ${path} cannot be read: ${message}`, {
      hint: (cause instanceof HandoffError && cause.hint) || `chmod 600 ${quoteWord(path)}`,
      cause,
    });
  }
}

function parsePrivateKey(pem: Buffer, path: string): KeyObject {
  let key: KeyObject | null = null;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
  }
  if (key?.asymmetricKeyType === 'ed25519') return key;
  throw new HandoffError('no_key', `Expected an Ed25519 key in PKCS#8 form in ${path}, found something else.`, {
    hint: 'Make one with git handoff identity keygen NAME, or use git config handoff.signingKey ~/.ssh/id_ed25519.pub',
  });
}

export function toSigner(key: KeyObject): Signer {
  const bytes = new Uint8Array(Buffer.from(key.export({ format: 'jwk' }).x!, 'base64url'));
  return {
    publicKey: { bytes, fingerprint: fingerprint(bytes, nodeHashes) },
    sign: async (signable) => new Uint8Array(signBytes(null, signedMessage(signable, nodeHashes), key)),
    signNote: (text) => new Uint8Array(signBytes(null, noteMessage(text), key)),
  };
}

/**
 * A new key that exists nowhere yet. It is read back from its text: a KeyObject straight from generateKeyPairSync shares a lock
 * with the job that made it, and Node 20 waits for itself for ever if that job is collected while the key is exported.
 */
export function generateKey(): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return createPrivateKey(privateKey);
}

/** A new key in a file of its own; the half that everybody may know. */
export async function makeKey(path: string): Promise<PublicKey> {
  const key = generateKey();
  await writeKey(path, key);
  return toSigner(key).publicKey;
}

/** Where a key of this ring belongs. */
export function keyPath(ring: KeyRing, identity: string): string {
  return join(keyFolders(ring)[0]!, `${identity}.pem`);
}

/** Where keys are looked for, in this order. */
export function keyFolders({ directory, repoId }: KeyRing): string[] {
  return repoId ? [join(directory, repoId.slice(0, 12)), directory] : [directory];
}

/** Writes a private key, never over another one. */
export async function writeKey(path: string, key: KeyObject): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((cause: Error) => {
    const hint = 'Set HANDOFF_KEYS to a directory that can be written to.';
    throw new HandoffError('io', `The folder of ${path} cannot be made: ${cause.message}`, { hint, cause });
  });
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const file = await open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600).catch((error) => {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new HandoffError('usage', `There is a key at ${path} already, and keys are never overwritten.`, {
      hint: 'To replace a key that is in use: git handoff identity rotate NAME',
    });
  });
  try {
    await file.writeFile(key.export({ format: 'pem', type: 'pkcs8' }));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** SPEC §5.7: a private key inside a work tree is one `git add .` away from being published. */
export function assertOutsideWorkTree(directory: string, dirs: RepositoryDirs): void {
  const real = realDirectory(directory);
  const around = surroundingRepository(real);
  if (!around?.topLevel || around.commonDir !== dirs.commonDir) return;
  throw new HandoffError('key_in_tree', `Private keys would be in ${real}, inside the work tree ${around.topLevel}.`, {
    hint: 'Keep private keys outside the repository: move them, then set HANDOFF_KEYS or git config handoff.signingKey to match.',
    data: { directory: real, work_tree: around.topLevel },
  });
}

function surroundingRepository(directory: string): RepositoryDirs | null {
  try {
    return discoverRepository(nearestExisting(directory), {});
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'not_a_repository') return null;
    throw error;
  }
}

/** The directory as the file system sees it; what does not exist yet hangs on its nearest real parent. */
function realDirectory(path: string): string {
  const existing = nearestExisting(path);
  return realpathSync(existing) + path.slice(existing.length);
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
