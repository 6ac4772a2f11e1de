import type { YamlMap } from '../../core/bytes/yaml.ts';
import type { OwnFields, RecordKind } from '../../core/record/kinds.ts';

/** What a verb wants to record; everything else follows from the session. A union by kind, as records are. */
export type RecordDraft<K extends RecordKind = RecordKind> = AnyDraft & { kind: K };

type AnyDraft = { [K in Exclude<RecordKind, 'seal'>]: PlainDraft<K> }[Exclude<RecordKind, 'seal'>] | SealDraft;

interface PlainDraft<K extends RecordKind> extends DraftOptions {
  kind: K;
  fields: OwnFields<K>;
}

/** What a seal says depends on which number it gets. */
interface SealDraft extends DraftOptions {
  kind: 'seal';
  fields: Record<string, never>;
  fieldsAt(seq: number): OwnFields<'seal'>;
}

interface DraftOptions extends SecretOptions {
  body?: string;
  /** What is kept, as YAML, when it cannot be written; else the text is. */
  kept?: YamlMap;
}

export interface SecretOptions {
  /** A person has looked: what seems to be a secret is none. It is recorded that they said so. */
  allowSecret?: boolean;
}
