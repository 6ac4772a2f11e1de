import type { DoneResult } from '../../../verbs/task/done.ts';
import type { EscalateOptions, EscalateResult } from '../../../verbs/writeback/escalate.ts';
import type { ReconcileOptions, ReconcileResult } from '../../../verbs/writeback/reconcile.ts';
import type { ReviewOptions, ReviewResult } from '../../../verbs/writeback/review.ts';
import type { ThoughtOptions, ThoughtResult } from '../../../verbs/writeback/thought.ts';
import type { WaiverOptions, WaiverResult } from '../../../verbs/writeback/waiver.ts';
import { type Context, defineVerb, type Flag, RECORD_FLAGS, TEXT_FLAG, textArgument } from '../../command.ts';
import { parseList, readText, type TextInput } from '../../input.ts';

const text = () => import('./writeback-text.ts');
const TASK = { name: 'ID', about: 'the task' };

/** `--commit` names the commit that a thought is about. */
const THOUGHT_FLAGS = RECORD_FLAGS.filter(({ flags }) => flags !== '--commit');

interface ThoughtInput extends Omit<ThoughtOptions, 'tests' | 'blockers' | 'run' | 'text'> {
  text?: string[];
  tests?: string;
  blocker?: string[];
  run?: boolean;
  command?: string[];
}

/** What is told of the work: flags of whatever writes a thought. */
const TELLING: readonly Flag[] = [
  { flags: '--summary <text>', about: 'the same as the words' },
  { flags: '--commit <sha>', about: 'the commit it is about (default: HEAD)' },
  { flags: '--branch <name>', about: 'the branch it is on (default: the current one)' },
  { flags: '--base <sha>', about: 'the commit at which the work began' },
  { flags: '--tests <names>', about: 'tests that passed, by your word: A,B' },
  { flags: '--run', about: 'run the command after -- and record how it ended' },
  { flags: '--no-code', about: 'the task asks for no code in this repository: the thought covers nothing' },
  { flags: '--blocker <json>', about: 'what stands in the way, as a JSON object; again for more', repeats: true },
  { flags: '--file <file>', about: 'the fields as JSON or YAML, such as a draft; flags go before it', isPath: true },
  ...THOUGHT_FLAGS,
];

export const thought = defineVerb<ThoughtInput, ThoughtResult>({
  name: 'thought',
  summary: 'write back what was done for a task',
  purpose:
    'Records what was done for a task: without it no task is done and no change is merged. Branch, commit, ' +
    'changed files and related thoughts are filled in from git; what you give is compared with it. With --run ' +
    'the command after -- is run, and the record says that it ran and how it ended. What --tests lists is ' +
    'only claimed.',
  args: [TASK, textArgument('the summary: what was done, in a few sentences')],
  flags: TELLING,
  examples: [
    {
      run: 'git handoff thought P0.1.1 "Reader is strict now." --run -- npm test',
      does: 'run the tests for the record',
    },
    { run: 'git handoff thought P0.1.1 --file thought.yaml --tests eslint,tsc', does: 'fields from a file' },
  ],
  run: async (context, input) =>
    (await import('../../../verbs/writeback/thought.ts')).thought(
      await context.repository(),
      await toThought(context, input),
    ),
  text: async (result, paint) => (await text()).formatThought(result, paint),
});

export const done = defineVerb<ThoughtInput, DoneResult>({
  name: 'done',
  summary: 'finish a task: what was done, what ran, the status',
  purpose:
    'Records the thought and marks the task as done, in one step. What your last thought about this commit ' +
    'says already, you need not say again. A command after -- is run every time. If the newest run on this ' +
    'code failed, it is recorded, and the task is not done.',
  args: [TASK, textArgument('the summary: what was done, in a few sentences')],
  flags: TELLING,
  examples: [
    { run: 'git handoff done P0.1.1 "Reader is strict now." --run -- npm test', does: 'done, if the tests pass' },
    { run: 'git handoff done P0.2 "Agreed with legal." --no-code', does: 'a task without code' },
  ],
  run: async (context, input) =>
    (await import('../../../verbs/task/done.ts')).done(await context.repository(), await toThought(context, input)),
  text: async (result, paint) => (await text()).formatDone(result, paint),
});

async function toThought(
  context: Context,
  { text: words, tests, blocker, run, command, ...options }: ThoughtInput,
): Promise<ThoughtOptions> {
  const { parseBlocker } = await import('../../../journal/drafts/thought-file.ts');
  const summary = await readSummary(context, words, options.summary);
  const names = parseList(tests);
  return {
    ...options,
    ...(summary === undefined ? {} : { summary }),
    ...(names ? { tests: names } : {}),
    ...(blocker ? { blockers: blocker.map(parseBlocker) } : {}),
    ...(run ? { run: await toRun(context, command) } : {}),
  };
}

