import { openTree } from '../audit/tree-source.ts';
import { hasPolicy } from '../audit/trust.ts';
import { asHandoffError } from '../core/error.ts';
import { readGit } from '../git/run.ts';
import { isNullOid, isOid, type Oid } from '../git/store.ts';
import { followRef, readRefFile } from '../git/symbolic-ref.ts';
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
  const trunk = await findTrunk(repository);
  const judged: Judgement[] = [];
  for (const update of updates) judged.push(await judgeUpdate(repository, trunk, update));
  return judged;
}

function parse(line: string): Update {
  const [old = '', now = '', ref = ''] = line.split(' ');
  return { old, now, ref };
}

/** What decides where a ref itself has no policy. */
interface Trunk {
  /** The branch that HEAD names, whether it is there or not. */
  head: string | null;
  commit: Oid | null;
  hasPolicy: boolean;
}

async function judgeUpdate(repository: Repository, trunk: Trunk, update: Update): Promise<Judgement> {
  const { now, ref } = update;
  try {
    const led = { ...update, ref: followRef(repository.dirs, ref) }; // git writes to where a symbolic ref leads
    if ([ref, led.ref].some((name) => name.startsWith('refs/replace/')))
      return refused(ref, 'it would show others other objects than those that were signed');
    if (!(await isProtected(repository, trunk, led))) return passed(ref);
    if (isNullOid(now)) return refused(ref, 'it is protected, and cannot be deleted');
    return await judge(repository, ref, { base: await baseOf(repository, trunk, update), head: now });
  } catch (error) {
    const { message, hint = '' } = asHandoffError(error);
    return refused(ref, `it could not be judged: ${message} ${hint}`.trimEnd()); // the others are judged all the same
  }
}

/** By the policy it has, or by the trunk's. Where there is none, whoever brings the first is judged. */
async function isProtected(repository: Repository, trunk: Trunk, { old, now, ref }: Update): Promise<boolean> {
  if (trunk.hasPolicy && ref === trunk.head) return true; // whatever it becomes decides from then on
  const known = [old, trunk.commit].filter((oid) => oid !== null && !isNullOid(oid)) as Oid[];
  for (const commit of known) if (await protects(repository, commit, ref)) return true;
  for (const commit of known) if (await policyAt(repository, commit)) return false;
  if (isNullOid(now)) return false;
  return ref === trunk.head || (ref.startsWith('refs/heads/') && protects(repository, now, ref));
}

/** A branch that is new, or has no policy to hold a change to, is held to the trunk's. */
async function baseOf(repository: Repository, trunk: Trunk, { old }: Update): Promise<Oid> {
  if (isNullOid(old)) return trunk.commit ?? old;
  return trunk.hasPolicy && !(await policyAt(repository, old)) ? trunk.commit! : old;
}

/** Servers are set up with a HEAD that nobody pushes to: then the usual names. One that has a policy goes before one that has none. */
async function findTrunk(repository: Repository): Promise<Trunk> {
  const text = readRefFile(repository.dirs, 'HEAD');
  const head = text !== null && isOid(text) ? null : followRef(repository.dirs, 'HEAD');
  const commits = await commitsAt(repository, [...(head === null ? [] : [head]), ...USUAL]);
  if (head === null) commits.unshift(text!);
  for (const commit of commits) if (await policyAt(repository, commit)) return { head, commit, hasPolicy: true };
  return { head, commit: commits[0] ?? null, hasPolicy: false };
}

const USUAL = ['refs/heads/main', 'refs/heads/master'];

/** By their full names alone: where there is no such branch, git would take a tag of that name for it. */
async function commitsAt({ git }: Repository, refs: readonly string[]): Promise<Oid[]> {
  const out = await readGit(git, ['for-each-ref', '--format=%(objectname) %(refname)', ...refs]);
  const lines = out.toString('utf8').split('\n');
  return refs.flatMap((ref) => lines.filter((line) => line.endsWith(` ${ref}`)).map((line) => line.split(' ')[0]!));
}

async function policyAt({ store }: Repository, commit: Oid): Promise<boolean> {
  return hasPolicy(await openTree(store, commit));
}
