import type { Evidence } from '../audit/evidence/evidence.ts';
import { type Budget, whileTime } from '../core/budget.ts';
import type { Finding } from '../core/error.ts';
import type { PolicyDocument } from '../core/generated/types.ts';
import { isOfKind } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import type { TaskTrail } from '../core/task/state.ts';
import { quoteWord } from '../core/text/quote.ts';
import { writebackRules } from '../core/trust/policy-defaults.ts';
import { LACKS, type Lack, type Run } from '../core/writeback/runs.ts';
import type { GitAccess } from '../repository/parts.ts';
import { judgeTold, readThoughts, toldBy } from '../repository/told-thoughts.ts';
import type { DoneTask, Trails } from './tasks.ts';

export interface RunCase {
  done: readonly DoneTask[];
  trails: Trails;
  /** The records that arrive, and what the protected branch has. */
  added: readonly PlacedRecord[];
  evidence: Evidence;
  rules: PolicyDocument['writeback'];
  budget: Budget;
}

/** SPEC §10.5, M95 and M96: what was run for a task that is said to be done has passed, as far as the policy asks for it. */
export async function judgeRunsOf(repository: GitAccess, input: RunCase): Promise<Finding[]> {
  const { done, trails, evidence, rules, budget } = input;
  const { runs: severity, evidence: asked } = writebackRules(rules);
  const finished: { task: DoneTask; trail: TaskTrail }[] = [];
  for (const task of whileTime(budget, done)) {
    if (task.isDone && task.thought) finished.push({ task, trail: await trails.trailOf(task.id) });
  }
  const arrived = input.added.filter(isOfKind('thought'));
  const whole = await readThoughts(
    evidence,
    finished.map(({ trail }) => trail),
    arrived,
  );
  const findings: Finding[] = [];
  for (const { task, trail } of whileTime(budget, finished)) {
    if (asked === 'none' && !trail.thoughts.some(({ delta_id }) => hasFailed(whole.get(delta_id)))) continue;
    const { failed, lack } = await judgeTold(repository, await toldBy(repository, trail, whole), asked);
    if (failed) findings.push(runFailed(task.id, failed, severity));
    if (lack) findings.push(lacking(task.id, task.change, lack));
  }
  return findings;
}

function hasFailed(thought: PlacedRecord<'thought'> | undefined): boolean {
  return thought?.record.fields.evidence?.some(({ exit_code }) => exit_code !== 0) ?? false;
}

/** A run that failed is told once, with the severity that it has for a task that is done. */
export function withRunsOf(warnings: readonly Finding[], ofDone: readonly Finding[]): Finding[] {
  const failed = new Map(ofDone.filter(({ code }) => code === 'run_failed').map((found) => [found.record, found]));
  const told = warnings.map((found) => ({ ...found, severity: failed.get(found.record)?.severity ?? found.severity }));
  const warned = new Set(warnings.map(({ record }) => record));
  return [...told, ...ofDone.filter(({ code, record }) => code !== 'run_failed' || !warned.has(record))];
}

function runFailed(id: string, { told, line, exit_code }: Run, severity: Finding['severity']): Finding {
  return {
    code: 'run_failed',
    severity,
    path: told.path,
    record: told.delta_id!,
    message: `${id} is said to be done, and the newest run for it did not pass: ${line} ended with exit code ${exit_code}.`,
    hint: `Mend it, then run it again for a new record: git handoff thought ${quoteWord(id)} --run -- COMMAND`,
  };
}

function lacking(id: string, { path, record }: PlacedRecord, lack: Lack): Finding {
  return {
    code: lack === 'thought' ? 'done_without_thought' : 'evidence_missing',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and ${LACKS[lack]}.`,
    hint: `${REMEDIES[lack](quoteWord(id))}, then git handoff task update ${quoteWord(id)} --status done`,
  };
}

const REMEDIES: Readonly<Record<Lack, (id: string) => string>> = {
  thought: (id) => `git handoff thought ${id} on the commit that did it, or with --no-code where there is none`,
  run: (id) => `Where all is committed: git handoff thought ${id} --run -- COMMAND`,
  passed: (id) => `Where all is committed: git handoff thought ${id} --run -- COMMAND`,
};
