import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorkplace, type Workplace } from './compare.ts';
import type { Text, Texts } from './edits.ts';
import { type Change, judgeByReference, judgeFast, passes } from './judge.ts';
import type { Oid } from './objects.ts';
import type { Writer } from './writer.ts';

// What is no code and is like code, beside each kind of thing that git does about a rename. Merges are as git writes them.

let workplace: Workplace;
let writer: Writer;
beforeAll(() => {
  workplace = openWorkplace();
  writer = workplace.open(1).writer;
});
afterAll(() => workplace.close());

/** Twenty lines and more, some of them changed. */
function app(changes: Record<number, string> = {}, mode: Text['mode'] = '100644'): Text {
  const lines = Array.from({ length: 24 }, (_, at) => changes[at] ?? `line ${at}`);
  return { mode, text: `${lines.join('\n')}\n` };
}

function file(text: string): Text {
  return { mode: '100644', text };
}

function commit(files: Record<string, Text>, ...parents: Oid[]): Oid {
  return writer.commit(new Map(Object.entries({ 'other.txt': file('other\n'), ...files })), parents);
}

/** As git writes it, marks included; then without some files. */
function merge(ours: Oid, theirs: Oid, without: readonly string[] = []): Oid {
  const { files } = writer.merge(ours, theirs)!;
  const kept: Texts = new Map([...files].filter(([path]) => !without.includes(path)));
  return writer.commit(kept, [ours, theirs]);
}

/** Whether it passes, which both say alike. */
async function isTaken(
  base: Oid,
  head: Oid,
  since: readonly [Oid, Oid][],
  more: Partial<Change> = {},
): Promise<boolean> {
  const accounts = await Promise.all(since.map(([from, to]) => writer.thought(from, to)));
  const none = { waived: new Set<Oid>(), baseAccounts: [], baseWaived: new Set<Oid>() };
  const change: Change = { ...none, base, head, isMerged: false, accounts, exempt: ['docs', '*.md'], ...more };
  const verdict = await judgeFast(workplace.lab.courts.plain, change);
  expect(verdict).toEqual(await judgeByReference(workplace.lab.courts.plain, change));
  return passes(verdict);
}

const MOVED = app({ 18: 'new 18', 19: 'new 19' });

describe.each(['docs/x', 'notes.md', '.handoff/x'])('a copy of code at %s', (copy) => {
  test('does not take a fix of main, nor its mode', async () => {
    const start = commit({ 'app.txt': app() });
    const branch = commit({ 'core.txt': MOVED }, start);
    const copied = commit({ 'core.txt': MOVED, [copy]: app() }, branch);
    for (const fixed of [app({ 3: 'fixed' }), app({}, '100755')]) {
      const main = commit({ 'app.txt': fixed }, start);
      expect(await isTaken(main, merge(branch, main), [[start, branch]])).toBe(true);
      expect(await isTaken(main, merge(copied, main), [[start, branch]])).toBe(false);
      expect(await isTaken(main, merge(copied, main, [copy]), [[start, branch]])).toBe(false);
      expect(await isTaken(main, copied, [[start, branch]], { isMerged: true })).toBe(false);
    }
  });

  test('does not decide what two sides did to one file', async () => {
    const start = commit({ 'app.txt': app() });
    const branch = commit({}, start);
    const copied = commit({ [copy]: app() }, branch);
    const mains = [
      commit({ 'app.txt': app({ 3: 'fixed' }) }, start),
      commit({ 'lib.txt': app() }, start),
      commit({ 'lib.txt': app({ 3: 'fixed' }) }, start),
    ];
    for (const main of mains) {
      for (const head of [merge(branch, main), merge(copied, main), merge(copied, main, [copy])]) {
        expect(await isTaken(main, head, [[start, branch]])).toBe(false);
      }
    }
  });

  test('does not take a new file along with a folder', async () => {
    const folder = (name: string, more: Record<number, string> = {}) =>
      Object.fromEntries(['a', 'b', 'c'].map((each) => [`${name}/${each}.txt`, app({ 0: each, ...more })]));
    const start = commit(folder('lib'));
    const branch = commit(folder('core', { 18: 'new 18', 19: 'new 19' }), start);
    const copies = Object.fromEntries(Object.entries(folder('')).map(([path, text]) => [`${copy}${path}`, text]));
    const copied = commit({ ...folder('core', { 18: 'new 18', 19: 'new 19' }), ...copies }, branch);
    const main = commit({ ...folder('lib'), 'lib/check.txt': file('check\n') }, start);
    expect(await isTaken(main, merge(copied, main), [[start, branch]])).toBe(false);
  });

  test('is no code that has come back, by one merge base of two', async () => {
    const start = commit({ 'app.txt': app() });
    const without = commit({}, start);
    const main = commit({ 'app.txt': app() }, without);
    const copied = commit({ 'app.txt': app(), [copy]: app() }, start);
    const edited = commit({ [copy]: app({ 5: 'evil' }) }, merge(without, copied));
    const back = commit({ 'app.txt': app() }, merge(main, copied));
    expect(await isTaken(main, merge(back, edited), [])).toBe(false);
    expect(await isTaken(main, back, [])).toBe(true);
  });

  test('may come, change and go, and be merged', async () => {
    const start = commit({ 'app.txt': app() });
    const copied = commit({ 'app.txt': app(), [copy]: app() }, start);
    const edited = commit({ 'app.txt': app(), [copy]: app({ 5: 'edited' }) }, copied);
    const main = commit({ 'app.txt': app({ 3: 'fixed' }) }, start);
    for (const head of [merge(edited, main), merge(edited, main, [copy]), merge(merge(main, copied), edited)]) {
      expect(await isTaken(main, head, [])).toBe(true);
    }
    expect(await isTaken(main, edited, [], { isMerged: true })).toBe(true);
  });
});

