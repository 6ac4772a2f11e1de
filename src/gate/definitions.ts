import { type Entry, FOLDER, find, type Source } from '../audit/source/source.ts';
import { readSignedDocument } from '../audit/trust/trust.ts';
import { type Budget, isOverBudget, whileTime } from '../core/budget.ts';
import { asHandoffError, type Finding, HandoffError } from '../core/error.ts';
import { once, oncePer } from '../core/once.ts';
import { ROOT, taskPath } from '../core/paths.ts';
import { isOfKind } from '../core/record/kinds.ts';
import type { ParsedRecord } from '../core/record/record.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';

/**
 * SPEC §10.5: what a task asks for, such as a seal, must not fall away with the key that signed it. Until somebody else signs the
 * definition, nothing says that the task is done.
 */
export async function judgeDefinitions(
  definitions: Definitions,
  added: readonly PlacedRecord[],
  budget: Budget,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, change] of whileTime(budget, doneTasks(added))) {
    const read = await definitions.read(id);
    if (read instanceof HandoffError && read.code === 'key_revoked') findings.push(distrusted(id, change));
  }
  return findings;
}

/** What tasks ask for, in a tree. */
export interface Definitions {
  /** Null where there is none; why, where it does not hold. */
  read(id: string): Promise<ParsedRecord<'task-definition'> | HandoffError | null>;
}

/** The folder is listed once: a push may say of thousands of tasks that they are done. */
export function openDefinitions(source: Source, trust: Trust): Definitions {
  const listing = once(() => listTasks(source));
  const read = async (id: string): Promise<ParsedRecord<'task-definition'> | HandoffError | null> => {
    const entry = (await listing()).get(taskPath(id));
    if (!entry) return null;
    return readSignedDocument(source, entry, 'task-definition', trust, nodeSuite).catch(unlessBroken);
  };
  return { read: oncePer(read) };
}

async function listTasks(source: Source): Promise<Map<string, Entry>> {
  const folder = await find(source, `${ROOT}/tasks`);
  const entries = folder?.mode === FOLDER ? await source.list(folder) : [];
  return new Map(entries.toReversed().map((entry) => [entry.path, entry])); // of two that are called the same the first counts
}

/** A fault of the environment, and the end of the budget, is thrown on. */
function unlessBroken(error: unknown): HandoffError {
  const failure = asHandoffError(error);
  if (failure.exitCode === 4 || isOverBudget(failure)) throw failure;
  return failure;
}

function doneTasks(added: readonly PlacedRecord[]): Map<string, PlacedRecord> {
  const done = added.filter(isOfKind('task')).filter(({ record }) => record.fields.status === 'done');
  return new Map(done.map((change) => [change.record.fields.task_id, change]));
}

function distrusted(id: string, { path, record }: PlacedRecord): Finding {
  return {
    code: 'key_revoked',
    severity: 'error',
    path,
    record: record.id,
    message: `${id} is said to be done, and only keys that were revoked have signed what it asks for.`,
    hint: `If its definition says what it should, a maintainer signs it: git handoff identity resign ${quoteWord(id)}`,
  };
}
