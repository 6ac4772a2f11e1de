import type { Account } from '../../src/core/writeback/account.ts';
import { editBeside } from './beside.ts';
import { applyEdit, edit, firstFiles, type LineEdit } from './edits.ts';
import type { Change } from './judge.ts';
import { land } from './landing.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import { resolved } from './resolving.ts';
import type { Writer } from './writer.ts';

/** One change to the protected branch, and what was done for it. */
export interface Step extends Change {
  /** What kinds of history there are in it. */
  kinds: ReadonlySet<string>;
  /** Something is in it that no thought and no waiver has ever named. */
  isRogue: boolean;
}

/** Somebody's work, before it is landed. */
export interface Branch {
  /** Where it left the protected branch. */
  fork: Oid;
  /** In the order they were made, merges too. */
  commits: Oid[];
  /** How each of them can be made elsewhere. */
  edits: ReadonlyMap<Oid, LineEdit>;
  /** The thoughts about it. */
  thoughts: Account[];
}

/** What is being made. */
export interface Making {
  random: Random;
  writer: Writer;
  /** The protected branch, its older states first. */
  main: Oid[];
  /** What has landed: commits of the protected branch that can be taken back. */
  landed: Oid[];
  branches: Branch[];
  /** What the protected branch has. */
  thoughts: Account[];
  waived: Set<Oid>;
  /** Of the step that is being made. */
  kinds: Set<string>;
}

export interface Landing {
  head: Oid;
  /** What has come: can be taken back later. */
  landed: Oid[];
  /** Thoughts that come with it, also those that were made for it. */
  thoughts: Account[];
  isRogue?: boolean;
}

/** A protected branch and up to three changes to it, one after the other. */
export async function makeHistory(random: Random, writer: Writer): Promise<Step[]> {
  const making: Making = {
    random,
    writer,
    main: [],
    landed: [],
    branches: [],
    thoughts: [],
    waived: new Set(),
    kinds: new Set(),
  };
  let files = firstFiles(random);
  making.main.push(writer.commit(files, []));
  for (let n = random.below(4); n > 0; n--) {
    files = edit(random, files).files;
    making.main.push(writer.commit(files, [tip(making)]));
  }
  const steps: Step[] = [];
  for (let n = 1 + random.below(3); n > 0; n--) steps.push(await makeStep(making));
  return steps;
}

export function tip({ main }: Making): Oid {
  return main.at(-1)!;
}

async function makeStep(making: Making): Promise<Step> {
  const { random, writer } = making;
  making.kinds = new Set();
  const base = tip(making);
  const action = random.one(ACTIONS);
  const landing = await action(making);
  const { accounts, older } = deal(making, landing.thoughts);
  const waived = random.chance(0.1) ? [random.one(landing.landed.length > 0 ? landing.landed : [landing.head])] : [];
  if (waived.length > 0) making.kinds.add('waiver');
  const isOldWaiver = random.chance(0.4);
  const step: Step = {
    base,
    head: landing.head,
    isMerged: random.chance(0.7),
    accounts,
    waived: new Set(isOldWaiver ? [] : waived),
    baseAccounts: [...making.thoughts, ...older],
    baseWaived: new Set([...making.waived, ...(isOldWaiver ? waived : [])]),
    exempt: [random.one(['docs/', 'docs'])],
    kinds: making.kinds,
    isRogue: (landing.isRogue ?? false) && waived.length === 0,
  };
  making.thoughts.push(...accounts, ...older);
  for (const oid of waived) making.waived.add(oid);
  making.landed.push(...landing.landed);
  making.main.push(afterwards(writer, random, base, landing.head));
  return step;
}

/** What was to be merged, is merged now. */
function afterwards(writer: Writer, random: Random, base: Oid, head: Oid): Oid {
  const mergeBase = writer.mergeBase(base, head);
  if (mergeBase === base) return head;
  const made = writer.merge(base, head);
  return made ? writer.commit(resolved(random, writer, made, base, head), [base, head]) : head;
}

/** Most thoughts arrive; some are there already, and some were forgotten. */
function deal({ random, kinds }: Making, thoughts: readonly Account[]): { accounts: Account[]; older: Account[] } {
  const accounts: Account[] = [];
  const older: Account[] = [];
  for (const thought of thoughts) {
    if (random.chance(0.88)) accounts.push(thought);
    else if (random.chance(0.6)) older.push(thought);
    else kinds.add('forgotten thought');
  }
  if (older.length > 0) kinds.add('thought of the base');
  return { accounts, older };
}

type Action = (making: Making) => Promise<Landing>;

async function landNew(making: Making): Promise<Landing> {
  const branch = await develop(making);
  making.branches.push(branch);
  return finish(making, await land(making, branch));
}

