import { isTaskId } from './names.ts';
import { extensionOf, isRecordKind, type RecordKind } from './record/kinds.ts';

/** Where things live in the tree, SPEC §2.2. The path says who may write. */
export const ROOT = '.handoff';

export function policyPath(version: number, pending = false): string {
  return `${ROOT}/policy/${String(version).padStart(4, '0')}${pending ? '.pending' : ''}.yaml`;
}

export function identityPath(name: string, pending = false): string {
  return `${ROOT}/identities/${name}/${pending ? 'pending' : 'identity'}.yaml`;
}

/** What a persona reads. */
export function skillPath(name: string): string {
  return `${ROOT}/identities/${name}/skill.md`;
}

/** The log of seals: its checkpoint and tiles. */
export const LEDGER = `${ROOT}/ledger`;
/** The file of the ledger that is signed. */
export const CHECKPOINT = 'checkpoint';

export const PROJECT_PATH = `${ROOT}/project.yaml`;

/** `20260220T143025-7c1f09aa`: the folder's time gives people the order, the id makes it unique. */
export function sessionFolder(startedAt: string, sessionId: string): string {
  return `${startedAt.slice(0, 19).replace(/[-:]/g, '')}-${sessionId.slice(0, 8)}`;
}

export function recordName(seq: number, kind: RecordKind): string {
  return `${String(seq).padStart(4, '0')}-${kind}.${extensionOf(kind)}`;
}

const SESSION_FOLDER = /^[0-9]{8}T[0-9]{6}-([0-9a-f]{8})$/;

export function parseSessionFolder(name: string): { sid8: string } | null {
  const match = SESSION_FOLDER.exec(name);
  return match && { sid8: match[1]! };
}

const RECORD_NAME = /^([0-9]{4,6})-([a-z]+)\.(?:yaml|md)$/;

export function parseRecordName(name: string): { seq: number; kind: RecordKind } | null {
  const match = RECORD_NAME.exec(name);
  if (!match || !isRecordKind(match[2]!)) return null;
  const seq = Number(match[1]);
  return seq >= 1 && recordName(seq, match[2]) === name ? { seq, kind: match[2] } : null;
}

const POLICY_NAME = /^([0-9]{4,10})(\.pending)?\.yaml$/;

export function parsePolicyName(name: string): { version: number; pending: boolean } | null {
  const match = POLICY_NAME.exec(name);
  if (!match) return null;
  const version = Number(match[1]);
  const pending = match[2] !== undefined;
  return version >= 1 && policyPath(version, pending).endsWith(`/${name}`) ? { version, pending } : null;
}

export function taskPath(id: string): string {
  return `${ROOT}/tasks/${id}.yaml`;
}

export function parseTaskName(name: string): string | null {
  const id = name.endsWith('.yaml') ? name.slice(0, -5) : '';
  return isTaskId(id) ? id : null;
}

/** Where a proof of a record is exported to, by the digits of its id. */
export function proofPath(id: string): string {
  return `${ROOT}/proofs/${id.slice('sha256:'.length)}.yaml`;
}

export function isProofName(name: string): boolean {
  return /^[0-9a-f]{64}\.yaml$/.test(name);
}
