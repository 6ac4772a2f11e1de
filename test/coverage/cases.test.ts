import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account } from '../../src/core/writeback/account.ts';
import { openWorkplace, type Workplace } from './compare.ts';
import { type Change, judgeByReference, judgeFast, passes, type Verdict } from './judge.ts';
import type { Oid } from './objects.ts';
import type { Writer } from './writer.ts';

// What random histories have found, or would find too seldom.

let workplace: Workplace;
let writer: Writer;
beforeAll(() => {
  workplace = openWorkplace();
  writer = workplace.open(1).writer;
});
afterAll(() => workplace.close());

/** A commit with one file. */
function write(text: string, parents: Oid[], author?: string): Oid {
  return writer.commit(new Map([['a.txt', { mode: '100644', text }]]), parents, author);
}

/** Lines of one file, changed in the middle: twenty of them and more, all unlike. */
function lines(...changed: [number, string][]): string {
  const text = Array.from({ length: 40 }, (_, at) => `line ${at}`);
  for (const [at, line] of changed) text[at] = line;
  return `${text.join('\n')}\n`;
}

async function judge(change: Pick<Change, 'base' | 'head'> & Partial<Change>): Promise<Verdict> {
  const none = { accounts: [], waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
  const whole: Change = { isMerged: false, exempt: [], ...none, ...change };
  const verdict = await judgeFast(workplace.lab.courts.plain, whole);
  expect(verdict).toEqual(await judgeByReference(workplace.lab.courts.plain, whole));
  return verdict;
}

const BLOCK = 'a\nb\nc\nd\ne\nf\ng\n';

test('a squash of one commit passes where its patch fits at several places, whoever made the squash', async () => {
  const main = write(BLOCK.repeat(3), []);
  const changed = BLOCK + BLOCK.replace('d', 'D') + BLOCK;
  const thought = await writer.thought(main, write(changed, [main]));
  expect(await judge({ base: main, head: write(changed, [main]), accounts: [thought] })).toSatisfy(passes);
  const elsewhere = write(`${BLOCK + BLOCK + BLOCK.replace('d', 'D')}end\n`, [
    write(`${BLOCK.repeat(3)}end\n`, [main]),
  ]);
  expect(await judge({ base: main, head: elsewhere, accounts: [thought] })).not.toSatisfy(passes);
});

test('a patch at the beginning of a file is not the same patch at its end', async () => {
  const block = 'a\nb\nc\nd\ne\nf\ng\n';
  const main = write(`${block}between\n${block}`, []);
  const first = write(`${block.replace('d', 'D')}between\n${block}`, [main]);
  const thought = await writer.thought(main, first);
  const last = write(`${block}between\n${block.replace('d', 'D')}`, [main]);
  expect((await writer.thought(main, last)).wholePatchId).toBe(thought.wholePatchId);
  expect((await judge({ base: main, head: last, accounts: [thought] })).open).toEqual([last]);
});

test('what was done, taken back and done again is rebased as three commits, and none of them is left out', async () => {
  const main = write(lines(), []);
  const texts = [lines([20, 'new']), lines(), lines([20, 'new'])];
  const chain = (onto: Oid, some: readonly string[]): Oid => some.reduce((head, text) => write(text, [head]), onto);
  const thought = await writer.thought(main, chain(main, texts));
  expect(await judge({ base: main, head: chain(main, texts), accounts: [thought] })).toSatisfy(passes);
  const twice = chain(main, texts.slice(0, 2));
  expect((await judge({ base: main, head: twice, accounts: [thought] })).open).toEqual([twice]);
});

test('two thoughts that name one commit and begin at different ones are each asked for their own', async () => {
  const main = write(lines(), []);
  const one = write(lines([10, 'one']), [main]);
  const two = write(lines([10, 'one'], [30, 'two']), [one]);
  const accounts: Account[] = [await writer.thought(main, two), await writer.thought(one, two)];
  const moved = write(lines([8, 'main'], [28, 'main']), [main]); // what stands near both has changed
  const one2 = write(lines([8, 'main'], [28, 'main'], [10, 'one']), [moved], writer.authorOf(one));
  const head = write(lines([8, 'main'], [28, 'main'], [10, 'one'], [30, 'two']), [one2], writer.authorOf(two));
  expect(await judge({ base: moved, head, accounts })).toSatisfy(passes);
});

test('every thought of the protected branch that is about a commit covers it, not only the first', async () => {
  const main = write(lines(), []);
  const work = write(lines([10, 'one']), [main]);
  const baseAccounts = [await writer.thought(main, work), await writer.thought(main, work)];
  const { covers, open } = await judge({ base: main, head: work, baseAccounts });
  expect(open).toEqual([]);
  expect(Object.values(covers)).toEqual([[work], [work]]);
});

test('a patch id that none of the thought’s own commits has counts only where they are not to be had', async () => {
  const main = write(lines(), []);
  const good = await writer.thought(main, write(lines([10, 'good']), [main]));
  const evil = write(lines([10, 'evil']), [main]);
  const { wholePatchId, commitPatchIds } = await writer.thought(main, evil);
  for (const lie of [{ wholePatchId }, { commitPatchIds }, { wholePatchId, commitPatchIds }]) {
    expect((await judge({ base: main, head: evil, accounts: [{ ...good, ...lie }] })).open).toEqual([evil]);
    const gone = { ...good, ...lie, commit: 'f'.repeat(40) };
    expect(await judge({ base: main, head: evil, accounts: [gone] })).toSatisfy(passes);
  }
});

test('a patch that a thought lists twice and has done once covers one commit', async () => {
  const texts = [5, 6, 7].map((times) => 'log\n'.repeat(times));
  const main = write(texts[0]!, []);
  const thought = await writer.thought(main, write(texts[1]!, [main]));
  const [[id]] = [...thought.commitPatchIds] as [[string, number]];
  const first = write(texts[1]!, [main]);
  const head = write(texts[2]!, [first]);
  const twice = { ...thought, commitPatchIds: new Map([[id, 2]]) };
  expect((await judge({ base: main, head, accounts: [twice] })).open).toEqual([head]);
});

/** A commit with several files. */
function writeAll(files: Record<string, string>, parents: Oid[], author?: string): Oid {
  const entries = Object.entries(files).map(([path, text]) => [path, { mode: '100644', text }] as const);
  return writer.commit(new Map(entries), parents, author);
}

test('a squash brings only what is listed, by its thought or by one about what is behind it', async () => {
  const main = writeAll({ a: lines() }, []);
  const below = writeAll({ a: lines(), b: 'b\n' }, [main]);
  const above = writeAll({ a: lines([20, 'mine']), b: 'b\n' }, [below]);
  const moved = writeAll({ a: lines([18, 'main']) }, [main]);
  const head = writeAll({ a: lines([18, 'main'], [20, 'mine']), b: 'b\n' }, [moved]);
  const [all, first, last] = await Promise.all([
    writer.thought(main, above),
    writer.thought(main, below),
    writer.thought(below, above),
  ]);
  expect(await judge({ base: moved, head, accounts: [all!] })).toSatisfy(passes);
  expect(await judge({ base: moved, head, accounts: [first!, last!] })).toSatisfy(passes);
  expect((await judge({ base: moved, head, accounts: [last!] })).open).toEqual([head]);
});

test('a pick that was put where half of it was there counts only if the other half is still there', async () => {
  const main = writeAll({ a: lines(), guard: 'off\n' }, []);
  const work = writeAll({ a: lines([20, 'mine']), guard: 'on\n' }, [main]);
  const thought = await writer.thought(main, work);
  const guarded = writeAll({ a: lines(), guard: 'on\n' }, [main]);
  const pick = writeAll({ a: lines([20, 'mine']), guard: 'on\n' }, [guarded], writer.authorOf(work));
  expect(await judge({ base: guarded, head: pick, accounts: [thought] })).toSatisfy(passes);
  const base = writeAll({ a: lines(), guard: 'off\n' }, [guarded]);
  const head = writeAll({ a: lines([20, 'mine']), guard: 'off\n' }, [base, pick]);
  expect((await judge({ base, head, accounts: [thought] })).open).toEqual([pick]);
});

test('what a thought of the protected branch is about is let in once, as long as it is all of it', async () => {
  const main = writeAll({ a: lines() }, []);
  const work = writeAll({ a: lines([10, 'one']) }, [main]);
  const baseAccounts = [await writer.thought(main, work)];
  const base = writeAll({ a: lines(), other: 'other\n' }, [main]);
  const squash = writeAll({ a: lines([10, 'one']), other: 'other\n' }, [base]);
  expect(await judge({ base, head: squash, baseAccounts })).toSatisfy(passes);
  const back = writeAll({ a: lines(), other: 'other\n' }, [squash]);
  const again = writeAll({ a: lines([10, 'one']), other: 'other\n' }, [back]);
  expect((await judge({ base: back, head: again, baseAccounts })).open).toEqual([again]);
});
