import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openIndex } from '../../src/audit/index-source.ts';
import { folderInIndex } from '../../src/git/index-folder.ts';
import { openNativeStore } from '../../src/git/native-store.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { gitAt } from './fixture.ts';

const FOLDER = '.handoff/ledger';

/** What may be done to an index, by whoever uses git in every way it can be used. */
const NAMES = ['checkpoint', 'tile/0/000', 'tile/0/x001/067', 'a.b', 'ü', `long-${'x'.repeat(4200)}`];
const PATHS = [...NAMES.map((name) => `${FOLDER}/${name}`), '.handoff/project.yaml', '.handoff/ledger.x', 'zzz'];

interface Entry {
  path: string;
  mode: string;
  text: string;
  stage: number;
}

const entry: fc.Arbitrary<Entry> = fc.record({
  path: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...PATHS.slice(0, 4)) }, fc.constantFrom(...PATHS)),
  mode: fc.constantFrom(...Array<string>(12).fill('100644'), '100755', '120000'),
  text: fc.constantFrom('one', 'two'),
  stage: fc.constantFrom(...Array<number>(16).fill(0), 1, 2),
});

const steps: fc.Arbitrary<Steps> = fc.record({
  entries: fc.array(entry, { maxLength: 8 }),
  version: fc.constantFrom('2', '2', '2', '3', '4'),
  flag: fc.constantFrom('', '', '', '--skip-worktree', '--assume-unchanged'),
  isSplit: fc.constantFrom(false, false, false, false, true),
});

interface Steps {
  entries: Entry[];
  version: string;
  flag: string;
  isSplit: boolean;
}

function build(dir: string, { entries, version, flag, isSplit }: Steps): void {
  const blobs: Record<string, string> = Object.fromEntries(
    ['one', 'two'].map((text) => [text, gitInput(dir, text, 'hash-object', '-w', '--stdin')]),
  );
  const quietly = (input: string, ...args: string[]) =>
    spawnSync('git', ['-C', dir, ...args], { input, env: isolatedEnv });
  quietly('', 'read-tree', '--empty');
  const lines = entries.map(({ mode, text, stage, path }) => `${mode} ${blobs[text]} ${stage}\t${path}\0`);
  quietly(lines.join(''), 'update-index', '-z', '--index-info');
  if (flag !== '') quietly('', 'update-index', flag, '--', ...entries.slice(0, 1).map(({ path }) => path));
  if (isSplit) {
    quietly('', 'update-index', '--split-index');
    quietly(`100644 ${blobs.two} 0\t${FOLDER}/later\0`, 'update-index', '-z', '--index-info');
  }
  quietly('', 'update-index', '--index-version', version);
}

function isInConflict(dir: string): boolean {
  const paths = git(dir, 'ls-files', '--unmerged', '-z').split('\0').slice(0, -1);
  expect(paths.filter((path) => path.includes(`\t${FOLDER}/`))).toEqual([]); // ours gave an id
  return paths.length > 0;
}

function workTree(): string {
  const dir = join(temporaryDirectory(), 'work');
  git('/', 'init', '--quiet', '--initial-branch=main', '--template=', dir);
  return dir;
}

describe('the index, read without git', () => {
  it('a folder has the id that `git write-tree` gives it, or none', () => {
    let told = 0;
    for (const [at, each] of fc.sample(steps, { numRuns: 60, seed: 5 }).entries()) {
      const dir = workTree();
      build(dir, each);
      const ours = folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1');
      if (ours === null || isInConflict(dir)) continue; // git makes no tree then, wherever it is
      expect(`${at} ${ours}`).toBe(`${at} ${git(dir, 'write-tree', `--prefix=${FOLDER}/`)}`);
      told++;
    }
    expect(told).toBeGreaterThan(10);
  });

  it('what is only intended to be added is not there yet', () => {
    const dir = workTree();
    const staged = git(dir, 'hash-object', '-w', '/dev/null');
    git(dir, 'update-index', '--add', '--cacheinfo', `100644,${staged},${FOLDER}/checkpoint`);
    const before = folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1');
    expect(before).toBe(git(dir, 'write-tree', `--prefix=${FOLDER}/`));
    spawnSync('sh', ['-c', `mkdir -p ${FOLDER} && echo x > ${FOLDER}/new && git add -N ${FOLDER}/new`], {
      cwd: dir,
      env: isolatedEnv,
    });
    expect(folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1')).toBeNull();
  });

  it('lists what `git ls-files` does, each path once and names that are no UTF-8 apart', async () => {
    const dir = workTree();
    const oid = gitInput(dir, 'one', 'hash-object', '-w', '--stdin');
    const listing = ['\xff', '\xfe', 'a'].map((name) => Buffer.from(`100644 ${oid} 0\t.handoff/${name}\0`, 'latin1'));
    gitInput(dir, Buffer.concat(listing), 'update-index', '-z', '--index-info');
    const store = openNativeStore(gitAt(dir));
    const source = await openIndex(gitAt(dir), store);
    const top = (await source.root()).find(({ name }) => name === '.handoff')!;
    expect((await source.list(top)).map(({ name }) => name)).toEqual(['a', '\ufffdfe', '\ufffdff']);
    await store.close();
  });
});
