import { judgeStaged } from '../verbs/gate-staged.ts';
import type { Repository } from '../verbs/repository.ts';
import type { Judgement } from './judgement.ts';

/** What is staged holds, and no record is changed or deleted. */
export async function preCommit(repository: Repository): Promise<Judgement[]> {
  const findings = await judgeStaged(repository);
  const pass = findings.every(({ severity }) => severity !== 'error');
  return [{ ref: null, pass, reason: null, findings }];
}
