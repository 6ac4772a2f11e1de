import { HandoffError, hasErrors } from '../core/error.ts';
import { ROOT } from '../core/paths.ts';
import { takePending } from '../journal/commits/take-pending.ts';
import type { Directories, GitAccess, Messages, Settings } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { stagedTree } from '../repository/staged-tree.ts';
import type { Judgement } from './judgement.ts';
import { judgeStaged } from './staged-records.ts';

/** Makes sure that what is staged is valid, and that no record is changed or deleted. Then adds the pending records to the commit. */
export async function preCommit(repository: Repository): Promise<Judgement[]> {
  const findings = (await isChanged(repository)) ? await judgeStaged(repository) : [];
  const pass = !hasErrors(findings);
  if (pass) await takePending(repository).catch(notRefused(repository));
  return [{ ref: null, pass, reason: null, findings, advisory: false }];
}

/** If nothing in `.handoff` is staged, HEAD is not judged again: a commit of code must not wait for that. */
async function isChanged(repository: GitAccess & Directories & Settings): Promise<boolean> {
  const { store } = repository;
  const staged = await stagedTree(repository);
  const [before, now] = await Promise.all(['HEAD', staged].map((rev) => store.resolve(`${rev}:${ROOT}`)));
  return before !== now;
}

/** The records stay where they are, and go with a later commit. */
function notRefused(repository: Messages): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof HandoffError)) throw error;
    repository.warn(`The records that are waiting do not go with this commit: ${error.message}`);
  };
}
