import type { ThoughtRecord } from '../../../core/generated/types.ts';
import type { Evidence } from '../../../journal/drafts/thought-file.ts';
import type { DoneResult } from '../../../verbs/task/done.ts';
import type { EscalateResult } from '../../../verbs/writeback/escalate.ts';
import type { ReconcileResult } from '../../../verbs/writeback/reconcile.ts';
import type { ReviewResult } from '../../../verbs/writeback/review.ts';
import type { ThoughtResult } from '../../../verbs/writeback/thought.ts';
import type { WaiverResult } from '../../../verbs/writeback/waiver.ts';
import type { Paint } from '../../terminal.ts';
import { count, fields, headedTable, lines, shortId } from '../../text/layout.ts';
import { claimedOnly } from './gate-formats/facts.ts';

/** Separates what was run from what is only claimed. */
export function formatThought({ identity, delta_id, path, record }: ThoughtResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} ${identity}: ${paint('bold', record.task_id)} ${shortId(delta_id)}  ${paint('dim', path)}`,
    fields(rowsOf(record, paint), paint, '  '),
  );
}

export function formatDone({ task_id, thought, record }: DoneResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} ${paint('bold', task_id)} is ${paint('green', 'done')}, by ${record.identity}  ${paint('dim', thought.path)}`,
    fields(rowsOf(record, paint), paint, '  '),
  );
}

function rowsOf(record: ThoughtRecord, paint: Paint): [string, string][] {
  const { branch, commit_sha, tests_run, files_changed, blockers, evidence = [] } = record;
  const claimed = claimedOnly({ tests_run, evidence });
  const rows: [string, string][] = [
    ['commit', `${commit_sha.slice(0, 12)} on ${branch}`],
    ['changed', record.no_code ? 'no code' : count(files_changed.length, 'file')],
    ...evidence.map((each): [string, string] => ['run', formatEvidence(each, paint)]),
  ];
  if (claimed.length > 0) rows.push(['claimed', claimed.join(', ')]);
  if (blockers.length > 0) rows.push(['blockers', String(blockers.length)]);
  return rows;
}

function formatEvidence({ command, exit_code, duration_ms }: Evidence, paint: Paint): string {
  const end = exit_code === 0 ? paint('green', 'passed') : paint('red', `FAILED with exit code ${exit_code}`);
  return `${command.join(' ')}: ${end} after ${(duration_ms / 1000).toFixed(1)} s`;
}

/** For a person to paste, so without colours inside the block. */
export function formatEscalation(result: EscalateResult, paint: Paint): string {
  const { task_id, branch, commit_sha, draft, yaml, command } = result;
  const rows: [string, string][] = [
    ['task', task_id],
    ['branch', branch],
    ['commit', commit_sha],
    ['draft', draft ?? 'none: as a thought would be now; its summary is still to be written'],
  ];
  return lines(
    `The thought record of ${task_id} has to be written by a person.`,
    fields(rows, paint, '  '),
    '',
    'Save this as thought.yaml in a clone that has the commit:',
    '',
    '```yaml',
    yaml.replace(/\n$/, ''),
    '```',
    '',
    'Then, in a session of your own (git handoff start --as NAME):',
    '',
    `  ${command}`,
  );
}

/** Whose work it is about: several may have told of one task. */
export function formatReview({ identity, delta_id, path, thought }: ReviewResult, paint: Paint): string {
  const about = `${shortId(thought.delta_id)} by ${thought.identity}, about commit ${thought.commit_sha.slice(0, 12)}`;
  return lines(
    `${paint('green', '✓')} ${identity}: ${shortId(delta_id)}  ${paint('dim', path)}`,
    fields([['thought', about]], paint, '  '),
  );
}

export function formatWaiver({ identity, delta_id, path, commit_sha }: WaiverResult, paint: Paint): string {
  return lines(
    `${paint('green', '✓')} ${identity}: ${shortId(delta_id)}  ${paint('dim', path)}`,
    fields([['waived', commit_sha]], paint, '  '),
  );
}

export function formatReconciliation(result: ReconcileResult, paint: Paint): string {
  const { branch, reverted, reinstated, identity } = result;
  if (reverted.length === 0) return `Nothing that is done was reverted on ${branch ?? 'any branch'}.\n`;
  const rows = reverted.map(({ task_id, commit_sha, reverted_by }) => [
    task_id,
    commit_sha.slice(0, 12),
    reverted_by.slice(0, 12),
    reinstated.includes(task_id) ? 'todo again' : 'still done',
  ]);
  return lines(
    headedTable(['TASK', 'COMMIT', 'REVERTED BY', 'NOW'], rows, paint),
    reinstated.length > 0 ? [`Written by ${identity}.`] : ['git handoff reconcile makes them todo again.'],
  );
}
