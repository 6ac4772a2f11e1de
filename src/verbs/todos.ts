import { openCache } from '../audit/cache.ts';
import { FILE, find, type Source } from '../audit/source.ts';
import { readSignedDocument } from '../audit/trust.ts';
import { HandoffError } from '../core/error.ts';
import type { History } from '../core/history.ts';
import { taskStatus } from '../core/history-queries.ts';
import { parseTaskName, ROOT } from '../core/paths.ts';
import type { TaskStatus } from '../core/task-state.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { cachePath, type Repository } from './repository.ts';

/** What a definition says that matters for choosing work. */
interface TaskDefinition {
  task_id: string;
  title: string;
  tags: string[];
  priority: number;
}

interface OpenTask {
  task_id: string;
  title: string;
  status: TaskStatus;
}

export interface Todos {
  /** Open tasks that the baton names, or that are tagged `focus`. */
  focus: OpenTask[];
  open_count: number;
}

export async function readTodos(
  repository: Repository,
  source: Source,
  trust: Trust,
  history: History,
  focus: readonly string[],
): Promise<Todos> {
  const open = (await readTasks(repository, source, trust))
    .map((task) => ({ task, status: taskStatus(history, task.task_id)?.status ?? ('todo' as const) }))
    .filter(({ status }) => status !== 'done' && status !== 'cancelled');
  const wanted = open.filter(({ task }) => focus.includes(task.task_id) || task.tags.includes('focus'));
  return {
    focus: wanted.map(({ task, status }) => ({ task_id: task.task_id, title: task.title, status })),
    open_count: open.length,
  };
}

/** Definitions change seldom: what the folder of this id held is kept, with the keys that were trusted to sign it. */
async function readTasks(repository: Repository, source: Source, trust: Trust): Promise<TaskDefinition[]> {
  const folder = await find(source, `${ROOT}/tasks`);
  if (!folder) return [];
  const cache = repository.build && folder.oid ? openCache<TaskDefinition[]>(cachePath(repository, 'tasks'), 8) : null;
  const key = `${folder.oid} ${maintainerKeys(trust)}`;
  const known = cache?.get(key);
  if (known) return known;
  const tasks: TaskDefinition[] = [];
  for (const entry of await source.list(folder)) {
    if (entry.mode !== FILE || !parseTaskName(entry.name)) continue;
    try {
      const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite);
      const { task_id, title, tags = [], priority = 0 } = fields as unknown as Partial<TaskDefinition> & TaskDefinition;
      if (`${task_id}.yaml` === entry.name) tasks.push({ task_id, title, tags, priority });
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      repository.warn(`${entry.path}: ${error.message}`);
    }
  }
  cache?.set(key, tasks);
  cache?.save();
  return tasks;
}

function maintainerKeys({ identities }: Trust): string {
  const maintainers = [...identities.values()].filter(({ role }) => role === 'maintainer');
  return maintainers
    .flatMap(({ name, keys }) => keys.map(({ fingerprint, state }) => `${name} ${fingerprint} ${state}`))
    .sort()
    .join(',');
}
