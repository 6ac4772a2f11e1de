import type { Account } from '../../src/core/writeback/account.ts';
import { edit } from './edits.ts';
import { type Branch, elsewhere, type Landing, type Making, tip } from './history.ts';
import type { Oid } from './objects.ts';
import { resolved } from './resolving.ts';

/** Brings a branch to the protected one, in one of the ways in which people do it. */
export async function land(making: Making, branch: Branch): Promise<Landing> {
  const { random, kinds } = making;
  const [name, way] = random.one(WAYS);
  const landing = await way(making, branch);
  if (landing) kinds.add(name);
  return landing ?? asItIs(making, branch);
}

type Way = (making: Making, branch: Branch) => Promise<Landing | null> | Landing | null;

const WAYS: readonly (readonly [string, Way])[] = [
  ['as it is', asItIs],
  ['merge', merge],
  ['merge', merge],
  ['squash', squash],
  ['squash', squash],
  ['rebase', (making, branch) => picks(making, branch.commits, branch)],
  ['rebase', (making, branch) => picks(making, branch.commits, branch)],
  ['pick in another order', (making, branch) => picks(making, making.random.shuffled(branch.commits), branch)],
  ['partial pick', partial],
  ['half', half],
  ['half', half],
  ['the same patch elsewhere', samePatch],
];

const headOf = ({ commits }: Branch): Oid => commits.at(-1)!;

/** A fast forward, or what is yet to be merged. */
function asItIs(_: Making, branch: Branch): Landing {
  return { head: headOf(branch), landed: branch.commits, thoughts: branch.thoughts };
}

async function merge(making: Making, branch: Branch): Promise<Landing | null> {
  const { random, writer, kinds } = making;
  const [ours, theirs] = [tip(making), headOf(branch)];
  const made = writer.merge(ours, theirs);
  if (!made) return null;
  if (made.conflicts.length > 0) kinds.add('conflict');
  const isEvil = random.chance(0.1);
  const files = resolved(random, writer, made, ours, theirs);
  if (isEvil) kinds.add('evil merge');
  const head = writer.commit(isEvil ? edit(random, files, `evil ${ours}`).files : files, [ours, theirs]);
  const isAccounted = random.chance(made.conflicts.length > 0 ? 0.6 : 0.1);
  const thoughts = isAccounted ? [...branch.thoughts, await writer.thought(ours, head)] : branch.thoughts;
  return { head, landed: branch.commits, thoughts, isRogue: isEvil && !isAccounted };
}

function squash(making: Making, branch: Branch): Landing | null {
  return squashOf(making, headOf(branch), branch.thoughts);
}

function squashOf({ random, writer, kinds, main }: Making, theirs: Oid, thoughts: Account[]): Landing | null {
  const ours = main.at(-1)!;
  const made = writer.merge(ours, theirs);
  if (!made) return null;
  if (made.conflicts.length > 0) kinds.add('conflict');
  const head = writer.commit(resolved(random, writer, made, ours, theirs), [ours]);
  return { head, landed: [head], thoughts };
}

/** Each commit made again on the protected branch. Who wrote it is mostly kept. */
function picks(making: Making, commits: readonly Oid[], { thoughts }: Branch): Landing | null {
  const { random, writer, kinds } = making;
  const landed: Oid[] = [];
  let head = tip(making);
  for (const oid of commits) {
    const made = isSingle(making, oid) ? writer.pick(oid, head) : null;
    if (!made) continue;
    if (made.conflicts.length > 0) kinds.add('conflict');
    const files = resolved(random, writer, made, head, oid);
    const isAmended = random.chance(0.06);
    if (isAmended) kinds.add('amended pick');
    const author = random.chance(0.85) ? writer.authorOf(oid) : undefined;
    head = writer.commit(isAmended ? edit(random, files).files : files, [head], author);
    landed.push(head);
  }
  return landed.length > 0 ? { head, landed, thoughts } : null;
}

function isSingle({ writer }: Making, oid: Oid): boolean {
  return writer.court.objects.commit(oid)!.parents.length === 1;
}

function partial(making: Making, branch: Branch): Landing | null {
  const { random } = making;
  if (branch.commits.length < 2) return null;
  const left = random.below(branch.commits.length);
  return picks(
    making,
    branch.commits.filter((_, at) => at !== left),
    branch,
  );
}

/** What a branch had before its end. */
function half(making: Making, branch: Branch): Landing | null {
  const { random } = making;
  const { commits, thoughts } = branch;
  if (commits.length < 2) return null;
  const some = commits.slice(0, 1 + random.below(commits.length - 1));
  const way = random.below(3);
  if (way === 0) return squashOf(making, some.at(-1)!, thoughts);
  if (way === 1) return { head: some.at(-1)!, landed: some, thoughts };
  const rest = picks({ ...making, main: [some.at(-1)!] }, commits.slice(some.length), branch); // the first as they were, the others anew
  return rest && { ...rest, landed: [...some, ...rest.landed] };
}

/** The lines of a branch's commit, changed where they stand once more. */
function samePatch(making: Making, branch: Branch): Landing | null {
  const { random } = making;
  const oid = branch.commits.find((each) => branch.edits.has(each));
  if (!oid) return null;
  const by = random.one([-9, -8, -7, 7, 8, 9, 14, 16, 18]);
  const head = elsewhere(making, branch.edits.get(oid)!, tip(making), by);
  return head === null ? null : { head, landed: [head], thoughts: branch.thoughts };
}
