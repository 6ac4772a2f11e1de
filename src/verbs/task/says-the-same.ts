import type { ThoughtRecord } from '../../core/generated/types.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import type { ThoughtFields } from '../../journal/drafts/thought-file.ts';
import type { Repository } from '../../repository/repository.ts';
import { treesWithCodeOf } from '../../repository/told-thoughts.ts';
import type { PlannedThought } from '../../writeback/thought-record.ts';
import { isReachable, type Updating } from './update.ts';

/** The newest thought is by the same identity, about the same code, and has all that is told now. */
export async function saysTheSame(
  { writer }: Updating,
  { record: { fields } }: PlacedRecord<'thought'>,
  { fields: planned }: PlannedThought,
  given: ThoughtFields,
): Promise<boolean> {
  const isTold =
    fields.identity === writer.session.identity &&
    (given.summary === undefined || given.summary === fields.summary) &&
    (given.tests_run ?? []).every((name) => fields.tests_run.includes(name)) &&
    (given.evidence ?? []).every((each) => (fields.evidence ?? []).some((own) => isAlike(own, each))) &&
    (given.blockers === undefined || isAlike(given.blockers, fields.blockers)) &&
    (given.related_thought_records === undefined ||
      isAlike(given.related_thought_records, fields.related_thought_records)) &&
    (fields.no_code ?? false) === (planned.no_code ?? false) &&
    isAlike(fields.files_changed, planned.files_changed);
  return isTold && isAboutTheSame(writer.repository, fields, planned);
}

/** The same commit, or one that only adds records to it. */
async function isAboutTheSame(
  repository: Repository,
  told: ThoughtRecord,
  planned: PlannedThought['fields'],
): Promise<boolean> {
  if (told.commit_sha === planned.commit_sha) return true;
  if (told.tree === undefined || planned.tree === undefined || told.patch_id !== planned.patch_id) return false;
  const same = await treesWithCodeOf(repository, planned.tree, [told.tree]);
  return same.has(told.tree) && isReachable(repository, told.commit_sha);
}

function isAlike(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
