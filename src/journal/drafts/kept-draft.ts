import type { YamlMap } from '../../core/bytes/yaml.ts';
import { writeYaml } from '../../core/bytes/yaml-write.ts';
import { HandoffError } from '../../core/error.ts';
import type { StateDirectory } from '../../repository/parts.ts';
import type { Session } from '../sessions/registry.ts';
import { dirsOf } from '../sessions/session-state.ts';
import { emergencyFolder, keepDraft } from './draft-file.ts';
import type { RecordDraft } from './record-draft.ts';

/** What may be tried again, in another session or once the disk has room. */
const KEPT_AFTER: readonly string[] = [
  'no_session',
  'session_released',
  'session_ended',
  'task_claimed',
  'usage',
  'io',
];

/** Whatever stands in the way, the words are kept, and the message says where. SPEC §8.4, §9.4 */
export function withDraft(
  thrown: unknown,
  { repository, session }: { repository: StateDirectory; session: Session },
  draft: RecordDraft,
): unknown {
  const error = draft.kept ? asIo(thrown) : thrown;
  if (!(error instanceof HandoffError) || !KEPT_AFTER.includes(error.code)) return error;
  if (error.data?.written) return error; // it is in the chain, and a draft would say that it is not
  const { drafts } = dirsOf(repository);
  const name = `${session.session_id.slice(0, 8)}-${draft.kind}`;
  if (draft.kept) return withRecord(error, draft.kept, keepYaml(drafts, name, draft.kept));
  const fields: YamlMap = draft.fields;
  const text = draft.body ?? fields.text ?? fields.notes;
  if (typeof text !== 'string' || text === '') return error;
  const path = tryKeep(() => keepDraft(drafts, name, 'md', text));
  return path === null ? error : retold(error, `Your text is kept in ${path}.`, { draft: path });
}

/** The record goes along with the error: where no disk takes it, the caller still has it. */
function withRecord(error: HandoffError, thought_record: YamlMap, path: string | null): HandoffError {
  if (path === null) return retold(error, null, { thought_record });
  return retold(error, `The record is kept in ${path}.`, { thought_record, draft: path });
}

function retold(error: HandoffError, where: string | null, data: Record<string, unknown>): HandoffError {
  const message = where === null ? error.message : `${error.message.replace(/\.?$/, '.')} ${where}`;
  const hint = error.hint ? { hint: error.hint } : {};
  return new HandoffError(error.code, message, { ...hint, data: { ...error.data, ...data }, cause: error });
}

function keepYaml(folder: string, name: string, fields: YamlMap): string | null {
  const text = toYaml(fields);
  return (
    tryKeep(() => keepDraft(folder, name, 'yaml', text)) ??
    tryKeep(() => keepDraft(emergencyFolder(), name, 'yaml', text))
  );
}

/** What no record can hold is kept all the same: JSON is YAML. */
function toYaml(fields: YamlMap): string {
  try {
    return writeYaml(fields);
  } catch (error) {
    if (error instanceof HandoffError) return `${JSON.stringify(fields, null, 2)}\n`;
    throw error;
  }
}

/** Null where the disk is what failed. */
function tryKeep(keep: () => string): string | null {
  try {
    return keep();
  } catch (error) {
    if (error instanceof HandoffError) return null;
    throw error;
  }
}

/** What the operating system refuses while the journal is read is as good a reason as when it is written. */
export function asIo(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  return new HandoffError('io', error.message, { cause: error });
}
