import type { Repository } from '../verbs/repository.ts';
import { trackingCommits } from '../verbs/tracking.ts';
import { type HookCall, type Judgement, judge, linesOf, passed } from './judgement.ts';
import { protects } from './protected.ts';

/** What arrives on a protected branch from elsewhere. The shell has passed what is ordinary, and found the old values. */
export async function referenceTransaction(
  repository: Repository,
  { args, readInput }: HookCall,
): Promise<Judgement[]> {
  if (args[0] !== 'prepared') return [];
  const judged: Judgement[] = [];
  for (const line of linesOf(await readInput())) {
    const [base = '', head = '', ref = ''] = line.split(' ');
    if (!(await protects(repository, base, ref))) judged.push(passed(ref));
    else judged.push(await judge(repository, ref, { base, head, known: await trackingCommits(repository, ref) }));
  }
  return judged;
}