describe('an exempt file that is something else elsewhere', () => {
  const link: Text = { mode: '120000', text: 'app.txt' };
  const start = () => commit({ 'app.txt': app(), 'docs/x': file('x\n') });

  test('is taken as whoever accounts for it has it', async () => {
    const from = start();
    for (const other of [{ 'docs/x': link }, { 'docs/x/y': file('y\n') }]) {
      const branch = commit({ 'app.txt': app(), ...other }, from);
      const main = commit({ 'app.txt': app({ 3: 'fixed' }), 'docs/x': file('x\n') }, from);
      expect(await isTaken(main, merge(branch, main), [[from, branch]])).toBe(true);
      expect(await isTaken(main, branch, [[from, branch]], { isMerged: true })).toBe(true);
      const other2 = commit({ 'app.txt': app(), 'docs/x': file('changed\n') }, from);
      expect(await isTaken(main, merge(merge(branch, main), other2), [[from, branch]])).toBe(false);
    }
  });

  test('is not put in the place of a folder by a merge that nobody accounts for', async () => {
    const empty = commit({});
    const main = commit({ 'docs/a': file('a\n'), 'docs/b': file('b\n') }, empty);
    const asFile = commit({ docs: file('docs\n') }, empty);
    const head = writer.commit(writer.read(asFile), [main, asFile]);
    expect(await isTaken(main, head, [])).toBe(false);
  });

  test('does not lead git to code', async () => {
    const empty = commit({});
    const main = commit({ 'app.txt': app(), 'docs/a': file('a\n') }, empty);
    const copied = commit({ docs: app() }, empty);
    const gone = commit({}, copied);
    const edited = commit({ docs: app({ 5: 'evil' }) }, copied);
    expect(await isTaken(main, merge(merge(main, gone), edited), [])).toBe(false);
  });
});

test('a file that nobody touches keeps its folder where it is', async () => {
  const start = commit({ 'lib/a.txt': app(), 'lib/readme': file('read me\n') });
  const branch = commit({ 'core/a.txt': MOVED, 'lib/readme': file('read me\n') }, start);
  const main = commit({ 'lib/a.txt': app(), 'lib/readme': file('read me\n'), 'lib/new.txt': file('new\n') }, start);
  const exempt = ['lib/readme'];
  expect(await isTaken(main, merge(branch, main), [[start, branch]], { exempt })).toBe(true);
  expect(await isTaken(main, branch, [[start, branch]], { exempt, isMerged: true })).toBe(true);
});
