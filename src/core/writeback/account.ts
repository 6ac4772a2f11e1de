import type { ThoughtRecord } from '../generated/types.ts';
import type { PlacedRecord } from '../record/record-summary.ts';

/** What a thought record accounts for. SPEC §10.4 */
export interface Account {
  delta_id: string;
  path: string;
  task_id: string;
  identity: string;
  clock: number;
  commit: string;
  /** The patch id of its change as a whole, which a squash keeps. */
  wholePatchId: string | null;
  /** The patch ids of its single commits, which a rebase keeps, and how many commits have each. */
  commitPatchIds: ReadonlyMap<string, number>;
  files: readonly string[];
  /** What was run and did not pass, with how it ended. */
  failed: readonly string[];
}

export function toAccount({ path, record: { id, fields } }: PlacedRecord<'thought'>): Account {
  const { task_id, identity, clock, commit_sha, patch_id, commit_patch_ids = [], files_changed, evidence } = fields;
  return {
    delta_id: id,
    path,
    task_id,
    identity,
    clock,
    commit: commit_sha,
    wholePatchId: patch_id ?? null,
    commitPatchIds: countEach(commit_patch_ids),
    files: files_changed,
    failed: failedIn(evidence),
  };
}

/** What was done, taken back and done again has one id twice. */
export function countEach(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

function failedIn(evidence: ThoughtRecord['evidence'] = []): string[] {
  const failed = evidence.filter(({ exit_code }) => exit_code !== 0);
  return failed.map(({ command, exit_code }) => `${command.join(' ')} ended with exit code ${exit_code}`);
}