/** The words, or --summary: not both. */
async function readSummary(context: Context, words: string[] = [], flag?: string): Promise<string | undefined> {
  if (words.length === 0) return flag;
  if (flag === undefined) return (await readText(context, { text: words })).trim();
  throw await usage('Expected the words or --summary, found both.', 'Leave one of them out.');
}

async function toRun(context: Context, command: string[] = []): Promise<NonNullable<ThoughtOptions['run']>> {
  if (command.length > 0)
    return { command, directory: context.directory, onOutput: context.showOutput, onStart: context.passSignals };
  throw await usage(
    '--run needs a command, and there is none behind --.',
    'Name it behind --, at the end: --run -- npm test',
  );
}

async function usage(message: string, hint: string): Promise<Error> {
  const { HandoffError } = await import('../../../core/error.ts');
  return new HandoffError('usage', message, { hint });
}

export const escalate = defineVerb<EscalateOptions, EscalateResult>({
  name: 'escalate',
  summary: 'print a thought for a person to write',
  purpose:
    'For when a thought cannot be written: prints branch, commit and the record, so that a person can paste ' +
    'it and write it by hand. The record is your newest draft about the task. Without a draft it is what a ' +
    'thought would say now, without a summary.',
  args: [TASK],
  flags: [
    { flags: '--file <file>', about: 'the draft that the failure named', isPath: true },
    { flags: '--session <id>', about: "not this work tree's session but that one" },
  ],
  examples: [{ run: 'git handoff escalate P0.1.1', does: 'after "Writeback failed"' }],
  run: async (context, options) =>
    (await import('../../../verbs/writeback/escalate.ts')).escalate(await context.repository(), options),
  text: async (result, paint) => (await text()).formatEscalation(result, paint),
});

const VERDICT: Flag = {
  flags: '--verdict <verdict>',
  about: 'approve or reject',
  choices: ['approve', 'reject'],
  required: true,
};

export const review = defineVerb<Omit<ReviewOptions, 'text'> & TextInput, ReviewResult>({
  name: 'review',
  summary: 'a signed verdict on what was done for a task',
  purpose:
    'Records your verdict on the thought that makes a task done, with the items of its checklist that you verified. The ' +
    'policy can ask for one, by somebody other than the author, before a change is merged.',
  args: [TASK, textArgument('why')],
  flags: [
    VERDICT,
    { flags: '--checked <item>', about: 'a checklist item, or its number; again for more', repeats: true },
    { flags: '--thought <id>', about: 'which thought, where HEAD does not have the newest' },
    TEXT_FLAG,
    ...RECORD_FLAGS,
  ],
  examples: [
    { run: 'git handoff review P0.1.1 --verdict approve --checked 1 --checked 2', does: 'both items hold' },
    { run: 'git handoff review P0.1.1 --verdict reject "the empty file is refused"', does: 'say why not' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/writeback/review.ts')).review(await context.repository(), {
      ...options,
      text: await readText(context, options),
    }),
  text: async (result, paint) => (await text()).formatReview(result, paint),
});

export const waiver = defineVerb<WaiverOptions, WaiverResult>({
  name: 'waiver',
  summary: 'let one commit pass without a thought',
  purpose: "Records a maintainer's exception for one commit, with its reason: it may be merged without a thought.",
  args: [{ name: 'SHA', about: 'the commit; the beginning of its id is enough' }],
  flags: [
    { flags: '--reason <text>', about: 'why, for the record', required: true },
    { flags: '--task <id>', about: 'the task it belongs to' },
    ...RECORD_FLAGS,
  ],
  examples: [{ run: 'git handoff waiver 3f9a1c2 --reason "fix from the pager"', does: 'that commit only' }],
  run: async (context, options) =>
    (await import('../../../verbs/writeback/waiver.ts')).waiver(await context.repository(), options),
  text: async (result, paint) => (await text()).formatWaiver(result, paint),
});

export const reconcile = defineVerb<ReconcileOptions, ReconcileResult>({
  name: 'reconcile',
  summary: 'reinstate tasks whose change was reverted',
  purpose:
    'Finds done tasks whose change was taken back on the protected branch, by whatever kind of revert, and opens them ' +
    'again, with the reason. Looks at what the clone has: fetch first.',
  flags: [{ flags: '--dry-run', about: 'only say what was reverted; needs no session' }, ...RECORD_FLAGS],
  examples: [
    { run: 'git handoff reconcile --dry-run', does: 'what was reverted' },
    { run: 'git handoff reconcile --commit', does: 'and open it again' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/writeback/reconcile.ts')).reconcile(await context.repository(), options),
  text: async (result, paint) => (await text()).formatReconciliation(result, paint),
});
