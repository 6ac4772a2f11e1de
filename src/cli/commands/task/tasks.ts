import type { ClaimOptions, ClaimResult } from '../../../verbs/task/claim.ts';
import type { TaskDefineOptions, TaskDefineResult } from '../../../verbs/task/define.ts';
import type { TaskGraphResult } from '../../../verbs/task/graph.ts';
import type { TaskDetail, TaskEntry, TaskListOptions } from '../../../verbs/task/list.ts';
import type { NextResult } from '../../../verbs/task/next.ts';
import type { TaskUpdateOptions, TaskUpdateResult } from '../../../verbs/task/update.ts';
import { defineVerb, type Family, type Flag, PUBLISH_FLAGS, RECORD_FLAGS } from '../../command.ts';
import { parseLists } from '../../input.ts';

const text = () => import('./tasks-text.ts');
const ID = { name: 'ID', about: 'the task, such as P0.1.1' };
const STATUSES = ['todo', 'in_progress', 'blocked', 'done', 'cancelled'];

const DEFINITION: readonly Flag[] = [
  { flags: '--depends <ids>', about: 'what must be done first: A,B; may be repeated', repeats: true },
  { flags: '--tag <tags>', about: 'words to find it by; may be repeated', repeats: true },
  { flags: '--priority <n>', about: '0 to 1000; the higher comes first', atLeast: 0 },
  { flags: '--proof <kind>', about: 'what done must carry', choices: ['seal'] },
  { flags: '--accept <text>', about: 'something a reviewer must find; may be repeated', repeats: true },
  { flags: '--prompt <path>', about: 'the file in the repository that explains it' },
  ...PUBLISH_FLAGS,
  { flags: '--allow-secret', about: 'a person has looked: what seems to be a secret is none' },
];

type DefineFlags = Omit<TaskDefineOptions, 'depends' | 'tags'> & { depends?: string[]; tag?: string[] };

function toDefinition({ depends, tag, ...options }: DefineFlags): TaskDefineOptions {
  const lists = { depends: parseLists(depends), tags: parseLists(tag) };
  return { ...options, ...(lists.depends && { depends: lists.depends }), ...(lists.tags && { tags: lists.tags }) };
}

const add = defineVerb<DefineFlags & { title: string }, TaskDefineResult>({
  name: 'add',
  summary: 'define a task',
  purpose:
    'Defines a task, signed by a maintainer and committed. What it depends on may be defined later: until that is done, ' +
    'the task is blocked.',
  args: [ID],
  flags: [{ flags: '--title <title>', about: 'what it is, in one line', required: true }, ...DEFINITION],
  examples: [
    { run: 'git handoff task add P0.1.1 --title "Package setup"', does: 'the first one' },
    {
      run: 'git handoff task add P0.1.2 --title "Linter" --depends P0.1.1 --tag lint',
      does: 'one after it',
    },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/task/define.ts')).taskAdd(await context.repository(), {
      ...toDefinition(options),
      title: options.title,
    }),
  text: async (result, paint) => (await text()).formatDefined(result, paint),
});

