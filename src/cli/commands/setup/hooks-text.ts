import type { Finding } from '../../../core/error.ts';
import type { Judgement } from '../../../hooks/judgement.ts';
import type { HookResult } from '../../../hooks/run.ts';
import type { HookName } from '../../../repository/git-hooks/section.ts';
import type { HooksResult, HooksStatus } from '../../../verbs/setup/hooks.ts';
import type { Paint } from '../../terminal.ts';
import { count, fields, lines } from '../../text/layout.ts';
import { ADVICE, placeOf } from '../writeback/gate-formats/facts.ts';

/** What is missing where nothing is installed needs no list. */
export function formatHooksStatus(status: HooksStatus, paint: Paint): string {
  const { installed, missing } = status;
  const lacks = installed.length === 0 ? [] : missing.map(({ hook, reason }) => `  ${hook}: ${LACKS[reason]}`);
  const advice = missing.length === 0 ? [] : ['git handoff hooks install puts them in place.'];
  return formatHooks(status, paint) + lines(...(lacks.length > 0 ? ['missing', ...lacks] : []), ...advice);
}

const LACKS: Record<HooksStatus['missing'][number]['reason'], string> = {
  absent: 'there is no such file',
  rewritten: 'another program has written it anew, without our section',
  not_executable: 'git may not run it',
  outdated: 'it is of another build, or was changed',
};

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
    judged.some(lacksAccount) ? recipe(judged) : [],
  );
}

function lacksAccount({ pass, findings }: Judgement): boolean {
  return !pass && findings.some(isUnaccounted);
}

function isUnaccounted({ code }: Finding): boolean {
  return code === 'writeback_missing' || code === 'files_uncovered';
}

/** Whoever reads this may have heard of git-handoff for the first time, and may have no key. */
function recipe(judged: readonly Judgement[]): string[] {
  const { commit } = judged.flatMap(({ findings }) => findings).find(({ commit }) => commit !== undefined) ?? {};
  return [
    'git-handoff: to get it in, with your own key (NAME is you; git handoff next lists tasks):',
    '  git handoff start --as NAME',
    '  git handoff thought TASK "What was done, and why."',
    '  git handoff wrap --message "Where it stands."     and push again',
    'No key yet: git handoff identity keygen NAME, and send the line that it prints to a maintainer; once they have',
    'signed it in, fetch and go on as above. Or push it to a branch that is not protected, and ask somebody with a key',
    `to write the thought. A maintainer can let it in as it is: git handoff waiver ${commit?.slice(0, 12) ?? 'COMMIT'} --reason TEXT`,
  ];
}

/** A fast-forward changes the files first. */
const AFTERWARDS = [
  'git-handoff: the branch stays where it was. If git changed files before it asked, git stash puts them aside.',
];

function formatJudgement(hook: HookName, judgement: Judgement, paint: Paint): string[] {
  const { ref, pass, reason, findings, advisory } = judgement;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const why = reason ?? count(errors, 'problem');
  const accepted = paint('green', 'accepted') + (advisory && findings.length > 0 ? `: ${ADVICE}` : '');
  const verdict = pass ? accepted : `${paint('red', 'refused')}: ${why}`;
  const whole = hook === 'pre-receive' ? 'this push' : 'what is staged';
  return [...findings.map(formatFinding), `git-handoff: ${ref ?? whole}: ${verdict}`];
}

function formatFinding(finding: Finding): string {
  const { severity, code, message, hint } = finding;
  return `${severity} ${code}: ${placeOf(finding) ?? '.handoff'}: ${message} (${hint})`;
}
