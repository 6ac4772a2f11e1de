import type { GateResult } from '../../../gate/result.ts';
import type { GateOptions } from '../../../verbs/writeback/gate.ts';
import { defineVerb } from '../../command.ts';

const FORMATS = ['text', 'json', 'markdown', 'github', 'sarif'] as const;

interface Options extends GateOptions {
  format?: (typeof FORMATS)[number];
}

export const gate = defineVerb<Options, GateResult>({
  name: 'gate',
  summary: 'may this change be merged into that branch?',
  purpose:
    'Judges what a change brings to a protected branch, by the policy that the branch has now: records are valid and ' +
    'only added, every commit is covered by a thought record, tasks that are done have theirs. Prints every reason ' +
    'against it with what to do about it, then who did what. Exits with 1 if it must not be merged. It reads commits ' +
    'and changes nothing; run it with the root in CI.',
  flags: [
    { flags: '--base <rev>', about: 'the tip of the branch that is to receive the change', required: true },
    { flags: '--head <rev>', about: 'the tip of the change (default: HEAD)' },
    { flags: '--root <root>', about: 'the root of trust to insist on, as in CI' },
    {
      flags: '--format <format>',
      about: 'text, json (as --json), markdown (a comment), github (annotations) or sarif (default: text)',
      choices: FORMATS,
    },
  ],
  examples: [
    { run: 'git handoff gate --base origin/main --head HEAD', does: 'before you open a pull request' },
    {
      run: 'git handoff gate --base origin/main --head HEAD --root ROOT --format markdown',
      does: 'in CI, as the comment for the pull request',
    },
  ],
  run: async (context, { format: _, ...options }) =>
    (await import('../../../verbs/writeback/gate.ts')).gate(await context.repository(), options),
  text: async (result, paint) => (await import('./gate-text.ts')).formatGate(result, paint),
  formatted: async (result, { format }, version) => {
    if (format === 'markdown') return (await import('./gate-formats/markdown.ts')).formatMarkdown(result);
    if (format === 'github') return (await import('./gate-formats/github.ts')).formatAnnotations(result);
    if (format === 'sarif') return (await import('./gate-formats/sarif.ts')).formatSarif(result, version);
    return null;
  },
  refused: ({ pass }) => !pass,
});
