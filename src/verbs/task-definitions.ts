import { openCache } from '../audit/cache.ts';
import { FILE, find, type Source } from '../audit/source.ts';
import { openTree } from '../audit/tree-source.ts';
import { readSignedDocument } from '../audit/trust.ts';
import { HandoffError } from '../core/error.ts';
import { parseTaskName, ROOT } from '../core/paths.ts';
import type { Trust } from '../core/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { currentSource } from './current.ts';
import { cachePath, type Repository } from './repository.ts';
import { assertTask } from './task-name.ts';

/** What a maintainer signed about a task. Its state is folded from records. */
export interface TaskDefinition {
  task_id: string;
  title: string;
  depends_on: string[];
  tags: string[];
  priority: number;
  proof: 'seal' | null;
  acceptance: string[];
  prompt: string | null;
}

/** Definitions change seldom: what the folder of this id held is kept, with the keys that were trusted to sign it. */
export async function readTasks(repository: Repository, source: Source, trust: Trust): Promise<TaskDefinition[]> {
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
      const task = { ...NOTHING_MORE, ...(fields as unknown as Pick<TaskDefinition, 'task_id' | 'title'>) };
      if (`${task.task_id}.yaml` === entry.name) tasks.push(toDefinition(task));
    } catch (error) {
      if (!(error instanceof HandoffError)) throw error;
      repository.warn(`${entry.path}: ${error.message}`);
    }
  }
  cache?.set(key, tasks);
  cache?.save();
  return tasks;
}

/** One definition, without reading the others: as the last commit has it, else as it is in the work tree. */
export async function readTask(repository: Repository, trust: Trust, id: string): Promise<TaskDefinition> {
  assertTask(id);
  const sources = [() => openTree(repository.store, 'HEAD'), () => currentSource(repository)];
  for (const open of (await repository.store.has('HEAD')) ? sources : sources.slice(1)) {
    const source = await open();
    const entry = await find(source, `${ROOT}/tasks/${id}.yaml`);
    if (entry?.mode !== FILE) continue;
    const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite);
    const task = { ...NOTHING_MORE, ...(fields as unknown as Pick<TaskDefinition, 'task_id' | 'title'>) };
    if (task.task_id === id) return toDefinition(task);
  }
  return requireTask([], id);
}

const NOTHING_MORE = { depends_on: [], tags: [], priority: 0, proof: null, acceptance: [], prompt: null };

function toDefinition(task: TaskDefinition): TaskDefinition {
  const { task_id, title, depends_on, tags, priority, proof, acceptance, prompt } = task;
  return { task_id, title, depends_on, tags, priority, proof, acceptance, prompt };
}

export function requireTask(tasks: readonly TaskDefinition[], id: string): TaskDefinition {
  const task = tasks.find(({ task_id }) => task_id === id);
  if (task) return task;
  throw new HandoffError('unknown_task', `There is no task ${JSON.stringify(id)}.`, {
    hint: 'git handoff task list shows them; git handoff task add defines one.',
    data: { task_id: id },
  });
}

function maintainerKeys({ identities }: Trust): string {
  const maintainers = [...identities.values()].filter(({ role }) => role === 'maintainer');
  return maintainers
    .flatMap(({ name, keys }) => keys.map(({ fingerprint, state }) => `${name} ${fingerprint} ${state}`))
    .sort()
    .join(',');
}
