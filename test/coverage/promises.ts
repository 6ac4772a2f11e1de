import type { Account } from '../../src/core/writeback/account.ts';
import { assertCodeAlone } from './code-alone-promise.ts';
import type { Workplace } from './compare.ts';
import { edit, firstFiles } from './edits.ts';
import { type Change, judgeFast, passes, type Verdict } from './judge.ts';
import type { CourtName } from './lab.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import { assertRebasedAlike } from './rebase-promise.ts';
import type { Writer } from './writer.ts';

// What must hold however coverage is computed: none of it knows SPEC's steps.

/** A protected branch and a branch from it, all of it in one thought. */
interface Work {
  random: Random;
  writer: Writer;
  base: Oid;
  commits: Oid[];
  thought: Account;
  /** Where everything is to be had, unless said otherwise. */
  judge(change: Judged, court?: CourtName): Promise<Verdict>;
}

type Judged = Pick<Change, 'base' | 'head'> & Partial<Change>;

const NOBODY = { accounts: [], waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
const PLAIN = { isMerged: false, exempt: ['docs/'], ...NOBODY };

async function work(workplace: Workplace, seed: number, atLeast = 1): Promise<Work> {
  const { random, writer } = workplace.open(seed);
  const base = writer.commit(edit(random, firstFiles(random)).files, [writer.commit(firstFiles(random), [])]);
  const commits: Oid[] = [];
  for (let n = atLeast + random.below(3); n > 0; n--) commits.push(oneMore(random, writer, commits.at(-1) ?? base));
  const judge = (change: Judged, court: CourtName = 'plain') => {
    workplace.lab.keep([change.base, change.head]);
    return judgeFast(workplace.lab.courts[court], { ...PLAIN, ...change });
  };
  return { random, writer, base, commits, thought: await writer.thought(base, commits.at(-1)!), judge };
}

/** A mark makes each of them a change that nothing else makes. */
function oneMore(random: Random, writer: Writer, onto: Oid): Oid {
  return writer.commit(edit(random, writer.read(onto), `mark ${random.below(1e9)}`).files, [onto]);
}

function squash(writer: Writer, onto: Oid, theirs: Oid): Oid | null {
  const made = writer.merge(onto, theirs);
  return made && made.conflicts.length === 0 ? writer.commit(made.files, [onto]) : null;
}

/** As git does: who wrote it stays; what is there already is left out. Null where somebody has to decide. */
function rebase(writer: Writer, onto: Oid, commits: readonly Oid[]): Oid | null {
  let head = onto;
  for (const oid of commits) {
    const made = writer.pick(oid, head);
    if (!made || made.conflicts.length > 0) return null;
    const next = writer.commit(made.files, [head], writer.authorOf(oid));
    if (treeOf(writer, next) !== treeOf(writer, head)) head = next;
  }
  return head;
}

function mergeOf(writer: Writer, ours: Oid, theirs: Oid): Oid | null {
  const made = writer.merge(ours, theirs);
  return made && made.conflicts.length === 0 ? writer.commit(made.files, [ours, theirs]) : null;
}

function treeOf({ court }: Writer, oid: Oid): Oid {
  return court.objects.commit(oid)!.tree;
}

type Promised = (workplace: Workplace, seed: number) => Promise<void>;

/** By name, for `test.each`. */
export const PROMISES: readonly [string, Promised][] = [
  [
    'all of a branch in one thought passes as it is, merged, squashed and rebased',
    async (workplace, seed) => {
      const { writer, base, commits, thought, judge } = await work(workplace, seed);
      const tip = commits.at(-1)!;
      for (const head of [tip, mergeOf(writer, base, tip), squash(writer, base, tip), rebase(writer, base, commits)]) {
        assertPasses(await judge({ base, head: head!, accounts: [thought] }));
      }
    },
  ],
  [
    'what git squashes and rebases cleanly onto a branch that has moved passes',
    async (workplace, seed) => {
      const { random, writer, base: fork, commits, thought, judge } = await work(workplace, seed);
      const base = oneMore(random, writer, oneMore(random, writer, fork));
      const tip = commits.at(-1)!;
      const heads = [mergeOf(writer, base, tip), squash(writer, base, tip), rebase(writer, base, commits)];
      for (const head of heads.filter((each) => each !== null)) {
        assertPasses(await judge({ base, head, accounts: [thought] }));
      }
    },
  ],
  [
    'code that no thought has named does not pass beside code that one has',
    async (workplace, seed) => {
      const { random, writer, base, commits, thought, judge } = await work(workplace, seed);
      const tip = commits.at(-1)!;
      const rogue = oneMore(random, writer, tip);
      const before = oneMore(random, writer, base);
      const heads = [
        rogue,
        writer.commit(writer.read(rogue), [base, tip]),
        ...[mergeOf(writer, base, rogue), squash(writer, base, rogue), rebase(writer, base, [...commits, rogue])],
        ...[mergeOf(writer, before, tip), squash(writer, before, tip), rebase(writer, before, commits)],
      ];
      for (const head of someOf(random, heads))
        assertRefused(await judge({ base, head, ...dealt(random, thought) }, random.one(COURTS)));
    },
  ],
  [
    'half of what a thought is about does not pass',
    async (workplace, seed) => {
      const { random, writer, base, commits, thought, judge } = await work(workplace, seed, 2);
      const some = commits.slice(0, 1 + random.below(commits.length - 1));
      const left = random.below(commits.length);
      const others = commits.filter((_, at) => at !== left);
      const half = some.at(-1)!;
      const heads = [half, mergeOf(writer, base, half), squash(writer, base, half), rebase(writer, base, others)];
      for (const head of someOf(random, heads))
        assertOpen(await judge({ base, head, ...dealt(random, thought) }, random.one(COURTS)));
    },
  ],
  [
    'what was landed and taken back does not come back on its old thought',
    async (workplace, seed) => {
      const { random, writer, base, commits, thought, judge } = await work(workplace, seed);
      const tip = commits.at(-1)!;
      const landed = random.chance(0.5) ? squash(writer, base, tip)! : rebase(writer, base, commits)!;
      const reverted = writer.commit(writer.read(base), [landed]);
      const ofRevert = await writer.thought(landed, reverted);
      assertPasses(await judge({ base: landed, head: reverted, accounts: [ofRevert] }));
      const baseAccounts = [thought, ofRevert];
      const again = [mergeOf(writer, reverted, tip), squash(writer, reverted, tip), rebase(writer, reverted, commits)];
      for (const head of someOf(random, [...again, tip])) {
        assertOpen(await judge({ base: reverted, head, isMerged: true, baseAccounts }, random.one(COURTS)));
      }
    },
  ],
  ['what is no code does not change what becomes of code, whatever is merged with what', assertCodeAlone],
  ['a rebase is judged as though each of its picks was made', assertRebasedAlike],
];

const COURTS: readonly CourtName[] = ['plain', 'hostile', 'pruned'];

/** Two of them: all of them take long. */
function someOf(random: Random, heads: readonly (Oid | null)[]): Oid[] {
  return random.shuffled(heads.filter((head) => head !== null)).slice(0, 2);
}

/** A thought arrives, or is there already. */
function dealt(random: Random, thought: Account): Partial<Change> {
  return random.chance(0.6) ? { accounts: [thought] } : { baseAccounts: [thought] };
}

function assertPasses(verdict: Verdict): void {
  if (!passes(verdict)) throw new Error(`it should pass: ${JSON.stringify(verdict)}`);
}

function assertRefused(verdict: Verdict): void {
  if (passes(verdict)) throw new Error(`it should be refused: ${JSON.stringify(verdict)}`);
}

function assertOpen(verdict: Verdict): void {
  if (verdict.open.length === 0) throw new Error(`a commit should be open: ${JSON.stringify(verdict)}`);
}
