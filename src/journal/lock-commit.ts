import { equalBytes } from '../core/bytes.ts';
import { parseJson } from '../core/json.ts';
import type { ObjectFormat } from '../git/loose-object.ts';
import { formatCommit } from '../git/object.ts';
import type { Oid } from '../git/store.ts';

/** Who holds a lock, or ended it. Anyone who may push to the remote may have written it. */
export interface Holder {
  session_id: string;
  identity: string;
  at: string;
  host: string;
  reason?: string;
}

interface LockCommit {
  /** A commit copied to another ref is not a lock there. */
  ref: string;
  /** Of two pushes of the same object both would succeed. */
  nonce: string;
  holder: Holder;
}

const EMPTY_TREE: Record<ObjectFormat, Oid> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};

const AUTHOR = 'git-handoff <git-handoff@git-handoff.invalid> 0 +0000';

export function formatLockCommit(format: ObjectFormat, { ref, nonce, holder }: LockCommit): Uint8Array {
  const message = `${JSON.stringify({ ref, nonce, holder })}\n`;
  return formatCommit({ tree: EMPTY_TREE[format], parents: [], author: AUTHOR, committer: AUTHOR, message });
}

/** Null unless it is, byte for byte, what `formatLockCommit` writes for this ref. */
export function parseLockCommit(ref: string, oid: Oid, bytes: Uint8Array): Holder | null {
  const text = Buffer.from(bytes).toString('utf8');
  const lock = parseJson<unknown>(text.slice(text.indexOf('\n\n')));
  if (!isLockCommit(lock) || lock.ref !== ref) return null;
  const written = formatLockCommit(oid.length === 64 ? 'sha256' : 'sha1', lock);
  return equalBytes(written, bytes) ? lock.holder : null;
}

function isLockCommit(value: unknown): value is LockCommit {
  return isObject(value) && typeof value.nonce === 'string' && isHolder(value.holder);
}

function isHolder(value: unknown): value is Holder {
  if (!isObject(value) || !['string', 'undefined'].includes(typeof value.reason)) return false;
  return ['session_id', 'identity', 'at', 'host'].every((key) => typeof value[key] === 'string');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
