import type { ThoughtRecord } from '../../core/generated/types.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { VerifiedRecord } from '../../core/record/verify.ts';
import { TRACED_KEYS, type TracedRecord } from '../../core/task/state.ts';
import type { Oid } from '../../git/objects/store.ts';

/** What a verdict needs of a record, as it is kept: where its bytes are, and whose keys they hang on. */
export interface KeptTrace extends TracedRecord {
  owner: string;
  role: string;
  /** The keys that signed the session up to this record. If one of them is revoked, the session is read again. */
  labels: string[];
  /** The session's folder as it was when this was read, and the file in it. */
  tree: Oid;
  blob: Oid;
}

/** What a trace is found by. */
export const keys = {
  task: (id: string) => `task ${id}`,
  lock: (task: string) => `lock ${task}`,
  reviewOf: (thought: string) => `review ${thought}`,
  waiverOf: (commit: string) => `waiver ${commit}`,
  thoughtOn: (commit: string) => `commit ${commit}`,
  thoughtOfPatch: (patchId: string) => `patch ${patchId}`,
};

/** Everything that a record can be asked for by. */
export function keysOf({ record }: PlacedRecord): string[] {
  const { lock } = record.fields;
  return [...new Set([...(lock ? [keys.lock(lock.task)] : []), ...ownKeys(record)])];
}

/** Each kind answers here: one that no verdict asks for has none. */
function ownKeys(record: VerifiedRecord): string[] {
  switch (record.kind) {
    case 'task':
      return [keys.task(record.fields.task_id)];
    case 'thought':
      return thoughtKeys(record.fields);
    case 'review':
      return record.fields.thought === undefined ? [] : [keys.reviewOf(record.fields.thought)];
    case 'waiver':
      return [keys.waiverOf(record.fields.commit_sha)];
    case 'start':
    case 'pickup':
    case 'note':
    case 'checkpoint':
    case 'decision':
    case 'wip':
    case 'signal':
    case 'baton':
    case 'audit':
    case 'seal':
    case 'release':
      return [];
  }
}

function thoughtKeys({ task_id, commit_sha, patch_id, commit_patch_ids = [] }: ThoughtRecord): string[] {
  const patchIds = patch_id === undefined ? commit_patch_ids : [patch_id, ...commit_patch_ids];
  return [keys.task(task_id), keys.thoughtOn(commit_sha), ...patchIds.map(keys.thoughtOfPatch)];
}

const READ_WHOLE = /^(?:commit|patch) /;

/** Texts and lists are as long as their author likes. Of a thought that is found by what it accounts for, the record is read. */
export function shorten({ path, record: { kind, id, fields } }: PlacedRecord, key: string): TracedRecord {
  const names: readonly string[] = READ_WHOLE.test(key) ? [] : TRACED_KEYS;
  const kept = Object.entries(fields).filter(([name]) => names.includes(name));
  const record = { kind, id, fields: Object.fromEntries(kept) };
  return { path, record: record as TracedRecord['record'] }; // some of the keys that a record of this kind has
}
