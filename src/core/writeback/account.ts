import type { PlacedRecord } from '../record/record-summary.ts';

/** What a thought record accounts for. SPEC §10.4 */
export interface Account {
  delta_id: string;
  path: string;
  task_id: string;
  identity: string;
  clock: number;
  commit: string;
  /** Of its change as a whole: what a squash keeps. */
  wholePatchId: string | null;
  /** Of each commit of that change, and how many of them have it: what a rebase keeps. */
  commitPatchIds: ReadonlyMap<string, number>;
  files: readonly string[];
  /** What was run and did not pass, with how it ended. */
  failed: readonly string[];
}

export function toAccount({ path, record: { id, fields } }: PlacedRecord): Account {
  const { patch_id, commit_patch_ids = [] } = fields as { patch_id?: string; commit_patch_ids?: string[] };
  return {
    delta_id: id,
    path,
    task_id: fields.task_id as string,
    identity: fields.identity as string,
    clock: fields.clock as number,
    commit: fields.commit_sha as string,
    wholePatchId: patch_id ?? null,
    commitPatchIds: countEach(commit_patch_ids),
    files: fields.files_changed as unknown as string[],
    failed: failedIn(fields.evidence as unknown as Run[] | undefined),
  };
}

/** What was done, taken back and done again has one id twice. */
export function countEach(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

interface Run {
  command: string[];
  exit_code: number;
}

function failedIn(evidence: readonly Run[] = []): string[] {
  const failed = evidence.filter(({ exit_code }) => exit_code !== 0);
  return failed.map(({ command, exit_code }) => `${command.join(' ')} ended with exit code ${exit_code}`);
}
