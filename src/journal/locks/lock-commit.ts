import { equalBytes } from '../../core/bytes/bytes.ts';
import { parseJson } from '../../core/bytes/json.ts';
import { formatCommit } from '../../git/objects/commit-object.ts';
import type { ObjectFormat } from '../../git/objects/loose-object.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Holder, isHolder } from './holder.ts';

/** What a holder signs. */
export interface LockDocument {
  /** A lock of another repository is none here. */
  repo: string;
  /** A commit copied to another ref is not a lock there. */
  ref: string;
  /** Makes each lock commit unique: if two machines pushed the same object, both pushes would succeed. */
  nonce: string;
  holder: Holder;
}

/** A lock as it is read: anyone who may push to the remote may have written it, until its signature was checked. */
export interface UncheckedLock extends LockDocument {
  signedBytes: Uint8Array;
  signature: Uint8Array;
}

const EMPTY_TREE: Record<ObjectFormat, Oid> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

const AUTHOR = 'git-handoff <git-handoff@git-handoff.invalid> 0 +0000';

/** The first line of the commit's message, which is what is signed. SPEC §8.7 */
export function lockBytes({ repo, ref, nonce, holder }: LockDocument): Uint8Array {
  return Buffer.from(`${JSON.stringify({ repo, ref, nonce, holder })}\n`);
}

export function formatLockCommit(format: ObjectFormat, document: LockDocument, signature: Uint8Array): Uint8Array {
  const message = `${Buffer.from(lockBytes(document))}${Buffer.from(signature).toString('base64')}\n`;
  return formatCommit({ tree: EMPTY_TREE[format], parents: [], author: AUTHOR, committer: AUTHOR, message });
}

/** Null unless it is, byte for byte, what `formatLockCommit` writes for this ref. Who signed it is another question. */
export function parseLockCommit(ref: string, oid: Oid, bytes: Uint8Array): UncheckedLock | null {
  const text = Buffer.from(bytes).toString('utf8');
  const [line = '', base64 = ''] = text.slice(text.indexOf('\n\n') + 2).split('\n');
  const lock = parseJson<unknown>(line);
  if (!isLockDocument(lock) || lock.ref !== ref) return null;
  const signature = new Uint8Array(Buffer.from(base64, 'base64'));
  const written = formatLockCommit(oid.length === 64 ? 'sha256' : 'sha1', lock, signature);
  return equalBytes(written, bytes) ? { ...lock, signedBytes: lockBytes(lock), signature } : null;
}

function isLockDocument(value: unknown): value is LockDocument {
  const { repo, nonce, holder } = (value ?? {}) as Partial<Record<keyof LockDocument, unknown>>;
  return typeof repo === 'string' && typeof nonce === 'string' && isHolder(holder);
}
