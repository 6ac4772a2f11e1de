import type { WaitingBaton } from '../../../custody/baton/waiting-batons.ts';
import type { SessionChoice } from '../../../custody/chosen-session.ts';
import type { PickupOptions, PickupResult } from '../../../verbs/session/pickup.ts';
import type { ReleaseOptions, ReleaseResult, SessionStateResult } from '../../../verbs/session/release.ts';
import type { RestoreOptions, RestoreResult } from '../../../verbs/session/restore.ts';
import type { SessionEntry } from '../../../verbs/session/sessions.ts';
import type { StartOptions, StartResult } from '../../../verbs/session/start.ts';
import type { StatusResult } from '../../../verbs/session/status.ts';
import type { WrapOptions, WrapResult } from '../../../verbs/session/wrap.ts';
import type { WrapDraft } from '../../../verbs/session/wrap-draft.ts';
import type { SalvageOptions, SalvageResult } from '../../../verbs/terminals/salvage.ts';
import { defineVerb, type Flag, PUBLISH_FLAGS, STAGE_FLAGS } from '../../command.ts';
import { parseList } from '../../input.ts';

const text = () => import('./sessions-text.ts');
const LOCAL: Flag = { flags: '--local', about: 'go on without the remote that handoff.remote names' };
const SESSION: Flag = { flags: '--session <id>', about: "not this work tree's session but that one" };

export const start = defineVerb<StartOptions, StartResult>({
  name: 'start',
  summary: 'open a session for fresh work',
  purpose:
    'Opens a session for you. In a work tree where your session is open already, it returns that one. To ' +
    'continue what somebody else left, use pickup: start does not hand you the baton.',
  flags: [
    { flags: '--task <id>', about: 'the task it is about' },
    { flags: '--intent <text>', about: 'what you are going to do' },
    { flags: '--commit', about: 'commit the record as well' },
    ...STAGE_FLAGS,
    LOCAL,
  ],
  examples: [{ run: 'git handoff start --as donna --intent "make the reader strict"', does: 'begin' }],
  run: async (context, options) =>
    (await import('../../../verbs/session/start.ts')).start(await context.repository(), options),
  text: async (result, paint) => (await text()).formatStart(result, paint),
});

