import type { Account } from '../../src/core/writeback/account.ts';
import { isBeside } from './beside.ts';
import type { Workplace } from './compare.ts';
import { FILE, type Text, type Texts } from './edits.ts';
import { type Change, judgeFast, passes } from './judge.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import type { Writer } from './writer.ts';

/** A commit, and the same where nobody ever wrote anything that is no code. */
interface Twin {
  whole: Oid;
  code: Oid;
  /** Where code alone asks for a decision that nobody has made. */
  isUndecided: boolean;
  /** Whether git has left nothing of it to decide. */
  isClean: boolean;
}

/**
 * Somebody without a key adds, edits and removes copies of code, and merges whatever there is, as git merges it. If that passes,
 * the code is what it would have been without these copies.
 */
export async function assertCodeAlone(workplace: Workplace, seed: number): Promise<void> {
  for (let n = 0; n < GRAPHS; n++) await assertOnce(workplace, seed * GRAPHS + n);
}

const GRAPHS = 6;

async function assertOnce({ lab, open }: Workplace, seed: number): Promise<void> {
  const { random, writer } = open(seed);
  const world = openWorld(random, writer);
  const { main, accounts } = await beginning(world);
  const pool = [...main, ...accounts.map(({ twin }) => twin)];
  for (let n = 5 + random.below(6); n > 0; n--) pool.push(random.chance(0.6) ? beside(world, pool) : join(world, pool));
  const [tip, last] = [main.at(-1)!, pool.at(-1)!];
  const head = mergeTwins(world, tip, last);
  if (!head) return;
  const none = { waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
  const thoughts = accounts.map(({ thought }) => thought);
  const change = { ...none, base: tip.whole, head: head.whole, isMerged: false, accounts: thoughts, exempt: ['docs/'] };
  const isPassed = async (more: Partial<Change> = {}) =>
    passes(await judgeFast(lab.courts.plain, { ...change, ...more }));
  // merged and judged; or judged, and then merged by a forge, which merges nothing that is in conflict
  const isTaken = (await isPassed()) || (head.isClean && (await isPassed({ head: last.whole, isMerged: true })));
  if (!isTaken) return;
  if (head.isUndecided) throw new Error(`nobody has decided what ${head.whole} has`);
  const [found, expected] = [head.whole, head.code].map((oid) => textOf(writer, oid));
  if (found !== expected) throw new Error(`${head.whole} has other code than ${head.code}`);
}

interface World {
  random: Random;
  writer: Writer;
  write(files: Texts, parents: readonly Twin[]): Twin;
}

function openWorld(random: Random, writer: Writer): World {
  const write: World['write'] = (files, parents) => ({
    whole: writer.commit(
      files,
      parents.map(({ whole }) => whole),
    ),
    code: writer.commit(
      codeIn(files),
      parents.map(({ code }) => code),
    ),
    isUndecided: parents.some(({ isUndecided }) => isUndecided),
    isClean: true,
  });
  return { random, writer, write };
}

interface Accounted {
  twin: Twin;
  thought: Account;
}

const APP = Array.from({ length: 30 }, (_, n) => `line ${n}`);

function app(changes: Record<number, string> = {}): Text {
  return { mode: FILE, text: `${APP.map((line, n) => changes[n] ?? line).join('\n')}\n` };
}

const EMPTY: Texts = new Map([['other.txt', { mode: FILE, text: 'other\n' }]]);

function having(path: string, text: Text): Texts {
  return new Map([...EMPTY, [path, text]]);
}

/** A protected branch, on which a file comes, may go and come back, and is fixed; and branches from it with a thought for each. */
async function beginning(world: World): Promise<{ main: Twin[]; accounts: Accounted[] }> {
  const { random, writer, write } = world;
  const main = [write(EMPTY, [])];
  const goOn = (files: Texts): void => void main.push(write(files, [main.at(-1)!]));
  goOn(having('app.txt', app()));
  if (random.chance(0.5)) for (const files of [EMPTY, having('app.txt', app())]) goOn(files);
  const forks = [...main];
  if (random.chance(0.6)) goOn(having('app.txt', app({ 5: 'fixed' })));
  const accounts: Accounted[] = [];
  for (let n = random.below(3); n > 0; n--) {
    const from = random.one(forks.slice(1));
    const twin = write(random.one(WORK), [from]);
    accounts.push({ twin, thought: await writer.thought(from.whole, twin.whole) });
  }
  return { main, accounts };
}

/** What a branch does: it moves the file and changes it, removes it, or changes it. */
const WORK: readonly Texts[] = [
  having('core.txt', app({ 20: 'new 20', 21: 'new 21' })),
  having('core.txt', app({ 20: 'new 20', 21: 'new 21' })),
  EMPTY,
  having('app.txt', app({ 28: 'new 28' })),
];

/** A copy of what the file once was comes, is changed, or goes. */
function beside({ random, writer }: World, pool: readonly Twin[]): Twin {
  const from = random.chance(0.5) ? pool.at(-1)! : random.one(pool);
  const files = writer.read(from.whole);
  const copy = [...files.keys()].find(isBeside);
  const next = new Map(files);
  if (copy === undefined) next.set(random.one(['docs/copy.md', '.handoff/copy']), app());
  else if (random.chance(0.5)) next.delete(copy);
  else next.set(copy, app({ 12: `beside ${random.below(1000)}` }));
  return { ...from, whole: writer.commit(next, [from.whole]) };
}

function join(world: World, pool: readonly Twin[]): Twin {
  const { random } = world;
  const one = random.chance(0.6) ? pool.at(-1)! : random.one(pool);
  return mergeTwins(world, one, random.one(pool)) ?? one;
}

/** As git writes it, conflicts with their marks. Null where it makes none. */
function mergeTwins({ writer }: World, ours: Twin, theirs: Twin): Twin | null {
  const made = writer.merge(ours.whole, theirs.whole);
  const again = writer.merge(ours.code, theirs.code);
  if (!made || !again) return null;
  return {
    whole: writer.commit(made.files, [ours.whole, theirs.whole]),
    code: writer.commit(again.files, [ours.code, theirs.code]),
    isUndecided: ours.isUndecided || theirs.isUndecided || again.conflicts.length > 0,
    isClean: made.conflicts.length === 0,
  };
}

function codeIn(files: Texts): Texts {
  return new Map([...files].filter(([path]) => !isBeside(path)));
}

function textOf(writer: Writer, oid: Oid): string {
  return JSON.stringify([...codeIn(writer.read(oid))].sort());
}
