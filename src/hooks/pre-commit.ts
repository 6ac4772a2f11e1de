import { hasErrors } from '../core/error.ts';
import type { Repository } from '../repository/repository.ts';
import type { Judgement } from './judgement.ts';
import { judgeStaged } from './staged-records.ts';

/** What is staged holds, and no record is changed or deleted. */
export async function preCommit(repository: Repository): Promise<Judgement[]> {
  const findings = await judgeStaged(repository);
  return [{ ref: null, pass: !hasErrors(findings), reason: null, findings }];
}
