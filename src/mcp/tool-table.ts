import type { Family, Verb } from '../cli/command.ts';
import { audit } from '../cli/commands/seal/audit.ts';
import { root, seal } from '../cli/commands/seal/seals.ts';
import { checkpoint, note } from '../cli/commands/session/records.ts';
import { pickup, start, status, wrap } from '../cli/commands/session/sessions.ts';
import { claim, next, task } from '../cli/commands/task/tasks.ts';
import { thought } from '../cli/commands/writeback/writeback.ts';
import type { Repository } from '../repository/repository.ts';
import { VERBS } from '../verbs/table.ts';
import { type Argument, type Arguments, described, type Values } from './argument.ts';

/** A verb under the name by which agents know it: the function is the library's, the words are the command line's. */
export interface Tool {
  name: string;
  verb: Verb;
  takes: Arguments;
  /** It writes nothing. */
  isRead: boolean;
  call(repository: Repository, options: Values): Promise<object>;
}

// biome-ignore lint/suspicious/noExplicitAny: what each takes is held to its arguments, which come from the verb
type Load = () => Promise<(repository: Repository, options: any) => Promise<object>>;

/** As whom, and in which session. */
const ACTING: Arguments = {
  identity: {
    option: 'as',
    about: 'who acts; default: whoever has the only open session here',
    type: 'text',
    required: false,
  },
};
const IN_SESSION: Arguments = {
  session_id: { option: 'session', about: 'default: the session of this work tree', type: 'text', required: false },
};

/** All tools, in the order in which clients list them. */
export const TOOLS: readonly Tool[] = [
  tool('hd_exec', pickup, VERBS.pickup, {
    from_session: 'fromSession',
    task_id: 'task',
    force: 'force',
    reason: 'reason',
    worktree: 'worktree',
  }),
  tool('handoff_start', start, VERBS.start, { task_id: 'task', intent: 'intent' }),
  tool('handoff_wrap', wrap, VERBS.wrap, {
    body: {
      option: 'draft',
      about: 'the baton, as Markdown: where the work stands and what comes next',
      type: 'document',
      required: true,
    },
    summary: 'summary',
    reason: 'reason',
    next_agent: 'nextAgent',
    focus: { option: 'focus', about: 'tasks to continue with', type: 'texts', required: false },
    seal: 'seal',
    ...IN_SESSION,
  }),
  tool('handoff_checkpoint', checkpoint, VERBS.checkpoint, { text: 'text', ...IN_SESSION }),
  tool('handoff_note', note, VERBS.note, { text: required('text', 'what is worth knowing'), ...IN_SESSION }),
  reading('handoff_status', status, VERBS.status, IN_SESSION),
  reading('task_next_actions', next, VERBS.next, { limit: 'limit' }),
  tool('task_claim', claim, VERBS.claim, {
    task_id: required('id', 'the task'),
    worktree: 'worktree',
    force: 'force',
    reason: 'reason',
    ...IN_SESSION,
  }),
  tool('task_update', verbOf(task, 'update'), VERBS.task.update, {
    task_id: required('id', 'the task'),
    status: 'status',
    progress: 'progress',
    notes: 'notes',
    ...IN_SESSION,
  }),
  tool('thought_record', thought, VERBS.thought, {
    task_id: required('id', 'the task'),
    summary: 'summary',
    branch: 'branch',
    commit_sha: 'commit',
    tests_run: { option: 'tests', about: 'tests that passed, by your word', type: 'texts', required: false },
    blockers: { option: 'blockers', about: 'what stands in the way', type: 'objects', required: false },
    files_changed: { option: 'files', about: 'default: what git says', type: 'texts', required: false },
    related_thought_records: { option: 'related', about: 'ids of earlier thoughts', type: 'texts', required: false },
    ...IN_SESSION,
  }),
  tool('audit_session_start', verbOf(audit, 'start'), VERBS.audit.start, {
    intent: required('intent', 'what is going to be done'),
    task_id: 'task',
    ...IN_SESSION,
  }),
  reading('audit_verify_chain', verbOf(audit, 'verify'), VERBS.audit.verify, { session_id: 'session' }),
  tool('merkle_finalize', seal, VERBS.seal, { session_id: 'session' }),
  reading('merkle_root', root, VERBS.root, { session_id: 'session', ledger: 'ledger' }),
];

/** An option by its name is described as on the command line. */
function tool(name: string, verb: Verb, load: Load, takes: Record<string, string | Argument>): Tool {
  const given = Object.entries(takes).map(([key, argument]) => [
    key,
    typeof argument === 'string' ? described(verb, argument) : argument,
  ]);
  return {
    name,
    verb,
    takes: { ...Object.fromEntries(given), ...ACTING },
    isRead: false,
    call: async (repository, options) => (await load())(repository, options),
  };
}

function reading(...given: Parameters<typeof tool>): Tool {
  return { ...tool(...given), isRead: true };
}

function required(option: string, about: string): Argument {
  return { option, about, type: 'text', required: true };
}

function verbOf({ name, verbs }: Family, word: string): Verb {
  const verb = verbs.find((one) => one.name === word);
  if (!verb) throw new Error(`There is no verb ${name} ${word}.`);
  return verb;
}
