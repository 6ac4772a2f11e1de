import type { Check, DoctorResult } from '../../../verbs/setup/doctor.ts';
import { defineVerb } from '../../command.ts';
import type { Paint } from '../../terminal.ts';
import { lines } from '../../text/layout.ts';

export const doctor = defineVerb<{ as?: string }, DoctorResult>({
  name: 'doctor',
  summary: 'what is wrong here, and how to mend it',
  purpose:
    "Looks at what work here stands on: git, the policy, the root that this clone trusts, who acts, their key, hooks, the remote, and the agents' programs that are installed or connected. " +
    'What is wrong comes with what to type, in the order in which to mend it. It changes nothing.',
  examples: [{ run: 'git handoff doctor', does: 'when something does not work' }],
  run: async (context, options) =>
    (await import('../../../verbs/setup/doctor.ts')).doctor(await context.anyRepository(), options),
  text: async (result, paint) => formatDoctor(result, paint),
  refused: ({ ok }) => !ok,
});

function formatDoctor({ ok, checks }: DoctorResult, paint: Paint): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const wrong = checks.filter((check) => !check.ok).length;
  return lines(
    checks.flatMap((check) => formatCheck(check, width, paint)),
    ok ? paint('green', 'All is well.') : paint('red', wrongWords(wrong, checks.length)),
  );
}

function wrongWords(wrong: number, all: number): string {
  return wrong === 1 ? `1 of ${all} is wrong.` : `${wrong} of ${all} are wrong: mend the first one first.`;
}

function formatCheck({ name, ok, detail, fix }: Check, width: number, paint: Paint): string[] {
  const mark = ok ? paint('green', '✓') : paint('red', '✗');
  const advice = fix === null ? [] : [`  ${' '.repeat(width)}  ${paint('cyan', ok ? 'could:' : 'fix:')} ${fix}`];
  return [`${mark} ${name.padEnd(width)}  ${detail}`, ...advice];
}
