import type { Oid } from '../git/objects/store.ts';
import type { Repository } from '../repository/repository.ts';
import { trackingCommits } from '../repository/tracking.ts';
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
    else judged.push(await judge(repository, ref, await comparison(repository, base, head, ref)));
  }
  return judged;
}

interface Comparison {
  base: Oid;
  head: Oid;
  known: Oid[];
}

/** What a rebase puts on top of the remote's branch is judged as its push will be: it takes the place of what this clone alone had. */
async function comparison(repository: Repository, base: Oid, head: Oid, ref: string): Promise<Comparison> {
  const { store } = repository;
  const known = await trackingCommits(repository, ref);
  if (await store.isAncestor(base, head)) return { base, head, known };
  for (const tip of known)
    if (await store.isAncestor(tip, head)) return { base: tip, head, known: known.filter((oid) => oid !== tip) };
  return { base, head, known };
}
