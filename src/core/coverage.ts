import type { PlacedRecord } from './record-summary.ts';

/** What a thought record accounts for. SPEC §10.4 */
export interface Account {
  delta_id: string;
  path: string;
  task_id: string;
  identity: string;
  clock: number;
  commit: string;
  /** Of its change as a whole and of each commit of it. */
  patchIds: ReadonlySet<string>;
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
    patchIds: new Set(patch_id === undefined ? commit_patch_ids : [patch_id, ...commit_patch_ids]),
    files: fields.files_changed as unknown as string[],
    failed: failedIn(fields.evidence as unknown as Run[] | undefined),
  };
}

interface Run {
  command: string[];
  exit_code: number;
}

function failedIn(evidence: readonly Run[] = []): string[] {
  const failed = evidence.filter(({ exit_code }) => exit_code !== 0);
  return failed.map(({ command, exit_code }) => `${command.join(' ')} ended with exit code ${exit_code}`);
}

/**
 * Whether a policy asks no writeback for a path: it is listed, or in a folder that is. `*` stands for any part of a name, `**` for
 * any folders.
 */
export function exemption(patterns: readonly string[]): (path: string) => boolean {
  const rules = patterns.map(toRule);
  return (path) => rules.some((rule) => rule.test(path));
}

/** A pattern whose last name has a `*` is for files: `*.md` does not exempt a folder that is called so. */
function toRule(pattern: string): RegExp {
  const isFile = /\*[^/]*$/.test(pattern) && !pattern.endsWith('**');
  const parts = pattern.replace(/\/+$/, '').split(/(\*\*\/|\*\*|\*)/);
  return new RegExp(`^${parts.map(toSource).join('')}${isFile ? '$' : '(?:/|$)'}`, 's');
}

function toSource(part: string): string {
  if (part === '**/') return '(?:[^/]*/)*';
  if (part === '**') return '.*';
  if (part === '*') return '[^/]*';
  return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
