import { isDeepStrictEqual } from 'node:util';
import type { ParsedRecord } from '../core/record/record.ts';
import { type IdentityKey, isActive, isRevoked } from '../core/trust/key-standing.ts';
import { type Identity, readIdentity, readPolicy, type Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { isOfPolicy, type Waiting } from './waiting.ts';

/**
 * The two halves of one change, and nothing besides: a root principal's new key, in the next policy and in its identity. Whoever names
 * neither signs both, so what else changes in them would be signed unseen.
 */
export function isRotation(waiting: readonly Waiting[], { policy, identities }: Trust): boolean {
  const [next, half] = waiting; // the policy comes first
  if (waiting.length !== 2 || !next || !isOfPolicy(next) || !half || isOfPolicy(half)) return false;
  const was = identities.get(half.identity);
  const key = rotatedKey(policy.document, next.document, half.identity);
  return was !== undefined && key !== null && onlyRotates(was, readIdentity(half.document, nodeSuite), key);
}

/** The fingerprint that takes the place of a principal's key; null where anything else is another too. */
function rotatedKey(old: ParsedRecord<'policy'>, next: ParsedRecord<'policy'>, name: string): string | null {
  const isOwn = (line: string) => line.startsWith(`${name} `);
  if (!isDeepStrictEqual(withoutKey(old, isOwn), withoutKey(next, isOwn))) return null;
  const [before, key] = [old, next].map((each) => readPolicy(each, nodeSuite).root.principals.get(name)?.fingerprint);
  return key !== undefined && before !== undefined && key !== before ? key : null;
}

/** What a policy says, but for what each version has of its own and for a key. The order of the keys says nothing. */
function withoutKey({ fields }: ParsedRecord<'policy'>, isOwn: (line: string) => boolean) {
  const { version: _, prev: __, at: ___, repo: ____, nonce: _____, root, ...rest } = fields;
  return { ...rest, threshold: root.threshold, keys: root.keys.filter((line) => !isOwn(line)).sort() };
}

/** Its new key is the only one that may sign. No other came, and none was revoked. */
function onlyRotates(was: Identity, is: Identity, key: string): boolean {
  const others = is.keys.filter(({ fingerprint }) => fingerprint !== key);
  const old = new Map(was.keys.map((each) => [each.fingerprint, each]));
  const isKept = (each: IdentityKey) =>
    !isActive(each) && old.has(each.fingerprint) && isRevoked(each) === isRevoked(old.get(each.fingerprint)!);
  const isNew = is.keys.some((each) => each.fingerprint === key && isActive(each));
  return isNew && others.every(isKept) && isDeepStrictEqual(withoutKeys(was), withoutKeys(is));
}

function withoutKeys({ document: { fields } }: Identity) {
  const { version: _, prev: __, at: ___, keys: ____, ...rest } = fields;
  return rest;
}