const edit = defineVerb<DefineFlags, TaskDefineResult>({
  name: 'edit',
  summary: 'change its definition',
  purpose:
    'Writes the next version of a definition, signed by a maintainer. What is given takes the place of what was there; ' +
    'an empty list (--depends "") takes it out.',
  args: [ID],
  flags: [{ flags: '--title <title>', about: 'what it is, in one line' }, ...DEFINITION],
  examples: [{ run: 'git handoff task edit P0.1.2 --depends P0.1.1,P0.1.3', does: 'it waits for both' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/define.ts')).taskEdit(await context.repository(), toDefinition(options)),
  text: async (result, paint) => (await text()).formatDefined(result, paint),
});

const list = defineVerb<TaskListOptions, { tasks: TaskEntry[] }>({
  name: 'list',
  summary: 'all tasks and how far they are',
  purpose: 'Lists the tasks with what the records say of them, who works on them, and what they wait for.',
  flags: [
    { flags: '--status <status>', about: 'only these', choices: STATUSES },
    { flags: '--tag <tag>', about: 'only those with this tag' },
  ],
  examples: [{ run: 'git handoff task list --status todo', does: 'what is left' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/list.ts')).taskList(await context.repository(), options),
  text: async (result, paint) => (await text()).formatTasks(result, paint),
});

const show = defineVerb<{ id: string }, TaskDetail>({
  name: 'show',
  summary: 'everything about one',
  purpose: 'Shows what a task is, how far it is, what it waits for and who waits for it, and the thoughts about it.',
  args: [ID],
  examples: [{ run: 'git handoff task show P0.1.1', does: 'before you claim it' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/list.ts')).taskShow(await context.repository(), options),
  text: async (result, paint) => (await text()).formatTask(result, paint),
});

const update = defineVerb<TaskUpdateOptions, TaskUpdateResult>({
  name: 'update',
  summary: 'say how far it is',
  purpose:
    'Records a change of its state in your session. A task is done only with a thought record about a commit that a ' +
    'branch has: write that first, with git handoff thought. Where the newest run failed, or the thought is about nothing, ' +
    'it warns, unless the policy asks for more; git handoff done refuses.',
  args: [ID],
  flags: [
    { flags: '--status <status>', about: STATUSES.join(', '), choices: STATUSES },
    { flags: '--progress <n>', about: '0 to 100', atLeast: 0 },
    { flags: '--notes <text>', about: 'a sentence or two' },
    ...RECORD_FLAGS,
  ],
  examples: [
    { run: 'git handoff task update P0.1.1 --status done --notes "ESLint passes"', does: 'after the thought' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/task/update.ts')).taskUpdate(await context.repository(), options),
  text: async (result, paint) => (await text()).formatUpdate(result, paint),
});

const graph = defineVerb<{ format?: 'text' | 'mermaid' }, TaskGraphResult>({
  name: 'graph',
  summary: 'what waits for what',
  purpose: 'Draws the dependencies: each task once, below the last of those it waits for; or as Mermaid, for a page.',
  flags: [{ flags: '--format <format>', about: 'text (default) or mermaid', choices: ['text', 'mermaid'] }],
  examples: [{ run: 'git handoff task graph --format mermaid', does: 'for a pull request' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/graph.ts')).taskGraph(await context.repository(), options),
  text: async (result, paint) => (await text()).formatGraph(result, paint),
});

export const task: Family = {
  name: 'task',
  summary: 'what is to be done: add, edit, list, show, update, graph',
  purpose:
    'A maintainer defines tasks. Their progress follows from the records of sessions. git handoff next says ' +
    'which task to take.',
  examples: [{ run: 'git handoff task list', does: 'all of them' }],
  verbs: [add, edit, list, show, update, graph],
};

export const next = defineVerb<{ limit?: number }, NextResult>({
  name: 'next',
  summary: 'what to do next',
  purpose:
    'Lists tasks that can be begun: todo, everything they depend on done, nobody at work on them. First comes what begins ' +
    'the longest chain of open tasks, then what most others wait for, then the higher priority.',
  flags: [{ flags: '-n, --limit <n>', about: 'at most so many; default: 10', atLeast: 0 }],
  examples: [{ run: 'git handoff next -n 3', does: 'the three that matter most' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/next.ts')).next(await context.repository(), options),
  text: async (result, paint) => (await text()).formatNext(result, paint),
});

export const claim = defineVerb<ClaimOptions, ClaimResult>({
  name: 'claim',
  summary: 'take a task',
  purpose:
    'Takes a task for your session, so that nobody else begins it; it is given back by unclaim, and when the session ends. ' +
    'Where no session of yours is open, one is opened. With ' +
    '--worktree your session goes on in a work tree of its own, on a branch of its own. --force takes it from whoever is at ' +
    'work on it, such as a machine that is gone, and your record says why.',
  args: [ID],
  flags: [
    { flags: '--worktree', about: 'in .worktrees/<identity>/<slug>, on branch feature/<slug>' },
    { flags: '--force', about: 'take it over; needs --reason' },
    { flags: '--reason <text>', about: 'why, for the record' },
    ...RECORD_FLAGS.filter(({ flags }) => flags !== '--allow-secret'),
  ],
  examples: [{ run: 'git handoff claim P0.1.1 --worktree', does: 'begin, apart from others' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/claim.ts')).claim(await context.repository(), options),
  text: async (result, paint) => (await text()).formatClaim(result, paint),
});

export const unclaim = defineVerb<Omit<ClaimOptions, 'worktree' | 'force' | 'reason'>, ClaimResult>({
  name: 'unclaim',
  summary: 'give a task back',
  purpose: 'Gives back a task that you do not continue: it is todo again. Its branch and work tree stay as they are.',
  args: [ID],
  flags: RECORD_FLAGS.filter(({ flags }) => flags !== '--allow-secret'),
  examples: [{ run: 'git handoff unclaim P0.1.1', does: 'somebody else may take it' }],
  run: async (context, options) =>
    (await import('../../../verbs/task/unclaim.ts')).unclaim(await context.repository(), options),
  text: async (result, paint) => (await text()).formatClaim(result, paint),
});
