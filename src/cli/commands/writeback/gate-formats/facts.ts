import type { Finding } from '../../../../core/error.ts';
import { commandLine } from '../../../../core/text/command-line.ts';
import type { GateResult } from '../../../../gate/result.ts';
import { count } from '../../../text/layout.ts';

// What every format says of a verdict, in the same words.

export function verdict({ pass }: GateResult): 'pass' | 'refused' {
  return pass ? 'pass' : 'refused';
}

/** `refused: 2 problems and 1 warning in 3 commits and 12 records`. Nothing in it was written by others. */
export function verdictLine(result: GateResult): string {
  const advice = result.advisory ? `; ${ADVICE}` : '';
  return `${verdict(result)}: ${problemsAndWarnings(result) || 'nothing against it'} in ${size(result)}${advice}`;
}

/** Why what a writeback lacks is no problem. */
export const ADVICE = 'the policy only advises (writeback.advisory)';

/** Empty when there are none. */
export function problemsAndWarnings(result: GateResult): string {
  const { errors, warnings } = bySeverity(result);
  const parts = [];
  if (errors.length > 0) parts.push(count(errors.length, 'problem'));
  if (warnings.length > 0) parts.push(count(warnings.length, 'warning'));
  return parts.join(' and ');
}

export function size({ commits, records }: GateResult): string {
  return `${count(commits, 'commit')} and ${count(records, 'record or document', 'records and documents')}`;
}

export function bySeverity({ findings }: GateResult): { errors: Finding[]; warnings: Finding[] } {
  return {
    errors: findings.filter(({ severity }) => severity === 'error'),
    warnings: findings.filter(({ severity }) => severity === 'warning'),
  };
}

/** Where to look: the file and line, else the record, else the commit. */
export function placeOf({ path, line, record, commit }: Finding): string | null {
  if (path !== undefined) return line === undefined ? path : `${path}:${line}`;
  return record ?? commit ?? null;
}

/** What the finding says is wrong; `expected` and `found` where the message has them not. */
export function reasonOf({ message, expected, found }: Finding): string {
  const parts = [message];
  if (expected !== undefined && !message.includes(expected)) parts.push(`expected ${expected}`);
  if (found !== undefined && !message.includes(found)) parts.push(`found ${found}`);
  return parts.join('; ');
}

interface Tested {
  tests_run: readonly string[];
  evidence: readonly { command: readonly string[] }[];
}

/** Tests that a thought names, and that nobody saw run. */
export function claimedOnly({ tests_run, evidence }: Tested): string[] {
  const ran = new Set(evidence.map(commandLine));
  return tests_run.filter((test) => !ran.has(test));
}

/** 950 → `950 ms`, 61500 → `61.5 s` */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function shortSession(id: string): string {
  return id.slice(0, 8);
}
