import type { YamlMap } from '../../core/bytes/yaml.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { VerifiedRecord } from '../../core/record/verify.ts';
import type { Oid } from '../../git/objects/store.ts';

/** What a verdict needs of a record. One that was verified just now will do as well. */
export interface Trace {
  path: string;
  record: Pick<VerifiedRecord, 'kind' | 'id' | 'fields'>;
}

/** A trace as it is kept: where its bytes are, and whose keys they hang on. */
export interface KeptTrace extends Trace {
  owner: string;
  role: string;
  /** Of every key that signed the session up to this record: were one of them revoked, the session is read again. */
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

interface Named {
  task_id: string;
  commit_sha: string;
  thought: string;
  lock?: { task: string };
  patch_id?: string;
  commit_patch_ids?: string[];
}

/** Everything that a record can be asked for by. */
export function keysOf({ record: { kind, fields } }: Trace): string[] {
  const { task_id, commit_sha, thought, lock, patch_id, commit_patch_ids = [] } = fields as unknown as Named;
  const found = lock ? [keys.lock(lock.task)] : [];
  if (kind === 'task' || kind === 'thought') found.push(keys.task(task_id));
  if (kind === 'review') found.push(keys.reviewOf(thought));
  if (kind === 'waiver') found.push(keys.waiverOf(commit_sha));
  if (kind === 'thought') {
    const patchIds = patch_id === undefined ? commit_patch_ids : [patch_id, ...commit_patch_ids];
    found.push(keys.thoughtOn(commit_sha), ...patchIds.map(keys.thoughtOfPatch));
  }
  return [...new Set(found)];
}

const READ_WHOLE = /^(?:commit|patch) /;

const KEPT = [
  'session_id',
  'identity',
  'clock',
  'task_id',
  'status',
  'progress',
  'commit_sha',
  'thought',
  'verdict',
  'lock',
] as const;

/** Texts and lists are as long as their author likes. Of a thought that is found by what it accounts for, the record is read. */
export function shorten({ path, record: { kind, id, fields } }: PlacedRecord, key: string): Trace {
  const names = READ_WHOLE.test(key) ? [] : KEPT;
  const kept = names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]] as const);
  return { path, record: { kind, id, fields: Object.fromEntries(kept) as YamlMap } };
}
