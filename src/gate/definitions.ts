import { find, type Source } from '../audit/source/source.ts';
import { readSignedDocument } from '../audit/trust/trust.ts';
import { asHandoffError, type Finding } from '../core/error.ts';
import { taskPath } from '../core/paths.ts';
import { isOfKind } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { quoteWord } from '../core/text/quote.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';

/**
 * SPEC §10.5: what a task asks for, such as a seal, must not fall away with the key that signed it. Until somebody else signs the
 * definition, nothing says that the task is done.
 */
export async function judgeDefinitions(
  source: Source,
  trust: Trust,
  added: readonly PlacedRecord[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [id, change] of doneTasks(added))
    if (await isDistrusted(source, trust, id)) findings.push(distrusted(id, change));
  return findings;
}

function doneTasks(added: readonly PlacedRecord[]): Map<string, PlacedRecord> {
  const done = added.filter(isOfKind('task')).filter(({ record }) => record.fields.status === 'done');
  return new Map(done.map((change) => [change.record.fields.task_id, change]));
}

async function isDistrusted(source: Source, trust: Trust, id: string): Promise<boolean> {
  const entry = await find(source, taskPath(id));
  if (!entry) return false;
  try {
    await readSignedDocument(source, entry, 'task-definition', trust, nodeSuite);
    return false;
  } catch (error) {
    return asHandoffError(error).code === 'key_revoked';
  }
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
