import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { folderInIndex } from '../../src/git/index/index-folder.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';

export const FOLDER = '.handoff/ledger';

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

export function workTree(): string {
  const dir = join(temporaryDirectory(), 'work');
  git('/', 'init', '--quiet', '--initial-branch=main', '--template=', dir);
  return dir;
}

/** How many indexes ours gave an id for, which is then that of `git write-tree`. */
export function compareFolders({ count, seed }: { count: number; seed: number }): number {
  let told = 0;
  for (const [at, each] of fc.sample(steps, { numRuns: count, seed }).entries()) {
    const dir = workTree();
    build(dir, each);
    const ours = folderInIndex(join(dir, '.git/index'), FOLDER, 'sha1');
    const isTold = ours !== null && !isInConflict(dir); // else git makes no tree, wherever it is
    if (isTold) expect(`${at} ${ours}`).toBe(`${at} ${git(dir, 'write-tree', `--prefix=${FOLDER}/`)}`);
    if (isTold) told++;
    rmSync(dir, { recursive: true });
  }
  return told;
}
