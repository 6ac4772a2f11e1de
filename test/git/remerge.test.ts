import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openChanges } from '../../src/git/changes/changes.ts';
import { type Merged, openMerger } from '../../src/git/changes/remerge.ts';
import { openWorkshop, type Workshop } from '../../src/git/changes/workshop.ts';
import { git, gitInput, temporaryDirectory } from '../temporary.ts';
import { commit, gitAt } from './fixture.ts';

// SPEC §10.4.2: merges are made again from objects alone.

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);

function repository(...flags: string[]): string {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet', '--initial-branch=main', ...flags);
  commit(dir, { 'a.txt': LINES.join('') });
  return dir;
}

function edit(at: number, text: string): string {
  return LINES.map((line, n) => (n === at ? text : line)).join('');
}

/** Two sides of a file, with a side branch that does something to it and main that does something else. */
function parted(side: (dir: string) => void, main: (dir: string) => void, flags: string[] = []): string {
  const dir = repository(...flags);
  git(dir, 'checkout', '--quiet', '-b', 'side');
  side(dir);
  git(dir, 'checkout', '--quiet', 'main');
  main(dir);
  return dir;
}

async function inWorkshop<T>(
  dir: string,
  run: (workshop: Workshop) => Promise<T>,
  env: NodeJS.ProcessEnv = {},
): Promise<T> {
  const workshop = openWorkshop(gitAt(dir, env), join(dir, '.git'));
  try {
    return await run(workshop);
  } finally {
    workshop.close();
  }
}

function idOf(dir: string, rev: string): string {
  return git(dir, 'rev-parse', `${rev}^{commit}`);
}

async function remerge(dir: string, revs = ['main', 'side'], env: NodeJS.ProcessEnv = {}): Promise<Merged | null> {
  const parents = revs.map((rev) => idOf(dir, rev));
  return inWorkshop(dir, async (workshop) => (await openMerger(workshop).merge([parents]))[0]!, env);
}

/** What a commit has that making its merge again does not give; null where nothing is made. */
async function own(dir: string): Promise<string[] | null> {
  const [, ...parents] = git(dir, 'rev-list', '--parents', '-n1', 'HEAD').split(' ');
  const after = git(dir, 'rev-parse', 'HEAD^{tree}');
  return inWorkshop(dir, async (workshop) => {
    const [merged] = await openMerger(workshop).merge([parents]);
    if (!merged) return null;
    const changes = openChanges(workshop.git, '.handoff');
    const [change] = await changes.read([{ before: merged.tree, after }]);
    await changes.close();
    return change!.paths;
  });
}

function conflictsOf(merged: Merged | null): string[] {
  return (merged?.conflicts ?? []).map(({ path }) => path);
}

