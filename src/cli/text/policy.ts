import type { PolicyResult } from '../../verbs/policy.ts';
import type { Paint } from '../terminal.ts';
import { committed, lines, tree } from './layout.ts';

/** Keys that say what the file is, not what the policy says. */
const FRAME: ReadonlySet<string> = new Set(['handoff', 'kind', 'repo', 'prev', 'nonce', 'version', 'signatures']);

export function formatPolicy(result: PolicyResult, paint: Paint): string {
  const { version, policy, signed_by, pending } = result;
  const rules = Object.fromEntries(Object.entries(policy).filter(([key]) => !FRAME.has(key)));
  const waits = pending
    ? [`${paint('yellow', '!')} Policy ${version + 1} waits for signatures: git handoff policy sign`]
    : [];
  return lines(
    `${paint('bold', `Policy ${version}`)}, signed by ${signed_by.join(', ')}`,
    '',
    ...tree(rules, paint),
    ...waits,
  );
}

export function formatChange({ version, signed_by, pending, commit }: PolicyResult, paint: Paint): string {
  const by = `signed by ${signed_by.join(', ')} (${committed(commit)})`;
  if (!pending) return lines(`${paint('green', '✓')} Policy ${version} is in force, ${by}`);
  return lines(
    `${paint('yellow', '!')} Policy ${version} waits for more signatures; ${by}`,
    '  Other root principals sign it with: git handoff policy sign --as NAME',
  );
}
