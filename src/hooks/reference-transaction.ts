import { withoutOtherSide } from '../audit/delta/other-side.ts';
import { hasErrors } from '../core/error.ts';
import type { Oid } from '../git/objects/store.ts';
import { readGit } from '../git/run.ts';
import type { GitAccess } from '../repository/parts.ts';
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
    judged.push(await judgeMove(repository, { base, head, ref }));
  }
  return judged;
}

interface Move {
  base: Oid;
  head: Oid;
  ref: string;
}

async function judgeMove(repository: Repository, move: Move): Promise<Judgement> {
  const { base, head, ref } = move;
  if (!(await protects(repository, base, ref))) return passed(ref);
  const compared = await comparison(repository, base, head, ref);
  if (compared.base !== base && (await areOwn(repository, move, compared.base))) return passed(ref, OWN);
  return withoutArrived(repository, await judge(repository, ref, compared), compared);
}

/** After a `git pull` that merges: where both sides had a next version of a document, the result is the remote's, which was judged there. */
async function withoutArrived(repository: GitAccess, judged: Judgement, move: Comparison): Promise<Judgement> {
  let { findings } = judged;
  for (const other of findings.length > 0 ? move.knownCommits : [])
    if (await arrives(repository, other, move))
      findings = await withoutOtherSide(repository.store, findings, { tree: move.head, own: move.base, other });
  return { ...judged, findings, pass: judged.pass || !hasErrors(findings) };
}

async function arrives({ store }: GitAccess, commit: Oid, { base, head }: Comparison): Promise<boolean> {
  return (await store.isAncestor(commit, head)) && !(await store.isAncestor(commit, base));
}

const OWN = 'its own commits were put on top of what the remote has, and the push judges them';

/** No more commits than the branch alone had: `git pull --rebase` brings nothing from elsewhere that nobody has judged. */
async function areOwn({ git }: GitAccess, { base, head }: Move, tip: Oid): Promise<boolean> {
  const count = async (commit: Oid): Promise<number> =>
    Number(await readGit(git, ['rev-list', '--count', commit, '--not', tip, '--']));
  return (await count(head)) <= (await count(base));
}

interface Comparison {
  base: Oid;
  head: Oid;
  knownCommits: Oid[];
}

/** What a rebase puts on top of the remote's branch is judged as its push will be: it takes the place of what this clone alone had. */
async function comparison(repository: GitAccess, base: Oid, head: Oid, ref: string): Promise<Comparison> {
  const { store } = repository;
  const knownCommits = await trackingCommits(repository, ref);
  if (await store.isAncestor(base, head)) return { base, head, knownCommits };
  for (const tip of knownCommits)
    if (await store.isAncestor(tip, head))
      return { base: tip, head, knownCommits: knownCommits.filter((oid) => oid !== tip) };
  return { base, head, knownCommits };
}
