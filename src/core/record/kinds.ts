import type { DocumentFields, RecordFields, RecordHead, StartRecord } from '../generated/types.ts';

export type RecordKind = keyof RecordFields;
export type DocumentKind = keyof DocumentFields;
export type Kind = RecordKind | DocumentKind;
/** The keys of a kind and their types, as its schema has them. */
export type FieldsOf<K extends Kind> = (RecordFields & DocumentFields)[K];
/** What a kind of record adds to the keys that every record has. */
export type OwnFields<K extends RecordKind> = Omit<FieldsOf<K>, keyof RecordHead>;
/** For whoever asks records of any kind: keys that say the same in each kind that has them. */
export type SharedFields = RecordHead &
  Partial<Pick<StartRecord, 'task' | 'branch' | 'head'>> & { task_id?: string; secret_allowed?: boolean };
/** A lock is signed as well, and is no file of the tree. SPEC §8.7 */
export type SignedKind = Kind | 'lock';

/** Markdown below front matter for kinds whose main part is a text that people read; YAML for all others. SPEC §3.2 */
type Extension = 'md' | 'yaml';

/** The table of kinds: each schema of protocol/schemas has one line here. Records belong to a session and carry one `signature`. SPEC §3 */
const RECORDS: Readonly<Record<RecordKind, Extension>> = {
  start: 'yaml',
  pickup: 'yaml',
  note: 'yaml',
  checkpoint: 'yaml',
  decision: 'md',
  wip: 'yaml',
  signal: 'yaml',
  thought: 'yaml',
  task: 'yaml',
  baton: 'md',
  review: 'yaml',
  waiver: 'yaml',
  audit: 'yaml',
  seal: 'yaml',
  release: 'yaml',
};

/** Documents stand alone and carry `signatures`. */
const DOCUMENTS: Readonly<Record<DocumentKind, Extension>> = {
  policy: 'yaml',
  identity: 'yaml',
  project: 'yaml',
  'task-definition': 'yaml',
};

export const RECORD_KINDS: readonly RecordKind[] = Object.keys(RECORDS).filter(isRecordKind);
export const DOCUMENT_KINDS: readonly DocumentKind[] = Object.keys(DOCUMENTS).filter(isDocumentKind);

export function isRecordKind(kind: string): kind is RecordKind {
  return Object.hasOwn(RECORDS, kind);
}

export function isDocumentKind(kind: string): kind is DocumentKind {
  return Object.hasOwn(DOCUMENTS, kind);
}

export function isKind(kind: string): kind is Kind {
  return isRecordKind(kind) || isDocumentKind(kind);
}

export function extensionOf(kind: Kind): Extension {
  return isRecordKind(kind) ? RECORDS[kind] : DOCUMENTS[kind];
}

/** For records with their paths: `records.filter(isOfKind('thought'))` is a list of thoughts. */
export function isOfKind<K extends RecordKind>(kind: K) {
  return <P extends { record: { kind: RecordKind } }>(placed: P): placed is P & { record: { kind: K } } =>
    placed.record.kind === kind;
}

/** The SSHSIG namespace: a signature made for one kind says nothing about another. SPEC §4.2 */
export function namespaceOf(kind: SignedKind): string {
  return `git-handoff/v1/${kind}`;
}