/** A branch that has landed before, or was to, comes again. */
async function landAgain(making: Making): Promise<Landing> {
  const { random, branches, kinds, writer } = making;
  if (branches.length === 0) return landNew(making);
  const branch = random.one(branches);
  kinds.add('again');
  const landing = await land(making, branch);
  if (!random.chance(0.3)) return finish(making, { ...landing, thoughts: [] });
  const since = writer.mergeBase(tip(making), branch.commits.at(-1)!);
  return finish(making, { ...landing, thoughts: [await writer.thought(since, branch.commits.at(-1)!)] });
}

/** A commit of the protected branch is taken back; or what was taken back comes back so. */
async function revert(making: Making): Promise<Landing> {
  const { random, writer, landed, kinds } = making;
  if (landed.length === 0) return landNew(making);
  const base = tip(making);
  const oid = random.chance(0.5) ? landed.at(-1)! : random.one(landed);
  const made = writer.pick(oid, base, true);
  if (!made) return landNew(making);
  kinds.add('revert');
  const head = writer.commit(resolved(random, writer, made, base, oid), [base]);
  const thoughts = random.chance(0.6) ? [await writer.thought(base, head)] : [];
  return finish(making, { head, landed: [head], thoughts });
}

const ACTIONS: readonly Action[] = [landNew, landNew, landNew, landAgain, revert, revert];

/** Now and then somebody adds something that nobody accounts for. */
function finish(making: Making, landing: Landing): Landing {
  const { random, writer, kinds } = making;
  if (!random.chance(0.08)) return landing;
  kinds.add('rogue commit');
  const mark = `rogue ${landing.head.slice(0, 12)}`;
  const head = writer.commit(edit(random, writer.read(landing.head), mark).files, [landing.head]);
  return { ...landing, head, isRogue: true };
}

/** One to four commits, with merges of the protected branch among them. */
async function develop(making: Making): Promise<Branch> {
  const { random, writer, main, kinds } = making;
  const fork = main[Math.max(0, main.length - 1 - random.below(3))]!;
  if (fork !== tip(making)) kinds.add('main has moved');
  const branch = { fork, commits: [] as Oid[], edits: new Map<Oid, LineEdit>(), thoughts: [] as Account[] };
  const head = (): Oid => branch.commits.at(-1) ?? fork;
  for (let n = 1 + random.below(4); n > 0; n--) {
    if (branch.commits.length > 0 && random.chance(0.15)) mergeMain(making, branch.commits, fork);
    if (random.chance(0.15)) weave(making, branch.commits, head());
    const edited = edit(random, writer.read(head()));
    kinds.add(edited.kind);
    const oid = writer.commit(edited.files, [head()]);
    if (edited.edit) branch.edits.set(oid, edited.edit);
    branch.commits.push(oid);
    const isLast = n === 1;
    if (random.chance(isLast ? 0.85 : 0.25)) branch.thoughts.push(await thoughtAt(making, oid));
  }
  return branch;
}

async function thoughtAt(making: Making, oid: Oid): Promise<Account> {
  const { random, writer } = making;
  return writer.thought(writer.mergeBase(random.one([tip(making), tip(making), making.main[0]!]), oid), oid);
}

function mergeMain({ random, writer, main, kinds }: Making, commits: Oid[], fork: Oid): void {
  const from = main.slice(main.indexOf(fork) + 1);
  if (from.length === 0) return;
  const [ours, theirs] = [commits.at(-1)!, random.one(from)];
  const made = writer.merge(ours, theirs);
  if (!made) return;
  kinds.add(made.conflicts.length > 0 ? 'merge of main with a conflict' : 'merge of main');
  commits.push(writer.commit(resolved(random, writer, made, ours, theirs), [ours, theirs]));
}

/** Two sides that have met twice: of what they have in common neither is the newer. */
function weave({ random, writer, kinds }: Making, commits: Oid[], from: Oid): void {
  const oneMore = (onto: Oid): Oid => {
    const edited = (random.chance(0.7) ? editBeside : edit)(random, writer.read(onto));
    kinds.add(edited.kind);
    return writer.commit(edited.files, [onto]);
  };
  const join = (ours: Oid, theirs: Oid): Oid => {
    const made = writer.merge(ours, theirs);
    return made ? writer.commit(resolved(random, writer, made, ours, theirs), [ours, theirs]) : oneMore(ours);
  };
  const [one, two] = [oneMore(from), oneMore(oneMore(from))];
  const [left, right] = [oneMore(join(one, two)), oneMore(join(two, one))];
  commits.push(join(left, right));
  kinds.add('criss-cross');
}

/** The same change of lines where the file looks the same: another change. Null where it does not. */
export function elsewhere({ writer }: Making, made: LineEdit, onto: Oid, by: number): Oid | null {
  const files = applyEdit(writer.read(onto), { ...made, at: made.at + by });
  return files && writer.commit(files, [onto]);
}
