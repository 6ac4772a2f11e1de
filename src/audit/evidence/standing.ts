import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { Identity, Trust } from '../../core/trust/trust.ts';
import { labelOf } from '../history/history-cache.ts';
import type { KeptTrace } from './trace.ts';

/** By what the sessions of an identity were judged. */
export interface Standing {
  owner: string;
  /** Its role and all its keys, revoked or not. */
  whole: string;
  role: string;
  /** The keys that its records are signed with. */
  used: string[];
  /** Whether all of them held. What did not may hold for another set of keys. */
  isClean: boolean;
  /** The last folder that was read, where a process ended before it had read them all; null: all were. */
  upTo: string | null;
}

export function openStanding(owner: string, trust: Trust): Standing {
  const identity = trust.identities.get(owner);
  return { owner, whole: wholeOf(identity), role: identity?.role ?? '', used: [], isClean: true, upTo: null };
}

/** Whether the sessions of an identity would be judged as they were: if not, they are read again. SPEC §7.4 */
export function isStanding(standing: Standing, trust: Trust): boolean {
  const identity = trust.identities.get(standing.owner);
  if (wholeOf(identity) === standing.whole) return true;
  return standing.isClean && isSigner(identity, standing.role, standing.used);
}

/** Whether all that a record hangs on may still sign. */
export function isTrusted({ owner, role, labels }: KeptTrace, trust: Trust): boolean {
  return isSigner(trust.identities.get(owner), role, labels);
}

function isSigner(identity: Identity | undefined, role: string, labels: readonly string[]): boolean {
  return identity?.role === role && labels.every((label) => identity.keys.some((key) => labelOf(key) === label));
}

function wholeOf(identity: Identity | undefined): string {
  if (!identity) return '';
  return [identity.role, ...identity.keys.map((key) => `${key.state} ${labelOf(key)}`).sort()].join('\n');
}

/** For each record of a session, from the first on, the labels of the keys that signed it and all before it. */
export function labelsOf(records: readonly PlacedRecord[], identity: Identity | undefined): string[][] {
  const labelsOf = new Map((identity?.keys ?? []).map((key) => [key.fingerprint, labelOf(key)]));
  const labels = new Set<string>();
  return records.map(({ record }) => [...labels.add(labelsOf.get(record.fingerprint)!)]);
}