export const pickup = defineVerb<PickupOptions, PickupResult>({
  name: 'pickup',
  alias: 'hd-exec',
  summary: "continue another session's work",
  purpose:
    'Opens a session that continues another one. By default that is the newest baton that waits for you, else ' +
    'the newest that waits for nobody in particular. Or name a session: if others have continued it already, ' +
    'the last of them is meant. You get the baton, the tasks that were in progress, what is open, and your ' +
    'messages. It is refused while that session, or another one of yours, is alive. --force takes it over, ' +
    'and the record says that you did.',
  flags: [
    { flags: '--from-session <id>', about: 'this session; the beginning of its id is enough' },
    { flags: '--task <id>', about: 'the task it is about' },
    { flags: '--worktree', about: "go on in the work tree of the baton's branch, which is made where there is none" },
    { flags: '--force', about: 'take over sessions that are alive' },
    { flags: '--reason <text>', about: 'why, for the record' },
    ...PUBLISH_FLAGS,
    LOCAL,
  ],
  examples: [
    { run: 'git handoff pickup --as lola', does: 'continue after the last wrap' },
    { run: 'git handoff pickup --as lola --worktree', does: 'the same, on the branch that it was wrapped on' },
    { run: 'git handoff pickup --from-session 7c1f09aa --force --reason "it hangs"', does: 'take over' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/session/pickup.ts')).pickup(await context.repository(), options),
  text: async (result, paint) => (await text()).formatPickup(result, paint),
});

type WrapFlags = Omit<WrapOptions, 'focus' | 'draft'> & { focus?: string; file?: string; draft?: boolean };

export const wrap = defineVerb<WrapFlags, WrapResult | WrapDraft>({
  name: 'wrap',
  summary: 'end the session with a baton',
  purpose:
    'Ends the session with a baton: Markdown that says what was done, decided and left, for whoever comes next. Text that ' +
    'looks like a secret is refused. The policy names the sections it should have. What is not committed is saved: ' +
    'restore brings it back, here or wherever refs/handoff/saved/ was pushed to. Without a text, on a terminal, your editor ' +
    'opens on a draft: what is known already.',
  args: [{ name: 'FILE', about: 'the baton, as Markdown; - reads it from standard input', optional: true }],
  flags: [
    { flags: '--message <text>', about: 'the baton itself, if it is short' },
    { flags: '--draft', about: 'only print a draft of it, from what is known; write nothing' },
    { flags: '--summary <text>', about: 'one line; default: the first of the baton' },
    { flags: '--reason <text>', about: 'why you stop' },
    { flags: '--next-agent <name>', about: 'who should continue' },
    { flags: '--focus <tasks>', about: 'what to continue with: A,B' },
    { flags: '--seal', about: 'seal the session as well, with the baton in it' },
    { flags: '--no-save', about: 'only name what is not committed' },
    SESSION,
    ...PUBLISH_FLAGS,
    { flags: '--allow-secret', about: 'a person has looked: what seems to be a secret is none' },
    LOCAL,
  ],
  examples: [
    { run: 'git handoff wrap baton.md --next-agent lola --focus P0.1', does: 'hand over' },
    { run: 'git handoff wrap --message "reader done, writer next"', does: 'a short one' },
    { run: 'git handoff wrap --draft > baton.md', does: 'what is known; complete it, then wrap it' },
  ],
  async run(context, { file, focus, draft: isDraft, ...options }) {
    if (isDraft)
      return (await import('../../../verbs/session/wrap-draft.ts')).wrapDraft(await context.repository(), options);
    const tasks = parseList(focus);
    const { readBatonFile } = await import('../../../journal/drafts/baton.ts');
    const { wrap: wrapSession } = await import('../../../verbs/session/wrap.ts');
    const draft = file === '-' ? await context.readInput() : file && (await readBatonFile(context.directory, file));
    const given = { ...options, ...(draft ? { draft } : {}), ...(tasks ? { focus: tasks } : {}) };
    if (draft || options.message !== undefined || !context.isTerminal)
      return wrapSession(await context.repository(), given);
    return (await import('../../../verbs/session/wrap-edited.ts')).wrapEdited(await context.repository(), given);
  },
  text: async (result, paint) => ('draft' in result ? result.draft : (await text()).formatWrap(result, paint)),
});

export const salvage = defineVerb<Omit<SalvageOptions, 'target'> & { session: string }, SalvageResult>({
  name: 'salvage',
  summary: 'save what a session left that died',
  purpose:
    'For a session that ended without a word. You pick it up, what is not committed in its work tree is saved, and a baton says ' +
    'what is known of it: records, commits, files. The baton is marked as put together by somebody else, and waits for whoever ' +
    'goes on. Refused while its agent runs or has just been heard of; --force takes it all the same.',
  args: [{ name: 'SESSION', about: 'its id, or the beginning' }],
  flags: [
    { flags: '--force', about: 'although it shows signs of life' },
    { flags: '--next-agent <name>', about: 'who should continue' },
    LOCAL,
  ],
  examples: [{ run: 'git handoff salvage 7c1f09aa --as lola', does: 'after a crash' }],
  run: async (context, { session, ...options }) =>
    (await import('../../../verbs/terminals/salvage.ts')).salvage(await context.repository(), {
      ...options,
      target: session,
    }),
  text: async (result, paint) => (await text()).formatSalvaged(result, paint),
});

export const restore = defineVerb<Omit<RestoreOptions, 'target' | 'session'> & { session?: string }, RestoreResult>({
  name: 'restore',
  summary: 'bring back what was not committed',
  purpose:
    'Brings back into this work tree what a session had not committed when it was wrapped. It is the session ' +
    'whose baton you picked up, or the one you name. Nothing is overwritten: if a file is in the way, it is ' +
    'named, and no file is changed.',
  args: [{ name: 'SESSION', about: 'its id, or the beginning', optional: true }],
  examples: [
    { run: 'git handoff restore', does: 'after pickup' },
    { run: 'git handoff restore 7c1f09aa', does: 'what that session saved' },
  ],
  run: async (context, { session, ...options }) =>
    (await import('../../../verbs/session/restore.ts')).restore(await context.repository(), {
      ...options,
      ...(session === undefined ? {} : { target: session }),
    }),
  text: async (result, paint) => (await text()).formatRestore(result, paint),
});

export const status = defineVerb<SessionChoice, StatusResult>({
  name: 'status',
  summary: 'the status card',
  purpose: 'Shows who you are here, your session, the baton in hand, branch, open tasks, messages and warnings.',
  flags: [],
  examples: [{ run: 'git handoff status', does: 'where you stand' }],
  run: async (context, options) =>
    (await import('../../../verbs/session/status.ts')).status(await context.repository(), options),
  text: async (result, paint) => (await text()).formatStatus(result, paint),
});

export const sessions = defineVerb<object, { sessions: SessionEntry[] }>({
  name: 'sessions',
  summary: 'sessions and what they are doing',
  purpose: 'Lists the newest sessions: active, stale (no sign of life), wrapped, or released by somebody else.',
  examples: [{ run: 'git handoff sessions', does: 'who works on what' }],
  run: async (context) => (await import('../../../verbs/session/sessions.ts')).sessions(await context.repository()),
  text: async (result, paint) => (await import('./lists-text.ts')).formatSessions(result, paint),
});

export const batons = defineVerb<object, { batons: WaitingBaton[] }>({
  name: 'batons',
  summary: 'batons that wait to be picked up',
  purpose: 'Lists the batons that nobody has picked up, on any branch that is here or was fetched, the newest first.',
  examples: [{ run: 'git handoff batons', does: 'what waits, and for whom' }],
  run: async (context) => (await import('../../../verbs/session/batons.ts')).batons(await context.repository()),
  text: async (result, paint) => (await import('./lists-text.ts')).formatBatons(result, paint),
});

export const heartbeat = defineVerb<SessionChoice, SessionStateResult>({
  name: 'heartbeat',
  summary: 'a sign of life',
  purpose:
    'Tells others that your session is alive. Every verb of a session does so too: run this when you work for ' +
    'long without any.',
  flags: [SESSION],
  examples: [{ run: 'git handoff heartbeat', does: 'every few minutes while you think' }],
  run: async (context, options) =>
    (await import('../../../verbs/session/heartbeat.ts')).heartbeat(await context.repository(), options),
  text: async (result, paint) => (await text()).formatState(result, paint),
});

export const release = defineVerb<Omit<ReleaseOptions, 'target'> & { session: string }, ReleaseResult>({
  name: 'release',
  summary: 'end a session that hangs',
  purpose:
    'Ends a session that its owner left open. The next write of that session fails and says why. If you have ' +
    'a session of your own here, the release is recorded in it.',
  args: [{ name: 'SESSION', about: 'its id, or the beginning' }],
  flags: [{ flags: '--reason <text>', about: 'why, for the record', required: true }, LOCAL],
  examples: [{ run: 'git handoff release 7c1f09aa --reason "the machine is gone"', does: 'free its identity' }],
  run: async (context, { session, ...options }) =>
    (await import('../../../verbs/session/release.ts')).release(await context.repository(), {
      ...options,
      target: session,
    }),
  text: async (result, paint) => (await text()).formatRelease(result, paint),
});
