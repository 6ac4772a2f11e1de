import { HandoffError } from '../../core/error.ts';
import { isIdentityName, isSessionId, isTaskId } from '../../core/names.ts';

export const LOCKS = 'refs/handoff/locks/';
export const HIGHEST = 99_999_999;
/** So far above the others a server takes a number (SPEC §8.7): one further up would leave none to take after it. */
export const REACH = 64;

/** What a ref of the namespace says by its name. */
export interface LockRef {
  number: number;
  released: boolean;
}

/** By kind of lock, what its name may be. */
const IS_NAME = new Map([
  ['identity', isIdentityName],
  ['session', isSessionId],
  ['task', isTaskId],
]);

/** `identity/<name>`, `session/<id>` or `task/<id>` → `refs/handoff/locks/<kind>/<name>/` */
export function lockPrefix(name: string): string {
  const [, kind, rest] = /^(identity|session|task)\/([^/]+)$/.exec(name) ?? [];
  if (!kind || !rest || !IS_NAME.get(kind)?.(rest)) {
    throw new HandoffError('usage', `Expected identity/…, session/… or task/…, got ${JSON.stringify(name)}`);
  }
  // git refuses a component that ends in ".lock"; no name can contain "=", so the two stay apart.
  return `${LOCKS}${kind}/${rest.replace(/\.lock$/, '.lock=')}/`;
}

export function lockRef(name: string, number: number): string {
  if (!Number.isInteger(number) || number < 1 || number > HIGHEST) {
    throw new HandoffError('usage', `Expected a lock's number from 1 to ${HIGHEST}, got ${number}`);
  }
  return `${lockPrefix(name)}${String(number).padStart(8, '0')}`;
}

export function releaseRef(name: string, number: number): string {
  return `${lockRef(name, number)}.released`;
}

/** Null: not a name that we write. */
export function parseLockRef(prefix: string, ref: string): LockRef | null {
  const [, digits, released] = /^(\d{8})(\.released)?$/.exec(ref.slice(prefix.length)) ?? [];
  return Number(digits) > 0 ? { number: Number(digits), released: released !== undefined } : null;
}

/** The same for whoever does not know which lock it is of. */
export function parseAnyLockRef(ref: string): (LockRef & { name: string }) | null {
  const [, prefix, kind, rest] = /^(refs\/handoff\/locks\/(identity|session|task)\/([^/]+)\/)/.exec(ref) ?? [];
  if (!prefix || !kind || !rest) return null;
  const name = rest.replace(/\.lock=$/, '.lock');
  if (!IS_NAME.get(kind)?.(name) || lockPrefix(`${kind}/${name}`) !== prefix) return null;
  const parsed = parseLockRef(prefix, ref);
  return parsed && { ...parsed, name: `${kind}/${name}` };
}
