import { HandoffError } from '../core/error.ts';
import { typedCommand } from '../core/text/command-line.ts';
import { quoteWord } from '../core/text/quote.ts';
import { writebackRules } from '../core/trust/policy-defaults.ts';
import type { Trust } from '../core/trust/trust.ts';
import { type EvidenceRule, LACKS, type Run, type RunVerdict } from '../core/writeback/runs.ts';

/** A policy that only advises is told of in the gate, and refuses nothing here. SPEC §10.10 */
export function askedEvidence({ policy }: Trust): EvidenceRule {
  const { evidence, advisory } = writebackRules(policy.rules.writeback);
  return advisory ? 'none' : evidence;
}

export function refusesFailedRuns({ policy }: Trust): boolean {
  const { runs, advisory } = writebackRules(policy.rules.writeback);
  return runs === 'error' && !advisory;
}

/** Refuses here what a gate would refuse later. SPEC §10.5 */
export function assertRuns(id: string, { failed, lack }: RunVerdict, asked: EvidenceRule): void {
  if (failed) throw runFailed(id, failed);
  if (!lack) return;
  throw new HandoffError('evidence_missing', `${id} is not done: ${LACKS[lack]}.`, {
    hint: `Commit everything, then git handoff done ${quoteWord(id)} TEXT --run -- COMMAND`,
    data: { task_id: id, asked },
  });
}

function runFailed(id: string, { command, line, exit_code, told: { delta_id, path } }: Run): HandoffError {
  const thought = delta_id === null ? null : { delta_id, path };
  return new HandoffError('run_failed', `${id} is not done: ${line} ended with exit code ${exit_code}.`, {
    hint: `The run is recorded. Mend what failed, commit it, and run it again: git handoff done ${quoteWord(id)} TEXT --run -- ${typedCommand(command)}`,
    data: { task_id: id, command: line, exit_code, thought },
  });
}
