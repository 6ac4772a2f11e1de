/** Records belong to a session and carry one `signature`; documents stand alone and carry `signatures`. SPEC §3. */
export const RECORD_KINDS = [
  'start',
  'pickup',
  'note',
  'checkpoint',
  'decision',
  'wip',
  'signal',
  'thought',
  'task',
  'baton',
  'review',
  'waiver',
  'audit',
  'seal',
  'release',
] as const;

export const DOCUMENT_KINDS = ['policy', 'identity', 'project', 'task-definition'] as const;

export type RecordKind = (typeof RECORD_KINDS)[number];
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];
export type Kind = RecordKind | DocumentKind;
/** A lock is signed as well, and is no file of the tree. SPEC §8.7 */
export type SignedKind = Kind | 'lock';

/** Kinds whose main part is a text that people read: Markdown below front matter. SPEC §3.2 */
const MARKDOWN: ReadonlySet<string> = new Set(['baton', 'decision']);
const RECORDS: ReadonlySet<string> = new Set(RECORD_KINDS);
const DOCUMENTS: ReadonlySet<string> = new Set(DOCUMENT_KINDS);

export function isRecordKind(kind: string): kind is RecordKind {
  return RECORDS.has(kind);
}

export function isKind(kind: string): kind is Kind {
  return RECORDS.has(kind) || DOCUMENTS.has(kind);
}

export function extensionOf(kind: Kind): 'md' | 'yaml' {
  return MARKDOWN.has(kind) ? 'md' : 'yaml';
}

/** The SSHSIG namespace: a signature made for one kind says nothing about another. SPEC §4.2 */
export function namespaceOf(kind: SignedKind): string {
  return `git-handoff/v1/${kind}`;
}
