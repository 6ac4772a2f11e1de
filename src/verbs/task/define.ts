import { type Entry, find } from '../../audit/source/source.ts';
import { openWorkTree } from '../../audit/source/work-tree-source.ts';
import { readSignedDocument } from '../../audit/trust/trust.ts';
import { HandoffError } from '../../core/error.ts';
import type { TaskDefinitionDocument } from '../../core/generated/types.ts';
import { taskPath } from '../../core/paths.ts';
import { present } from '../../core/record/present.ts';
import type { ParsedRecord } from '../../core/record/record.ts';
import { recordId } from '../../core/record/verify.ts';
import { dependenciesOf, formatCycle, shortestCycle, withoutDependencies } from '../../core/task/cycle.ts';
import { assertTask } from '../../core/task/name.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Trust } from '../../core/trust/trust.ts';
import { nodeSuite } from '../../crypto.ts';
import { type PublishOptions, publish } from '../../journal/commits/publish.ts';
import { asBadInput } from '../../journal/drafts/bad-input.ts';
import type { SecretOptions } from '../../journal/drafts/record-draft.ts';
import { refuseSecrets } from '../../journal/drafts/secret.ts';
import { type NamedSigner, signDocument } from '../../journal/keys/sign.ts';
import { type Actor, maintainerSigner } from '../../journal/keys/signers.ts';
import { conflictOr } from '../../repository/conflict.ts';
import { openHere } from '../../repository/everywhere/everywhere.ts';
import { enterWorkTree, type Repository, requireWorkTree } from '../../repository/repository.ts';
import { readKnownTasks, requireTask, type TaskDefinition } from '../../repository/task-definitions.ts';
import { currentSource, requireTrust } from '../../repository/trusted-now.ts';
import { allowedSecret } from '../session/record-verbs.ts';

/** What can be said of a task; of `edit`, only what is to change. */
export interface TaskFields {
  title?: string;
  depends?: string[];
  tags?: string[];
  priority?: number;
  proof?: 'seal';
  accept?: string[];
  prompt?: string;
}

export interface TaskDefineOptions extends TaskFields, PublishOptions, Actor, SecretOptions {
  id: string;
}

export interface TaskDefineResult {
  task_id: string;
  /** The maintainer who signed it. */
  identity: string;
  path: string;
  version: number;
  commit: string | null;
}

/** Defines a task, signed by a maintainer. SPEC §5.4 */
export async function taskAdd(
  repository: Repository,
  options: TaskDefineOptions & { title: string },
): Promise<TaskDefineResult> {
  const { tasks, trust, signer } = await prepare(repository, options);
  assertNew(tasks, options.id);
  const at = repository.now().toISOString();
  const common = { handoff: 1, kind: KIND, repo: trust.repoId, version: 1, prev: null, at } as const;
  const fields = { ...common, task_id: options.id, ...taskKeys(options), title: options.title };
  return define(repository, tasks, signer, fields, `handoff: task ${options.id}`, options);
}

/** The next version of a definition: what is given replaces what was there. SPEC §5.3 */
export async function taskEdit(repository: Repository, options: TaskDefineOptions): Promise<TaskDefineResult> {
  const { tasks, trust, signer } = await prepare(repository, options);
  requireTask(tasks, options.id);
  if (Object.keys(taskKeys(options)).length === 0)
    throw new HandoffError('usage', 'There is nothing to change.', { hint: 'git handoff task edit --help' });
  const { fields: before, signedBytes } = await readNewest(repository, options.id, trust);
  const { title, depends_on, tags, priority, proof, acceptance, prompt, ...rest } = before;
  const keys = present({ title, depends_on, tags, priority, proof, acceptance, prompt, ...taskKeys(options) });
  const { handoff, kind, repo, version, prev: _, at: __, task_id, ...extensions } = rest;
  const prev = recordId(signedBytes, nodeSuite);
  const common = { handoff, kind, repo, version: version + 1, prev, at: repository.now().toISOString(), task_id };
  const fields = { ...common, ...keys, ...extensions };
  return define(repository, tasks, signer, fields, `handoff: task ${options.id}, version ${fields.version}`, options);
}

const KIND = 'task-definition' as const;

interface Prepared {
  trust: Trust;
  signer: NamedSigner;
  tasks: TaskDefinition[];
}

async function prepare(repository: Repository, options: TaskDefineOptions): Promise<Prepared> {
  enterWorkTree(repository);
  for (const id of [options.id, ...(options.depends ?? [])]) assertTask(id);
  if (options.prompt !== undefined) assertPrompt(options.prompt);
  const trust = await requireTrust(repository);
  const signer = await maintainerSigner(repository, trust, options);
  return { trust, signer, tasks: await readKnownTasks(repository, await openHere(repository, trust)) };
}

