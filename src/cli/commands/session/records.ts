import type { DecisionListing, DecisionsOptions } from '../../../verbs/reading/decisions.ts';
import type { AcceptResult } from '../../../verbs/session/accept.ts';
import type { DecideOptions, RecordOptions, RecordResult, SignalOptions } from '../../../verbs/session/record-verbs.ts';
import type { PendingResult } from '../../../verbs/session/signal-pending.ts';
import type { WipListing } from '../../../verbs/session/wip-list.ts';
import { defineVerb, type Family, RECORD_FLAGS, TEXT_FLAG, textArgument } from '../../command.ts';
import { readText, type TextInput } from '../../input.ts';
import type { Paint } from '../../terminal.ts';

const verbs = () => import('../../../verbs/session/record-verbs.ts');
const text = async (result: RecordResult, paint: Paint): Promise<string> =>
  (await import('./sessions-text.ts')).formatRecord(result, paint);

type WithText<Options> = Omit<Options, 'text'> & TextInput;

export const note = defineVerb<WithText<RecordOptions>, RecordResult>({
  name: 'note',
  summary: 'record something worth knowing',
  purpose: 'Adds a note to the session: something whoever comes next should know.',
  args: [textArgument('what is worth knowing')],
  flags: [TEXT_FLAG, ...RECORD_FLAGS],
  examples: [
    { run: 'git handoff note "the parser needs LF"', does: 'a few words' },
    { run: 'git handoff note - < findings.txt', does: 'from standard input' },
  ],
  run: async (context, options) =>
    (await verbs()).note(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

export const checkpoint = defineVerb<WithText<RecordOptions>, RecordResult>({
  name: 'checkpoint',
  summary: 'record a point to come back to',
  purpose: 'Records branch and commit as they are now, with a few words if you like.',
  args: [textArgument('what works at this point')],
  flags: [TEXT_FLAG, ...RECORD_FLAGS],
  examples: [{ run: 'git handoff checkpoint "all tests pass"', does: 'before something risky' }],
  run: async (context, options) =>
    (await verbs()).checkpoint(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

export const accept = defineVerb<WithText<RecordOptions>, AcceptResult>({
  name: 'accept',
  summary: 'say that you took a baton in',
  purpose:
    'Records that you have read the baton that you were handed, and what you will do next, in your own words: whoever handed it over ' +
    'sees whether it was understood.',
  args: [textArgument('what comes next, in your words')],
  flags: [TEXT_FLAG, ...RECORD_FLAGS],
  examples: [{ run: 'git handoff accept "First the tests of the reader, then the writer."', does: 'after pickup' }],
  run: async (context, options) =>
    (await import('../../../verbs/session/accept.ts')).accept(await context.repository(), {
      ...options,
      text: await readText(context, options),
    }),
  text,
});

export const decide = defineVerb<WithText<DecideOptions>, RecordResult>({
  name: 'decide',
  summary: 'record a decision and its reasons',
  purpose:
    'Adds a decision, as Markdown: what was decided, why, and what follows. The last five are shown to whoever begins.',
  args: [textArgument('context, decision, consequences')],
  flags: [
    { flags: '--title <title>', about: 'the decision in one line', required: true },
    {
      flags: '--status <status>',
      about: 'accepted (default), proposed or superseded',
      choices: ['accepted', 'proposed', 'superseded'],
    },
    { flags: '--supersedes <record>', about: 'the id of the decision that it replaces' },
    TEXT_FLAG,
    ...RECORD_FLAGS,
  ],
  examples: [{ run: 'git handoff decide --title "Use YAML" "People read it in reviews."', does: 'a short one' }],
  run: async (context, options) =>
    (await verbs()).decide(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

export const decisions = defineVerb<DecisionsOptions, DecisionListing>({
  name: 'decisions',
  summary: 'what was decided',
  purpose: 'Lists the decisions that sessions have recorded, the newest first, with what became of them.',
  flags: [{ flags: '-n, --limit <n>', about: 'at most so many', atLeast: 0 }],
  examples: [{ run: 'git handoff decisions -n 5', does: 'the last five' }],
  run: async (context, options) =>
    (await import('../../../verbs/reading/decisions.ts')).decisions(await context.repository(), options),
  text: async (result, paint) => (await import('./lists-text.ts')).formatDecisions(result, paint),
});

const KEY = { name: 'KEY', about: 'a name for it: letters, digits, dot, dash, underscore' };

const wipOpen = defineVerb<WithText<RecordOptions & { key: string; text: string }>, RecordResult>({
  name: 'open',
  summary: 'something is under way',
  purpose:
    'Says that something is half done and must not be forgotten. It is shown to whoever begins, until it is closed.',
  args: [KEY, textArgument('what is half done')],
  flags: [TEXT_FLAG, ...RECORD_FLAGS],
  examples: [
    { run: 'git handoff wip open migration "columns added, backfill missing"', does: 'say what is half done' },
  ],
  run: async (context, options) =>
    (await verbs()).wipOpen(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

const wipClose = defineVerb<WithText<RecordOptions & { key: string }>, RecordResult>({
  name: 'close',
  summary: 'it is done, or given up',
  purpose: 'Closes what "wip open" opened, in whichever session that was.',
  args: [KEY, textArgument('how it ended')],
  flags: [TEXT_FLAG, ...RECORD_FLAGS],
  examples: [{ run: 'git handoff wip close migration', does: 'nothing is left of it' }],
  run: async (context, options) =>
    (await verbs()).wipClose(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

const wipListed = defineVerb<object, WipListing>({
  name: 'list',
  summary: 'what is half done',
  purpose: 'Lists the work in progress that nobody has closed, in whichever session it was opened.',
  examples: [{ run: 'git handoff wip list', does: 'what must not be forgotten' }],
  run: async (context) => (await import('../../../verbs/session/wip-list.ts')).wipList(await context.repository()),
  text: async (result, paint) => (await import('./lists-text.ts')).formatWipList(result, paint),
});

export const wip: Family = {
  name: 'wip',
  summary: 'work in progress: open, close, list',
  purpose: 'Work in progress is kept when a session ends: what is open is shown to everybody who starts or picks up.',
  examples: [{ run: 'git handoff wip open migration "columns added"', does: 'say what is half done' }],
  verbs: [wipOpen, wipClose, wipListed],
};

const send = defineVerb<WithText<SignalOptions>, RecordResult>({
  name: 'send',
  summary: 'tell another identity something',
  purpose: 'Leaves a message for an identity. It gets it with its next pickup, once.',
  args: [{ name: 'NAME', about: 'the identity that should know' }, textArgument('what it should know')],
  flags: [
    { flags: '--type <type>', about: 'a word for its sort: question, blocked, review …' },
    TEXT_FLAG,
    ...RECORD_FLAGS,
  ],
  examples: [{ run: 'git handoff signal send lola "the API changed, see the baton"', does: 'before you stop' }],
  run: async (context, options) =>
    (await verbs()).signalSend(await context.repository(), { ...options, text: await readText(context, options) }),
  text,
});

const pending = defineVerb<{ as?: string }, PendingResult>({
  name: 'pending',
  summary: 'messages that wait for you',
  purpose: 'Lists the signals that your next pickup would hand over. They stay pending.',
  examples: [{ run: 'git handoff signal pending --as lola', does: 'what lola would be told' }],
  run: async (context, options) =>
    (await import('../../../verbs/session/signal-pending.ts')).signalPending(await context.repository(), options),
  text: async (result, paint) => (await import('./lists-text.ts')).formatSignals(result, paint),
});

export const signal: Family = {
  name: 'signal',
  summary: 'messages between identities: send, pending',
  purpose: 'A signal is a message to one identity. Its next pickup hands it over; start does not.',
  examples: [{ run: 'git handoff signal send lola "the API changed"', does: 'leave a message' }],
  verbs: [send, pending],
};
