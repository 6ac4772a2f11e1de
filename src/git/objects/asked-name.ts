import { HandoffError } from '../../core/error.ts';
import type { Oid } from './store.ts';

/** The id that stands for nothing: what a ref was before it is created, or is after it is deleted. */
export function isNullOid(text: string): boolean {
  return /^(?:0{40}|0{64})$/.test(text);
}

export function isOid(text: string): text is Oid {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

export function assertOid(text: string): asserts text is Oid {
  if (!isOid(text)) throw new HandoffError('usage', `Expected a full object id, got ${JSON.stringify(text)}`);
}

/** Whatever begins with `-` git could take for an option, and with `^` for what is left out; a control character could end the request early. */
export function assertRevision(rev: string): void {
  if (/^[^-^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$/.test(rev)) return;
  throw new HandoffError('usage', `Not a revision: ${JSON.stringify(rev)}`, {
    hint: 'Name a commit by its id, a branch or a tag.',
  });
}

export function assertRefPrefix(prefix: string): void {
  if (/^refs\/(?:[^-\s/\x00-\x1f\x7f~^:?*[\\][^\s/\x00-\x1f\x7f~^:?*[\\]*\/)*$/.test(prefix)) return;
  throw new HandoffError('usage', `Expected a prefix such as "refs/heads/", got ${JSON.stringify(prefix)}`);
}

/** What `git check-ref-format` accepts, less what a path could be made to mean. */
export function isFullRef(name: string): boolean {
  return FULL_REF.test(name);
}

const FULL_REF = /^refs\/(?!.*(?:\.\.|\/\.|\/\/|@\{|\.lock(?:\/|$)))[^\s\p{Cc}~^:?*[\\]+(?<![/.])$/u;