/** Agents are told to read it: it leads to no file of theirs outside of the repository, on no system. */
function assertPrompt(path: string): void {
  const isInside = path !== '' && !/^\/|^[A-Za-z]:|\\/.test(path) && !path.split('/').includes('..');
  if (isInside) return;
  throw new HandoffError('usage', `--prompt: expected a path inside the repository, found ${JSON.stringify(path)}.`, {
    hint: 'Name the file from the top of the repository, with /: docs/task.md',
    data: { prompt: path },
  });
}

async function define(
  repository: Repository,
  tasks: readonly TaskDefinition[],
  signer: NamedSigner,
  fields: TaskDefinitionDocument,
  message: string,
  options: TaskDefineOptions,
): Promise<TaskDefineResult> {
  const { id } = options;
  const { depends_on = [] } = fields;
  const others = tasks.filter(({ task_id }) => task_id !== id);
  assertNoNewCycle(tasks, id, depends_on);
  refuseSecrets({ fields: taskKeys(options), ...allowedSecret(options) });
  const { bytes } = await signDocument(fields, [signer]).catch((error) => Promise.reject(asBadInput(error)));
  warnUndefined(repository, others, depends_on);
  const path = taskPath(id);
  const file = { path, bytes, replaces: fields.version > 1 };
  const commit = await publish(repository, { files: [file], message, identity: signer.identity }, options);
  return { task_id: id, identity: signer.identity, path, version: fields.version, commit };
}

/** One that was there before is nobody's fault who changes a task now, perhaps to mend it. */
function assertNoNewCycle(tasks: readonly TaskDefinition[], id: string, depends_on: readonly string[]): void {
  const dependencies = dependenciesOf(tasks);
  const earlier = new Set(dependencies.get(id));
  const arrived = depends_on.filter((each) => !earlier.has(each));
  const cycle = shortestCycle(dependencies.set(id, depends_on), id, arrived);
  if (!cycle) return;
  const [, next] = cycle;
  if (next === undefined)
    throw new HandoffError('task_cycle', `${id} would depend on itself.`, {
      hint: `Leave ${id} out of --depends. git handoff task graph shows what waits for what.`,
      data: { cycle },
    });
  const mend = withoutDependencies(next, dependencies.get(next)!, [cycle[2] ?? id]);
  throw new HandoffError('task_cycle', `These tasks would wait for each other: ${formatCycle(cycle)}.`, {
    hint: `Leave ${next} out of --depends, or begin with the other end: ${mend}`,
    data: { cycle },
  });
}

/** The keys that were given, in the order of the schema. An empty list is left out: it says nothing. */
function taskKeys({ title, depends, tags, priority, proof, accept, prompt }: TaskFields) {
  return present({
    title,
    depends_on: unique(depends),
    tags: unique(tags),
    priority,
    proof,
    acceptance: accept,
    prompt,
  });
}

function unique(list: readonly string[] | undefined): string[] | undefined {
  return list && [...new Set(list)];
}

/** The definition as it is now: here if the work tree has it, else as HEAD does. */
async function readNewest(repository: Repository, id: string, trust: Trust): Promise<ParsedRecord<typeof KIND>> {
  for (const source of [openWorkTree(requireWorkTree(repository)), await currentSource(repository)]) {
    const entry: Entry | null = await find(source, taskPath(id));
    if (!entry) continue;
    return readSignedDocument(source, entry, KIND, trust, nodeSuite).catch(async (error) => {
      throw error instanceof HandoffError ? await conflictOr(repository, error, taskPath(id)) : error;
    });
  }
  throw new HandoffError('unknown_task', `${taskPath(id)} is not in this work tree.`, {
    hint: `git restore ${quoteWord(taskPath(id))}`,
    data: { task_id: id },
  });
}

/** Names that differ only in case are one file on many machines. */
function assertNew(tasks: readonly TaskDefinition[], id: string): void {
  const twin = tasks.find(({ task_id }) => task_id.toLowerCase() === id.toLowerCase());
  if (!twin) return;
  throw new HandoffError('task_exists', `There is a task ${twin.task_id} already: ${twin.title}`, {
    hint: `git handoff task show ${quoteWord(twin.task_id)}; git handoff task edit changes it.`,
    data: { task_id: twin.task_id },
  });
}

function warnUndefined(repository: Repository, tasks: readonly TaskDefinition[], depends_on: readonly string[]): void {
  const defined = new Set(tasks.map(({ task_id }) => task_id));
  const missing = depends_on.filter((id) => !defined.has(id));
  if (missing.length > 0)
    repository.warn(`Nobody has defined ${missing.join(', ')} yet; until it is defined and done, the task is blocked.`);
}
