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
  const change: Change = { ...none, base, head, isMerged: false, accounts, exempt: ['docs/', '*.md'], ...more };
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

// As a whole the branch renames app.txt to end.txt. Between, git puts the fix into a copy of what app.txt was renamed to first.
test('a fix that a rebase would put into code, and with the next commit into what is no code', async () => {
  const start = commit({ 'app.txt': app() });
  const main = commit({ 'app.txt': app({ 3: 'fixed' }) }, start);
  const first = commit({ 'core.txt': MOVED }, start);
  const between = commit({ 'end.txt': file('to be written\n'), 'docs/x': MOVED }, first);
  const branch = commit({ 'end.txt': MOVED }, between);
  expect(await isTaken(main, branch, [[start, branch]], { isMerged: true })).toBe(false);
  const honest = commit({ 'end.txt': MOVED }, first);
  expect(await isTaken(main, honest, [[start, honest]], { isMerged: true })).toBe(true);
});

// Where a folder is seems to be nobody's change, but git moves what one side adds there after what the other side has moved away.
describe('a file that is exempt keeps its folder where it is', () => {
  const exempt = ['lib/readme'];
  const begin = (text: string) => ({ 'lib/a.txt': app(), 'lib/readme': file(text) });
  const moved = (text: string) => ({ 'core/a.txt': MOVED, 'lib/readme': file(text) });
  const added = (text: string) => ({ ...begin(text), 'lib/new.txt': file('new\n') });
  const TEXTS = [
    ['that nobody touches', 'text\n', 'text\n', 'text\n'],
    ['that whoever moves the code edits', 'text\n', 'moved\n', 'text\n'],
    ['that whoever adds code edits', 'text\n', 'text\n', 'added\n'],
    ['that both edit alike', 'text\n', 'both\n', 'both\n'],
    ['that is emptied', 'text\n', '', 'text\n'],
    ['that was empty', '', 'moved\n', ''],
  ] as const;

  test.each(TEXTS)('one %s', async (_, text, ofBranch, ofMain) => {
    const start = commit(begin(text));
    const branch = commit(moved(ofBranch), start);
    const main = commit(added(ofMain), start);
    expect(await isTaken(main, merge(branch, main), [[start, branch]], { exempt })).toBe(true);
    expect(await isTaken(main, branch, [[start, branch]], { exempt, isMerged: true })).toBe(true);
  });

  test('and where it is gone, somebody decides where the new file belongs', async () => {
    const start = commit(begin('text\n'));
    const branch = commit({ 'core/a.txt': MOVED }, start);
    const main = commit(added('text\n'), start);
    expect(await isTaken(main, merge(branch, main), [[start, branch]], { exempt })).toBe(false);
  });

  test('and only while the merge has it: one that whoever merges puts there does not', async () => {
    const start = commit({ 'lib/a.txt': app() });
    const branch = commit({ 'core/a.txt': MOVED }, start);
    const main = commit({ 'lib/a.txt': app(), 'lib/new.txt': file('new\n') }, start);
    const { files } = writer.merge(branch, main)!;
    const kept = new Map([...files].filter(([path]) => !path.endsWith('new.txt')));
    for (const path of ['lib/new.txt', 'core/new.txt']) {
      const head = writer.commit(new Map([...kept, [path, file('new\n')], ['lib/readme', file('text\n')]]), [
        branch,
        main,
      ]);
      expect(await isTaken(main, head, [[start, branch]], { exempt })).toBe(false);
    }
  });
});

// The same where only some of the names in the new folder are exempt: the folder is followed, and code gets such a name.
describe('code that git moves to an exempt name, along with a folder', () => {
  const exempt = ['core/*.md'];
  const folder = (name: string, more: Record<number, string> = {}) =>
    Object.fromEntries(['a', 'b', 'c'].map((each) => [`${name}/${each}.txt`, app({ 0: each, ...more })]));

  test('is a decision that wants an account, wherever it is put, and where it is left out', async () => {
    const start = commit(folder('lib'));
    const branch = commit(folder('core', { 18: 'new 18' }), start);
    const main = commit({ ...folder('lib'), 'lib/check.md': file('check\n') }, start);
    const merged = merge(branch, main);
    expect(writer.read(merged).has('core/check.md')).toBe(true);
    for (const head of [merged, merge(branch, main, ['core/check.md'])]) {
      expect(await isTaken(main, head, [[start, branch]], { exempt })).toBe(false);
      expect(await isTaken(main, commit(folder('core', { 18: 'new 18' }), head), [[start, branch]], { exempt })).toBe(
        false,
      );
    }
  });
});
