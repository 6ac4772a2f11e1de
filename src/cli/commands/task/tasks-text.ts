import { formatMermaid, formatTaskTree, STATUS_MARKS } from '../../../core/task/graph.ts';
import type { TaskStatus } from '../../../core/task/state.ts';
import { quoteWord } from '../../../core/text/quote.ts';
import type { ClaimResult } from '../../../verbs/task/claim.ts';
import type { TaskDefineResult } from '../../../verbs/task/define.ts';
import type { TaskGraphResult } from '../../../verbs/task/graph.ts';
import type { TaskDetail, TaskEntry } from '../../../verbs/task/list.ts';
import type { NextResult } from '../../../verbs/task/next.ts';
import type { TaskUpdateResult } from '../../../verbs/task/update.ts';
import type { Paint } from '../../terminal.ts';
import { clip, committed, count, fields, headedTable, lines, roomFor, shortId } from '../../text/layout.ts';

const HEADS = ['TASK', 'STATUS', 'DONE', 'BY', 'TITLE'];
const TITLE = 4;
const STATUS = 1;

/** One line a task, and how many there are of each sort. */
export function formatTasks({ tasks }: { tasks: TaskEntry[] }, paint: Paint): string {
  if (tasks.length === 0) return 'No tasks. git handoff task add ID --title TITLE defines one.\n';
  const rows = tasks.map((task) => [
    task.task_id,
    task.status,
    task.progress === null ? '-' : `${task.progress}%`,
    task.claimed_by ?? task.done_by ?? '-',
    task.blocked_by.length > 0 ? `${task.title} (after ${task.blocked_by.join(', ')})` : task.title,
  ]);
  const room = roomFor(TITLE, [HEADS, ...rows], paint.columns);
  const cut = rows.map((row) => row.with(TITLE, clip(row[TITLE]!, room)));
  return lines(
    headedTable(HEADS, cut, paint, (cell, column, row) =>
      column === STATUS ? paintEntry(tasks[row]!, cell, paint) : cell,
    ),
    paint('dim', countsOf(tasks)),
  );
}

/** `500 tasks: 320 todo, 12 in_progress, 168 done` */
function countsOf(tasks: readonly TaskEntry[]): string {
  const each = (Object.keys(STATUS_MARKS) as TaskStatus[])
    .map((status) => [tasks.filter((task) => task.status === status).length, status] as const)
    .filter(([number]) => number > 0);
  return `${count(tasks.length, 'task')}: ${each.map(([number, status]) => `${number} ${status}`).join(', ')}`;
}

export function formatTask(task: TaskDetail, paint: Paint): string {
  const list = (items: readonly string[]) => items.join(', ') || '-';
  const rows: [string, string][] = [
    ['status', `${task.status}${task.progress === null ? '' : `, ${task.progress}%`}`],
    ['claimed by', task.claim ? `${task.claim.identity}, since ${task.claim.since}` : '-'],
    ['done by', task.done_by ?? '-'],
    ['depends on', list(task.depends_on.map((each) => `${each.task_id} (${each.status})`))],
    ['waits for', list(task.blocked_by)],
    ['wait for it', list(task.dependents)],
    ['tags', list(task.tags)],
    ['priority', String(task.priority)],
    ['proof', task.proof ?? '-'],
    ['prompt', task.prompt ?? '-'],
  ];
  const thoughts = task.thoughts.map(
    ({ delta_id, identity, commit_sha }) => `  ${shortId(delta_id)}  ${identity}, about ${commit_sha.slice(0, 12)}`,
  );
  return lines(
    `${paint('bold', task.task_id)}  ${task.title}`,
    fields(rows, paint, '  '),
    task.acceptance.length > 0 ? [paint('bold', 'Accepted when'), ...task.acceptance.map((item) => `  - ${item}`)] : [],
    thoughts.length > 0 ? [paint('bold', 'Thoughts'), ...thoughts] : [],
  );
}