describe('what git makes of a merge alone', () => {
  const diverged = (...flags: string[]): string => {
    const dir = parted(
      (at) => commit(at, { 'a.txt': edit(2, 'side\n') }),
      (at) => commit(at, { 'a.txt': edit(4, 'main\n') }),
    );
    git(dir, 'merge', '--quiet', '--no-ff', '--no-edit', ...flags, 'side');
    return dir;
  };

  test('is that merge, even where both sides changed lines that are near', async () => {
    expect(await own(diverged())).toEqual([]);
  });

  test('is not one that leaves a side out, or slips something in', async () => {
    expect(await own(diverged('--strategy=ours'))).toEqual(['a.txt']);
    const dir = diverged();
    writeFileSync(join(dir, 'evil\n.txt'), 'evil\n');
    git(dir, 'add', '--all');
    git(dir, 'commit', '--quiet', '--amend', '--no-edit');
    expect(await own(dir)).toEqual(['evil\n.txt']);
  });

  test('follows a file that one side has renamed', async () => {
    const dir = parted(
      (at) => {
        git(at, 'mv', 'a.txt', 'b.txt');
        git(at, 'commit', '--quiet', '--message', 'rename');
      },
      (at) => commit(at, { 'a.txt': edit(4, 'main\n') }),
    );
    git(dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
    expect(await own(dir)).toEqual([]);
  });

  test('is the same for many merges at once, whatever is among them', async () => {
    const dir = diverged();
    const [main, side] = git(dir, 'rev-parse', 'HEAD^1', 'HEAD^2').split('\n') as [string, string];
    git(dir, 'checkout', '--quiet', '-b', 'conflict', side);
    commit(dir, { 'a.txt': edit(4, 'other\n'), '0\n1': 'a name like an answer\n' });
    const other = idOf(dir, 'HEAD');
    git(dir, 'checkout', '--quiet', '--orphan', 'alone');
    commit(dir, { 'b.txt': 'another history\n' });
    const alone = idOf(dir, 'HEAD');
    const pairs = [
      [main, side],
      [main, other],
      [side, other],
      [main, side, other],
    ];
    const expected = await Promise.all(pairs.map((pair) => remerge(dir, pair)));
    const all = (sides: string[][]) => inWorkshop(dir, (workshop) => openMerger(workshop).merge(sides));
    expect(await all(pairs)).toEqual(expected);
    expect(new Set(expected.slice(0, 3).map((merged) => merged?.tree)).size).toBe(3);
    // at histories that never met git gives up, and is asked again for what comes after them
    const mixed = [pairs[0]!, [main, alone], ...pairs.slice(1)];
    expect(await all(mixed)).toEqual([expected[0], null, ...expected.slice(1)]);
  });

  test('can have more than two sides', async () => {
    const dir = repository();
    const first = idOf(dir, 'HEAD');
    for (const name of ['x', 'y', 'z']) {
      git(dir, 'checkout', '--quiet', '-b', name, first);
      commit(dir, { [name]: '1' });
    }
    git(dir, 'merge', '--quiet', '--no-edit', 'x', 'y');
    expect(await own(dir)).toEqual([]);
    writeFileSync(join(dir, 'x'), 'evil\n');
    git(dir, 'add', '--all');
    git(dir, 'commit', '--quiet', '--amend', '--no-edit');
    expect(await own(dir)).toEqual(['x']);
  });

  test('is nothing where the sides never met', async () => {
    const dir = repository();
    git(dir, 'checkout', '--quiet', '--orphan', 'other');
    commit(dir, { c: '1' });
    expect(await remerge(dir, ['main', 'other'])).toBeNull();
  });

  test('is the same in a SHA-256 repository', async () => {
    const sides = [
      (at: string) => commit(at, { 'a.txt': edit(2, 'side\n') }),
      (at: string) => commit(at, { 'a.txt': edit(2, 'main\n') }),
    ] as const;
    const dir = parted(...sides, ['--object-format=sha256']);
    expect(conflictsOf(await remerge(dir))).toEqual(['a.txt']);
    expect((await remerge(dir))!.tree).toHaveLength(64);
  });

  test('makes each merge once, and says so before it does', async () => {
    const dir = diverged();
    const spent: number[] = [];
    const parents = ['HEAD^1', 'HEAD^2'].map((rev) => idOf(dir, rev));
    await inWorkshop(dir, async (workshop) => {
      const merger = openMerger(workshop, (merges) => spent.push(merges));
      await merger.merge([parents, parents, [...parents].reverse()]);
      await merger.merge([parents]);
    });
    expect(spent).toEqual([2]);
  });
});

test('a merge of a thousand files that were renamed is made, and made once', async () => {
  const names = Array.from({ length: 1000 }, (_, n) => `${n}.txt`);
  const text = (name: string, more = '') =>
    `${name}\n${Array.from({ length: 9 }, (_, n) => `${name} ${n}\n`).join('')}${more}`;
  const dir = repository();
  commit(dir, Object.fromEntries(names.map((name) => [`old/${name}`, text(name)])));
  git(dir, 'checkout', '--quiet', '-b', 'side');
  git(dir, 'mv', 'old', 'new');
  git(dir, 'commit', '--quiet', '--message', 'rename');
  git(dir, 'checkout', '--quiet', 'main');
  commit(dir, Object.fromEntries(names.map((name) => [`old/${name}`, text(name, 'main\n')])));
  git(dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
  expect(await own(dir)).toEqual([]);
  const spent: number[] = [];
  const sides = Array.from({ length: 24 }, () => ['HEAD^1', 'HEAD^2'].map((rev) => idOf(dir, rev)));
  await inWorkshop(dir, (workshop) => openMerger(workshop, (merges) => spent.push(merges)).merge(sides));
  expect(spent).toEqual([1]);
});

describe('what git leaves to a person', () => {
  const modify = (text: string) => (dir: string) => void commit(dir, { 'a.txt': edit(2, text) });
  const remove = (dir: string): void => {
    git(dir, 'rm', '--quiet', 'a.txt');
    git(dir, 'commit', '--quiet', '--message', 'remove');
  };
  const add = (text: string) => (dir: string) => void commit(dir, { 'new.txt': text });
  const binary = (byte: number) => (dir: string) => void commit(dir, { 'a.txt': Buffer.from([0, byte, 0]) });
  const link = (target: string) => (dir: string) => {
    rmSync(join(dir, 'a.txt'));
    symlinkSync(target, join(dir, 'a.txt'));
    commit(dir, {});
  };
  const submodule = (id: string) => (dir: string) => {
    git(dir, 'update-index', '--add', '--cacheinfo', `160000,${id.repeat(40)},sub`);
    git(dir, 'commit', '--quiet', '--message', 'submodule');
  };
  const rename = (to: string) => (dir: string) => {
    git(dir, 'mv', 'a.txt', to);
    git(dir, 'commit', '--quiet', '--message', 'rename');
  };
  const asFolder = (dir: string): void => {
    git(dir, 'rm', '--quiet', 'a.txt');
    mkdirSync(join(dir, 'a.txt'));
    commit(dir, { 'a.txt/inside': 'x\n' });
  };

  test.each([
    ['lines', modify('side\n'), modify('main\n'), ['a.txt']],
    ['a file that one side removed and the other changed', modify('side\n'), remove, ['a.txt']],
    ['the same the other way', remove, modify('main\n'), ['a.txt']],
    ['two files of one name', add('side\n'), add('main\n'), ['new.txt']],
    ['two contents of a binary file', binary(1), binary(2), ['a.txt']],
    ['where a link leads', link('x'), link('y'), ['a.txt']],
    ['a link or a file', link('x'), modify('main\n'), ['a.txt', 'a.txt']],
    ['a submodule', submodule('1'), submodule('2'), ['sub']],
    ['two new names', rename('b.txt'), rename('c.txt'), ['a.txt', 'b.txt', 'c.txt']],
    ['a folder or a file', asFolder, modify('main\n'), ['a.txt']],
  ])('%s', async (_, side, main, expected) => {
    const merged = await remerge(parted(side, main));
    expect(conflictsOf(merged).map((path) => path.replace(/~.*/, ''))).toEqual(expected);
  });

  test('of no file, as a folder that was renamed to two, leaves nobody who knows what git decided', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const dir = repository();
    commit(dir, Object.fromEntries(names.map((name) => [`old/${name}`, `${name}\n`.repeat(20)])));
    git(dir, 'checkout', '--quiet', '-b', 'side');
    commit(dir, { 'old/new': 'new\n' });
    git(dir, 'checkout', '--quiet', 'main');
    for (const folder of ['left', 'right']) mkdirSync(join(dir, folder));
    git(dir, 'mv', 'old/a', 'old/b', 'left');
    git(dir, 'mv', 'old/c', 'old/d', 'right');
    git(dir, 'commit', '--quiet', '--message', 'rename');
    expect(await remerge(dir)).toBeNull();
  });

  test('by two of three sides, leaves the whole merge to a person', async () => {
    const dir = parted(modify('side\n'), remove);
    git(dir, 'branch', 'third', 'main~1');
    expect(await remerge(dir, ['main', 'side', 'third'])).toBeNull();
  });

  // what SPEC §10.4.2 builds on: the file that stands for an exempt one is no rename, and keeps its folder in its place
  test('is about an empty file that is gone: git takes no other empty file for it, and no folder for theirs', async () => {
    const dir = repository();
    commit(dir, { 'lib/a': '', 'lib/b': '' });
    git(dir, 'checkout', '--quiet', '-b', 'side');
    git(dir, 'mv', 'lib', 'core');
    git(dir, 'commit', '--quiet', '--message', 'moved');
    git(dir, 'checkout', '--quiet', 'main');
    commit(dir, { 'lib/a': 'more\n', 'lib/c': 'c\n' });
    expect(conflictsOf(await remerge(dir))).toEqual(['lib/a']);
  });

  test('is said of links and submodules, which are no files', async () => {
    const kinds = async (dir: string) => (await remerge(dir))!.conflicts.map(({ isFile }) => isFile);
    expect(await kinds(parted(link('x'), link('y')))).toEqual([false]);
    expect(await kinds(parted(submodule('1'), submodule('2')))).toEqual([false]);
    expect(await kinds(parted(modify('side\n'), modify('main\n')))).toEqual([true]);
  });

  test('is told apart where names are no UTF-8', async () => {
    const named = (text: string) => (dir: string) => {
      const oid = gitInput(dir, text, 'hash-object', '-w', '--stdin');
      const entries = ['\xff', '\xfe'].map((name) => `100644 ${oid}\t${name}\0`).join('');
      gitInput(dir, Buffer.from(entries, 'latin1'), 'update-index', '-z', '--index-info');
      git(dir, 'commit', '--quiet', '--message', 'names');
    };
    const dir = parted(
      (at) => {
        named('side\n')(at);
        git(at, 'reset', '--quiet', '--hard');
      },
      (at) => named('main\n')(at),
    );
    expect(conflictsOf(await remerge(dir))).toEqual(['\ufffdfe', '\ufffdff']);
  });

  test('is nothing that a mode decides', async () => {
    const executable = (dir: string): void => {
      chmodSync(join(dir, 'a.txt'), 0o755);
      commit(dir, {});
    };
    expect(conflictsOf(await remerge(parted(executable, modify('main\n'))))).toEqual([]);
  });
});

describe('a merge that is made again', () => {
  const conflict = (): string =>
    parted(
      (at) => commit(at, { 'a.txt': edit(2, 'side\n') }),
      (at) => commit(at, { 'a.txt': edit(2, 'main\n') }),
    );

  test.each([
    ['attributes that a branch has', (dir: string) => void commit(dir, { '.gitattributes': '* merge=ours\n' })],
    ['attributes of the clone', (dir: string) => write(dir, '.git/info/attributes', '* merge=union\n')],
    ['a driver for everything', (dir: string) => git(dir, 'config', 'merge.default', 'union')],
    ['a driver that runs something', (dir: string) => drive(dir)],
    ['no renames', (dir: string) => git(dir, 'config', 'merge.renames', 'false')],
    ['another style of marks', (dir: string) => git(dir, 'config', 'merge.conflictStyle', 'diff3')],
  ])('does not depend on %s', async (_, configure) => {
    const dir = conflict();
    const [before, sides] = [await remerge(dir), [idOf(dir, 'main'), idOf(dir, 'side')]];
    configure(dir);
    expect(await remerge(dir, sides)).toEqual(before);
    expect(existsSync(join(dir, 'ran'))).toBe(false);
  });

  test('does not depend on limits for renames', async () => {
    const dir = parted(
      (at) => {
        git(at, 'mv', 'a.txt', 'b.txt');
        commit(at, { 'b.txt': edit(30, 'side\n') }, 'rename');
      },
      (at) => commit(at, { 'a.txt': edit(4, 'main\n') }),
    );
    for (const key of ['merge.renameLimit', 'diff.renameLimit']) git(dir, 'config', key, '1');
    for (const name of ['x', 'y', 'z']) commit(dir, { [name]: name });
    expect(conflictsOf(await remerge(dir))).toEqual([]);
  });

  test("does not depend on the user's own attributes", async () => {
    const dir = conflict();
    const home = temporaryDirectory();
    mkdirSync(join(home, 'git'));
    writeFileSync(join(home, 'git', 'attributes'), '* merge=union\n');
    expect(conflictsOf(await remerge(dir, ['main', 'side'], { XDG_CONFIG_HOME: home }))).toEqual(['a.txt']);
  });

  test.each(['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM'])('does not depend on the configuration of %s', async (name) => {
    const dir = conflict();
    const path = join(temporaryDirectory(), 'config');
    writeFileSync(path, '[merge]\n\tdefault = union\n');
    const env = { GIT_CONFIG_NOSYSTEM: '0', [name]: path };
    expect(conflictsOf(await remerge(dir, ['main', 'side'], env))).toEqual(['a.txt']);
  });

  test('does not depend on attributes of the machine, which only root could set here', async () => {
    const set = await inWorkshop(conflict(), async (workshop) => workshop.git.set);
    expect(set).toMatchObject({ GIT_ATTR_NOSYSTEM: '1' });
  });

  test('leaves nothing behind', async () => {
    const dir = conflict();
    const count = () => git(dir, 'count-objects', '-v');
    const before = count();
    const place = await inWorkshop(dir, async (workshop) => {
      await openMerger(workshop).merge([[idOf(dir, 'main'), idOf(dir, 'side')]]);
      return workshop.git.dir;
    });
    expect(count()).toBe(before);
    expect(existsSync(place)).toBe(false);
  });

  function write(dir: string, path: string, text: string): void {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }

  function drive(dir: string): void {
    git(dir, 'config', 'merge.evil.driver', `touch ${join(dir, 'ran')}`);
    write(dir, '.git/info/attributes', '* merge=evil\n');
  }
});
