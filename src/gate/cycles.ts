import { type Entry, FILE, FOLDER, find, type Source } from '../audit/source/source.ts';
import { type Budget, isOverBudget, whileTime } from '../core/budget.ts';
import { asHandoffError, type Finding, HandoffError } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { parseTaskName, ROOT, taskPath } from '../core/paths.ts';
import { parseAs } from '../core/record/record.ts';
import { type Dependencies, isOnCycle, ringsOf, withoutDependencies } from '../core/task/cycle.ts';

/**
 * SPEC §10.5, M97: two changes that each are right can make a cycle together, which none of its tasks could ever leave. A cycle
 * that was there before keeps nothing out: whoever mends it changes one task after the other.
 */
export async function judgeCycles(before: Source, result: Source, budget: Budget): Promise<Finding[]> {
  const [old, now] = await Promise.all([find(before, TASKS), find(result, TASKS)]);
  if (now === null || (now.oid !== null && now.oid === old?.oid)) return [];
  const [oldEntries, entries] = [await listTasks(before, old), await listTasks(result, now)];
  const changed = [...entries.values()].filter((entry) => !isSame(oldEntries.get(entry.path), entry));
  const dependedOn = await readAllOf(before, oldEntries, changed.map(idOf));
  const definitions = await readBehind({ before, result, oldEntries, entries, budget }, changed.map(idOf));
  const rings = ringsOf(definitions);
  const findings: Finding[] = [];
  for (const entry of whileTime(budget, changed)) {
    const id = idOf(entry);
    const [depends_on, earlier] = [definitions.get(id) ?? [], new Set(dependedOn.get(id))];
    const closing = depends_on.filter((each) => !earlier.has(each) && isOnCycle(rings, id, each));
    if (closing.length > 0) findings.push(cyclic(entry, depends_on, closing));
  }
  return findings;
}

const TASKS = `${ROOT}/tasks`;

type Tasks = ReadonlyMap<string, Entry>;

/** Where two entries have the same name, the first counts. */
async function listTasks(source: Source, folder: Entry | null): Promise<Tasks> {
  const entries = folder?.mode === FOLDER ? await source.list(folder) : [];
  const named = entries.filter(({ name, mode }) => mode === FILE && parseTaskName(name) !== null);
  return new Map(named.toReversed().map((entry) => [entry.path, entry]));
}

function isSame(a: Entry | undefined, b: Entry): boolean {
  return a !== undefined && a.oid !== null && a.oid === b.oid;
}

function idOf({ name }: Entry): string {
  return parseTaskName(name)!;
}

interface Trees {
  before: Source;
  result: Source;
  oldEntries: Tasks;
  entries: Tasks;
  budget: Budget;
}

/** These, and all that they depend on, step by step; of a push that changes one task, few of many thousand. */
async function readBehind(
  { before, result, oldEntries, entries, budget }: Trees,
  ids: string[],
): Promise<Dependencies> {
  const all = new Map<string, readonly string[]>();
  for (let step = ids; step.length > 0; ) {
    budget.assertTime();
    const isOld = (id: string): boolean => isSame(oldEntries.get(taskPath(id)), entries.get(taskPath(id))!);
    const there = step.filter((id) => entries.has(taskPath(id)));
    // nobody who pushes pays for what was there
    const read = [
      ...(await readAllOf(before, oldEntries, there.filter(isOld))),
      ...(await readAllOf(
        result,
        entries,
        there.filter((id) => !isOld(id)),
      )),
    ];
    for (const [id, depends_on] of read) all.set(id, depends_on);
    step = [...new Set(read.flatMap(([, depends_on]) => depends_on))].filter((id) => !all.has(id));
  }
  return all;
}

/**
 * What their files say, whoever signed them: a dependency does not end with a key that is revoked. One that is no definition says
 * nothing, and has a finding of its own.
 */
async function readAllOf(
  source: Source,
  tasks: Tasks,
  ids: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const entries = ids.flatMap((id) => tasks.get(taskPath(id)) ?? []);
  const contents = entries.length === 0 ? [] : await source.readAll(entries, MAX_RECORD_BYTES);
  return new Map(entries.map((entry, at) => [idOf(entry), parseDependencies(contents[at]!)]));
}

function parseDependencies(content: Uint8Array | HandoffError): readonly string[] {
  try {
    if (content instanceof HandoffError) throw content;
    return parseAs(content, 'task-definition').fields.depends_on ?? [];
  } catch (error) {
    const failure = asHandoffError(error);
    if (failure.exitCode === 4 || isOverBudget(failure)) throw failure;
    return [];
  }
}

function cyclic(entry: Entry, depends_on: readonly string[], closing: readonly string[]): Finding {
  const [id, first] = [idOf(entry), closing[0]!];
  const message =
    first === id
      ? `${id} depends on itself: it could never begin.`
      : `${id} now depends on ${first}, and ${first}, perhaps by others, on ${id}: none of them could begin.`;
  return {
    code: 'task_cycle',
    severity: 'error',
    path: entry.path,
    message,
    hint: `Take it out: ${withoutDependencies(id, depends_on, closing)}`,
  };
}
