import { HandoffError } from '../core/error.ts';
import { isTaskId } from '../core/names.ts';

const HIGHEST = 99_999_999;

/** What a ref of the namespace says by its name. */
export interface LockRef {
  number: number;
  released: boolean;
}

/** `identity/<name>`, `session/<id>` or `task/<id>` → `refs/handoff/locks/<kind>/<name>/` */
export function lockPrefix(name: string): string {
  const [, kind, rest] = /^(identity|session|task)\/([^/]+)$/.exec(name) ?? [];
  if (!kind || !rest || !isTaskId(rest)) {
    throw new HandoffError('usage', `Expected identity/…, session/… or task/…, got ${JSON.stringify(name)}`);
  }
  // git refuses a component that ends in ".lock"; no name can contain "=", so the two stay apart.
  return `refs/handoff/locks/${kind}/${rest.replace(/\.lock$/, '.lock=')}/`;
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
