import type { YamlMap } from '../../core/bytes/yaml.ts';
import type { RecordKind } from '../../core/record/kinds.ts';

/** What a verb wants to record; everything else follows from the session. */
export interface RecordDraft extends SecretOptions {
  kind: RecordKind;
  fields: YamlMap;
  body?: string;
  /** Keys that depend on which number the record gets. */
  fieldsAt?(seq: number): YamlMap;
  /** What is kept, as YAML, when it cannot be written; else the text is. */
  kept?: YamlMap;
}

export interface SecretOptions {
  /** A person has looked: what seems to be a secret is none. It is recorded that they said so. */
  allowSecret?: boolean;
}
