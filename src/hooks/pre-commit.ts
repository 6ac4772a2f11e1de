import type { Repository } from '../verbs/repository.ts';
import { verify } from '../verbs/verify.ts';
import type { Judgement } from './judgement.ts';

/** What is staged holds, and no record is changed or deleted. */
export async function preCommit(repository: Repository): Promise<Judgement[]> {
  const { valid, findings } = await verify(repository, { staged: true });
  return [{ ref: null, pass: valid, reason: null, findings }];
}
