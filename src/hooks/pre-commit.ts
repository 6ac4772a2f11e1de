import { hasErrors } from '../core/error.ts';
import { judgeStaged } from '../verbs/gate-staged.ts';
import type { Repository } from '../verbs/repository.ts';
import type { Judgement } from './judgement.ts';

/** What is staged holds, and no record is changed or deleted. */
export async function preCommit(repository: Repository): Promise<Judgement[]> {
  const findings = await judgeStaged(repository);
  return [{ ref: null, pass: !hasErrors(findings), reason: null, findings }];
}
