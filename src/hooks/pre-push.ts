import { isNullOid } from '../git/objects/asked-name.ts';
import type { GitAccess } from '../repository/parts.ts';
import type { Repository } from '../repository/repository.ts';
import { trackingCommits } from '../repository/tracking.ts';
import { type HookCall, type Judgement, judge, linesOf, passed, refused } from './judgement.ts';
import { protects } from './protected.ts';

/** What a push would do to one ref of the remote. */
interface Push {
  local: string;
  ref: string;
  remote: string;
}

export async function prePush(repository: Repository, { args, readInput }: HookCall): Promise<Judgement[]> {
  const judged: Judgement[] = [];
  for (const line of linesOf(await readInput())) judged.push(await judgePush(repository, args[0] ?? '', parse(line)));
  return judged;
}

/** Only the first of the four words can have spaces. */
function parse(line: string): Push {
  const [, local = '', ref = '', remote = ''] = /^.* (\S+) (\S+) (\S+)$/.exec(line) ?? [];
  return { local, ref, remote };
}

async function judgePush(repository: Repository, name: string, { local, ref, remote }: Push): Promise<Judgement> {
  if (!ref.startsWith('refs/heads/')) return passed(ref);
  const tracking = isRemote(name) ? await trackingCommits(repository, ref, name) : [];
  const isHere = !isNullOid(remote) && (await repository.store.has(remote));
  const base = isHere ? remote : (tracking[0] ?? (await otherBase(repository, name, ref)));
  const decides = base ?? (isNullOid(local) ? await repository.store.resolve('HEAD') : local);
  if (decides === null || !(await protects(repository, decides, ref))) return passed(ref);
  if (isNullOid(local)) return refused(ref, 'it is protected, and cannot be deleted');
  if (base === null) {
    repository.warn(`${ref} is new there, and there is nothing to compare it with: the server judges it.`);
    return passed(ref, 'there is nothing to compare it with');
  }
  return judge(repository, ref, { base, head: local });
}

/** Git names an address where no remote has it; what could be a pattern of refs is not asked for. */
function isRemote(name: string): boolean {
  return /^[\w.-]+$/.test(name);
}

/** A protected branch that is new is judged against another one of the same remote. */
async function otherBase(repository: GitAccess, name: string, ref: string): Promise<string | null> {
  for (const branch of ['HEAD', 'main', 'master', 'trunk']) {
    const [commit] = isRemote(name) ? await trackingCommits(repository, branch, name) : [];
    if (commit && (await protects(repository, commit, ref))) return commit;
  }
  return null;
}
