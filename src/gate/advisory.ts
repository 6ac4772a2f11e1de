import type { Finding, FindingCode } from '../core/error.ts';
import { writebackRules } from '../core/trust/policy-defaults.ts';
import type { Trust } from '../core/trust/trust.ts';

/** What a writeback can lack. SPEC §10.4 to §10.7 */
const OF_WRITEBACK: ReadonlySet<FindingCode> = new Set([
  'writeback_missing',
  'files_uncovered',
  'done_without_thought',
  'seal_missing',
  'run_failed',
  'evidence_missing',
  'review_missing',
  'session_open',
]);

export function isAdvisory({ policy }: Trust): boolean {
  return writebackRules(policy.rules.writeback).advisory;
}

/** SPEC §10.10: a project that tries this out is told what it lacks. What breaks records or trust is refused all the same. */
export function asAdvice(found: Finding): Finding {
  return OF_WRITEBACK.has(found.code) ? { ...found, severity: 'warning' } : found;
}
