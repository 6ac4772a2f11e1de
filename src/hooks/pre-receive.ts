import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTree } from '../audit/tree-source.ts';
import { hasPolicy } from '../audit/trust.ts';
import { asHandoffError } from '../core/error.ts';
import { isNullOid } from '../git/store.ts';
import type { Repository } from '../verbs/repository.ts';
import { type HookCall, type Judgement, judge, linesOf, passed, refused } from './judgement.ts';
import { protects } from './protected.ts';

interface Update {
  old: string;
  now: string;
  ref: string;
}

/** Everything that is pushed at once. All of it is judged, so that whoever pushes sees all there is to mend. */
export async function preReceive(repository: Repository, { readInput, env }: HookCall): Promise<Judgement[]> {
  const updates = linesOf(await readInput()).map(parse);
  if (env.GIT_SHALLOW_FILE)
    return updates.map(({ ref }) => refused(ref, 'it comes from a shallow clone; run git fetch --unshallow there'));
  const trunk = await trunkCommit(repository);
  const judged: Judgement[] = [];
  for (const update of updates) judged.push(await judgeUpdate(repository, trunk, update));
  return judged;
}

function parse(line: string): Update {
  const [old = '', now = '', ref = ''] = line.split(' ');
  return { old, now, ref };
}

async function judgeUpdate(repository: Repository, trunk: string | null, update: Update): Promise<Judgement> {
  const { old, now, ref } = update;
  if (ref.startsWith('refs/replace/'))
    return refused(ref, 'it would show others other objects than those that were signed');
  try {
    if (!(await isProtected(repository, trunk, update))) return passed(ref);
    if (isNullOid(now)) return refused(ref, 'it is protected, and cannot be deleted');
    return await judge(repository, ref, { base: isNullOid(old) ? (trunk ?? old) : old, head: now });
  } catch (error) {
    const { message, hint = '' } = asHandoffError(error);
    return refused(ref, `it could not be judged: ${message} ${hint}`.trimEnd()); // the others are judged all the same
  }
}

/** By the policy it has, or by the one of the branch that HEAD names. Where there is none, whoever brings the first is judged. */
async function isProtected(repository: Repository, trunk: string | null, { old, now, ref }: Update): Promise<boolean> {
  const known = [...(isNullOid(old) ? [] : [old]), ...(trunk === null ? [] : [trunk])];
  for (const commit of known) if (await protects(repository, commit, ref)) return true;
  for (const commit of known) if (await hasPolicy(await openTree(repository.store, commit))) return false;
  if (isNullOid(now)) return false;
  return ref === headRef(repository) || (ref.startsWith('refs/heads/') && protects(repository, now, ref));
}

/** Servers are set up with a HEAD that nobody pushes to: then the usual names. */
async function trunkCommit({ store }: Repository): Promise<string | null> {
  for (const name of ['HEAD', 'refs/heads/main', 'refs/heads/master']) {
    const oid = await store.resolve(name);
    if (oid !== null) return oid;
  }
  return null;
}

function headRef({ dirs }: Repository): string | null {
  return /^ref: (\S+)/.exec(readFileSync(join(dirs.gitDir, 'HEAD'), 'utf8'))?.[1] ?? null;
}