export function formatNext({ actions, put_down }: NextResult, paint: Paint): string {
  const begun = put_down.map(({ task_id, title }) => `  ${task_id}  ${title}`);
  const how = 'git handoff pickup continues what a baton is about; else git handoff claim';
  const more = begun.length > 0 ? [`${paint('bold', 'Begun and put down')} (${how})`, ...begun] : [];
  if (actions.length === 0)
    return lines('Nothing new can be begun now. git handoff task list shows what waits for what.', more);
  const heads = ['TASK', 'PATH', 'UNBLOCKS', 'PRIORITY', 'TITLE'];
  const rows = actions.map((each) => [
    each.task_id,
    String(each.critical_path),
    String(each.unblocks),
    String(each.priority),
    each.prompt === null ? each.title : `${each.title} (read ${each.prompt})`,
  ]);
  const room = roomFor(TITLE, [heads, ...rows], paint.columns);
  const cut = rows.map((row) => row.with(TITLE, clip(row[TITLE]!, room)));
  return lines(
    headedTable(heads, cut, paint, (cell, column) => (column === 0 ? paint('cyan', cell) : cell)),
    more,
    paint('dim', `Take one: git handoff claim ${quoteWord(actions[0]!.task_id)}`),
  );
}

export function formatGraph({ format, nodes, edges }: TaskGraphResult, paint: Paint): string {
  if (format === 'mermaid') return lines(formatMermaid({ nodes, edges }));
  if (nodes.length === 0) return 'No tasks. git handoff task add ID --title TITLE defines one.\n';
  return lines(
    formatTaskTree({ nodes, edges }, (line, status) => paintStatus(status, line, paint)),
    paint(
      'dim',
      Object.entries(STATUS_MARKS)
        .map((pair) => pair.toReversed().join(' '))
        .join('  '),
    ),
  );
}

export function formatDefined(result: TaskDefineResult, paint: Paint): string {
  const { task_id, identity, path, version, commit } = result;
  const what = `${version === 1 ? '' : `, version ${version}`}, signed by ${identity}`;
  return lines(`${paint('green', '✓')} ${paint('bold', task_id)}${what}  ${paint('dim', path)}, ${committed(commit)}`);
}

export function formatUpdate(result: TaskUpdateResult, paint: Paint): string {
  const { task_id, status, progress, delta_id, identity } = result;
  const how = progress === null ? '' : `, ${progress}%`;
  return lines(
    `${paint('green', '✓')} ${identity}: ${paint('bold', task_id)} is ${paintStatus(status, status, paint)}${how}  ${paint('dim', shortId(delta_id))}`,
  );
}

export function formatClaim(result: ClaimResult, paint: Paint): string {
  const { task_id, token, branch, worktree, cd, session_id, identity, started } = result;
  const heading = `${paint('green', '✓')} ${identity}: ${paint('bold', task_id)}`;
  if (worktree === null) return lines(`${heading} is given back`);
  return lines(
    `${heading} is yours, under number ${token} of its lock`,
    fields(
      [
        ['branch', branch ?? 'detached'],
        ['work tree', worktree],
        ['session', started ? `${session_id.slice(0, 8)}, opened for ${identity}` : session_id.slice(0, 8)],
      ],
      paint,
      '  ',
    ),
    cd === undefined ? [] : [cd],
  );
}

/** What cannot be begun yet steps back. */
function paintEntry({ status, blocked_by }: TaskEntry, text: string, paint: Paint): string {
  return status === 'todo' && blocked_by.length > 0 ? paint('dim', text) : paintStatus(status, text, paint);
}

const STYLES = { todo: null, in_progress: 'yellow', blocked: 'red', done: 'green', cancelled: 'dim' } as const;

function paintStatus(status: TaskStatus, text: string, paint: Paint): string {
  const style = STYLES[status];
  return style === null ? text : paint(style, text);
}
