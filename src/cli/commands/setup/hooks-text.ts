import type { Finding } from '../../../core/error.ts';
import type { Judgement } from '../../../hooks/judgement.ts';
import type { HookResult } from '../../../hooks/run.ts';
import type { HookName } from '../../../repository/git-hooks/section.ts';
import type { HooksResult } from '../../../verbs/setup/hooks.ts';
import type { Paint } from '../../terminal.ts';
import { count, fields, lines } from '../../text/layout.ts';
import { placeOf } from '../writeback/gate-formats/facts.ts';

export function formatHooks({ installed, chained, hooks_path }: HooksResult, paint: Paint): string {
  const facts: [string, string][] = [
    ['installed', installed.join(', ') || 'none'],
    ['chained', chained.join(', ') || 'none'],
    ['in', hooks_path],
  ];
  return lines(fields(facts, paint));
}

/** A line for each finding, then the verdict. Nothing at all about what was not judged, and when a clone has nothing to say. */
export function formatHookResult({ hook, judged }: HookResult, paint: Paint): string {
  const isSpoken = ({ pass, reason, findings }: Judgement) =>
    !pass || findings.length > 0 || (hook === 'pre-receive' && reason === null);
  return lines(
    judged.filter(isSpoken).flatMap((judgement) => formatJudgement(hook, judgement, paint)),
    hook === 'reference-transaction' && judged.some(({ pass }) => !pass) ? AFTERWARDS : [],
  );
}

/** A fast-forward changes the files first. */
const AFTERWARDS = [
  'git-handoff: the branch stays where it was. If git changed files before it asked, git stash puts them aside.',
];

function formatJudgement(hook: HookName, { ref, pass, reason, findings }: Judgement, paint: Paint): string[] {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const why = reason ?? count(errors, 'problem');
  const verdict = pass ? paint('green', 'accepted') : `${paint('red', 'refused')}: ${why}`;
  const whole = hook === 'pre-receive' ? 'this push' : 'what is staged';
  return [...findings.map(formatFinding), `git-handoff: ${ref ?? whole}: ${verdict}`];
}

function formatFinding(finding: Finding): string {
  const { severity, code, message, hint } = finding;
  return `${severity} ${code}: ${placeOf(finding) ?? '.handoff'}: ${message} (${hint})`;
}
