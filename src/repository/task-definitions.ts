import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, FILE, FOLDER, find, type Source } from '../audit/source/source.ts';
import { openTree } from '../audit/source/tree-source.ts';
import { openWorkTree } from '../audit/source/work-tree-source.ts';
import { dropCached, newestCached, readCached, writeCached } from '../audit/tree/cache.ts';
import { readSignedDocument } from '../audit/trust/trust.ts';
import { parseJson } from '../core/bytes/json.ts';
import { HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { parseTaskName, ROOT, taskPath } from '../core/paths.ts';
import { assertTask } from '../core/task/name.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { ifThere } from '../disk/if-there.ts';
import { type Everywhere, openEverywhere } from './everywhere/everywhere.ts';
import type { Messages, StateDirectory } from './parts.ts';
import { cacheFolder, type Repository } from './repository.ts';
import { currentSource } from './trusted-now.ts';

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

const FOLDER_PATH = `${ROOT}/tasks`;

/**
 * Those that are committed, on any branch, and those that are new in the work tree: whoever has just added one wants to work on it. Of
 * two definitions of one task, that of the branch that is checked out.
 */
export async function readKnownTasks(
  repository: Repository,
  { source, trust }: Pick<Everywhere, 'source' | 'trust'>,
): Promise<TaskDefinition[]> {
  if (source === null) return readTasks(repository, await currentSource(repository), trust);
  const tasks = await readTasks(repository, source, trust);
  const { topLevel } = repository.dirs;
  if (topLevel === null) return tasks;
  const ids = new Set<string | null>(tasks.map(({ task_id }) => task_id));
  const names = ifThere(() => readdirSync(join(topLevel, FOLDER_PATH))) ?? [];
  if (names.every((name) => ids.has(name.slice(0, -'.yaml'.length)))) return tasks;
  const workTree = openWorkTree(topLevel);
  const folder = await find(workTree, FOLDER_PATH);
  const entries = folder?.mode === FOLDER ? await workTree.list(folder) : [];
  const added = entries.filter(({ name }) => !ids.has(parseTaskName(name)));
  return [...tasks, ...(await readDefinitions(repository, workTree, added, trust))];
}

/** Definitions change seldom: what the folder of this id held is kept, with the keys that were trusted to sign it. */
export async function readTasks(
  repository: StateDirectory & Messages,
  source: Source,
  trust: Trust,
): Promise<TaskDefinition[]> {
  const folder = await find(source, FOLDER_PATH);
  if (folder?.mode !== FOLDER) return [];
  const cache = repository.build && folder.oid ? cacheFolder(repository, 'tasks') : null;
  const name = digest(`${folder.oid} ${maintainerKeys(trust)}`);
  const cached = cache && parseJson<Partial<TaskDefinition>[]>(readCached(join(cache, name)));
  if (Array.isArray(cached)) return cached.map(toDefinition);
  const tasks = await readDefinitions(repository, source, await source.list(folder), trust);
  if (cache) keep(cache, name, tasks);
  return tasks;
}

/** Many at once: signatures are checked on all cores, and objects come from one process. */
const AT_ONCE = 256;

async function readDefinitions(
  repository: Messages,
  source: Source,
  entries: readonly Entry[],
  trust: Trust,
): Promise<TaskDefinition[]> {
  const named = entries.filter((entry) => entry.mode === FILE && parseTaskName(entry.name) !== null);
  const tasks: (TaskDefinition | null)[] = [];
  for (let from = 0; from < named.length; from += AT_ONCE) {
    const batch = named.slice(from, from + AT_ONCE);
    const ahead = readAhead(source, batch, await source.readAll(batch, MAX_RECORD_BYTES));
    tasks.push(...(await Promise.all(batch.map((entry) => readDefinition(repository, ahead, entry, trust)))));
  }
  return tasks.filter((task) => task !== null);
}

function readAhead(source: Source, entries: readonly Entry[], found: readonly (Uint8Array | HandoffError)[]): Source {
  const contents = new Map(entries.map((entry, at) => [entry, found[at]!]));
  return {
    ...source,
    async read(file) {
      const bytes = contents.get(file)!;
      if (bytes instanceof HandoffError) throw bytes;
      return bytes;
    },
  };
}

async function readDefinition(
  repository: Messages,
  source: Source,
  entry: Entry,
  trust: Trust,
): Promise<TaskDefinition | null> {
  try {
    const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite);
    return `${fields.task_id}.yaml` === entry.name ? toDefinition(fields) : null;
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`${entry.path}: ${error.message}`);
    return null;
  }
}

/** One definition, without reading the others: as the last commit has it, else as it is in the work tree, else on another branch. */
export async function readTask(repository: Repository, trust: Trust, id: string): Promise<TaskDefinition> {
  assertTask(id);
  const sources = [() => openTree(repository.store, 'HEAD'), () => currentSource(repository)];
  for (const open of (await repository.store.has('HEAD')) ? sources : sources.slice(1)) {
    const source = await open();
    const entry = await find(source, taskPath(id));
    if (entry?.mode !== FILE) continue;
    const { fields } = await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite);
    if (fields.task_id === id) return toDefinition(fields);
  }
  return requireTask(await readElsewhere(repository, trust, id), id);
}

/** On other branches, where only what holds is taken from. */
async function readElsewhere(repository: Repository, here: Trust, id: string): Promise<TaskDefinition[]> {
  const { source, trust } = await openEverywhere(repository, here);
  const entry = source && (await find(source, taskPath(id)));
  return entry?.mode === FILE ? readDefinitions(repository, source!, [entry], trust) : [];
}

function toDefinition(task: Partial<TaskDefinition>): TaskDefinition {
  const { task_id = '', title = '', depends_on = NONE, tags = NONE } = task;
  const { priority = 0, proof = null, acceptance = NONE, prompt = null } = task;
  return { task_id, title, depends_on, tags, priority, proof, acceptance, prompt };
}

const NONE: string[] = [];

/** A branch or two, and where they were before. */
const STATES = 4;

/** A file for each folder, without what says nothing: with many thousand tasks, reading it is what a verb waits for. */
function keep(folder: string, name: string, tasks: readonly TaskDefinition[]): void {
  const withoutNothing = (_: string, value: unknown) =>
    value === null || value === 0 || (Array.isArray(value) && value.length === 0) ? undefined : value;
  writeCached(join(folder, name), tasks, withoutNothing);
  for (const old of newestCached(folder).slice(STATES)) dropCached(join(folder, old));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
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
