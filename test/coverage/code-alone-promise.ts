import type { Account } from '../../src/core/writeback/account.ts';
import { editBeside, isBeside } from './beside.ts';
import type { Workplace } from './compare.ts';
import { edit, firstFiles, type Texts } from './edits.ts';
import { judgeFast, passes } from './judge.ts';
import type { Oid } from './objects.ts';
import type { Random } from './random.ts';
import type { Writer } from './writer.ts';

/** A commit, and the same where nobody ever wrote anything that is no code. */
interface Twin {
  whole: Oid;
  code: Oid;
  /** Where code alone asks for a decision that nobody has made. */
  isUndecided: boolean;
}

/**
 * Somebody without a key adds, edits and removes copies of code, and merges whatever there is, as git merges it. If that passes,
 * the code is what it would have been without these copies.
 */
export async function assertCodeAlone({ lab, open }: Workplace, seed: number): Promise<void> {
  const { random, writer } = open(seed);
  const world = openWorld(random, writer);
  const { main, accounts } = await beginning(world);
  const pool = [...main, ...accounts.map(({ twin }) => twin)];
  for (let n = 6 + random.below(6); n > 0; n--) pool.push(random.chance(0.5) ? beside(world, pool) : join(world, pool));
  const tip = main.at(-1)!;
  const head = mergeTwins(world, tip, pool.at(-1)!);
  if (!head) return;
  const none = { waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
  const thoughts = accounts.map(({ thought }) => thought);
  const change = { ...none, base: tip.whole, head: head.whole, isMerged: false, accounts: thoughts, exempt: ['docs'] };
  if (!passes(await judgeFast(lab.courts.plain, change))) return;
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
  });
  return { random, writer, write };
}

interface Accounted {
  twin: Twin;
  thought: Account;
}

/** A protected branch, on which a file may go and come back, and two branches from it with a thought for each. */
async function beginning(world: World): Promise<{ main: Twin[]; accounts: Accounted[] }> {
  const { random, writer, write } = world;
  const first = codeIn(firstFiles(random));
  const main = [write(first, [])];
  if (random.chance(0.6)) {
    const gone = [...first.keys()].find((path) => path.endsWith('.txt'));
    main.push(write(new Map([...first].filter(([path]) => path !== gone)), [main[0]!]));
    main.push(write(first, [main[1]!]));
  }
  for (let n = random.below(3); n > 0; n--) main.push(oneMore(world, main.at(-1)!));
  const accounts: Accounted[] = [];
  for (let n = random.below(3); n > 0; n--) {
    const from = random.one(main);
    const twin = oneMore(world, from);
    accounts.push({ twin, thought: await writer.thought(from.whole, twin.whole) });
  }
  return { main, accounts };
}

function oneMore({ random, writer, write }: World, from: Twin): Twin {
  return write(codeIn(edit(random, writer.read(from.whole)).files), [from]);
}

function beside({ random, writer }: World, pool: readonly Twin[]): Twin {
  const from = random.one(pool.slice(-6));
  const { files } = editBeside(random, writer.read(from.whole));
  return { ...from, whole: writer.commit(files, [from.whole]) };
}

function join(world: World, pool: readonly Twin[]): Twin {
  const { random } = world;
  const one = random.one(pool);
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
  };
}

function codeIn(files: Texts): Texts {
  return new Map([...files].filter(([path]) => !isBeside(path)));
}

function textOf(writer: Writer, oid: Oid): string {
  return JSON.stringify([...codeIn(writer.read(oid))].sort());
}
