import { type Place, writeBytes } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { edited } from './ground.ts';
import { mergeAsWritten } from './landing.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  DONE,
  headOf,
  IN_PROGRESS,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
} from './scenario.ts';

// The reverse of attacks-followed.ts: git takes a file that asks for no account for one of code that was removed, and puts there
// what another branch did to the code. Then that file is removed, which asks for no account either.

const MISSING = 'writeback_missing';
const FIX = { 'src/app.ts': edited({ 5: 'fix\n' }) };

/** The branch `feature`, with a thought for what is done there. */
async function accountedBranch(place: Place, stage: () => void): Promise<void> {
  const base = headOf(place.dir);
  branch(place, 'feature');
  const commit = staged(place, stage);
  session(place, [START, IN_PROGRESS, await thoughtSince(place, base, commit), DONE, BATON]);
}

/** Moved and changed: not as like what it was as a copy is. */
export async function renamedApp(place: Place): Promise<void> {
  const { dir } = place;
  await accountedBranch(place, () => {
    git(dir, 'mv', 'src/app.ts', 'src/core.ts');
    writeBytes(dir, 'src/core.ts', edited({ 30: 'new 30\n', 31: 'new 31\n' }));
    git(dir, 'add', 'src/core.ts');
  });
}

export function fixOnMain(place: Place): void {
  checkout(place, 'main');
  code(place, FIX, 'fix');
  checkout(place, 'feature');
}

function remove(place: Place, path: string): void {
  staged(place, () => git(place.dir, 'rm', '--quiet', '-r', '--', path), 'tidy');
}

function isNotIn({ dir }: Place, path: string, text: string): void {
  if (git(dir, 'show', `HEAD:${path}`).includes(text)) throw new Error(`git has put ${text} there`);
}

async function loseFix(place: Place, copy: string): Promise<void> {
  await renamedApp(place);
  fixOnMain(place);
  code(place, { [copy]: edited({}) }, 'docs');
  merge(place, 'main');
  remove(place, copy);
  isNotIn(place, 'src/core.ts', 'fix');
}

const MODULES = { a: 'A\n', b: 'B\n', c: 'C\n' };

/** Three files of a folder, each unlike the others. */
function modules(folder: string, more: Record<number, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(MODULES).map(([name, line]) => [`${folder}/${name}.ts`, edited({ 1: line, ...more })]),
  );
}

async function movedModules(place: Place): Promise<void> {
  const { dir } = place;
  code(place, modules('lib'));
  await accountedBranch(place, () => {
    git(dir, 'mv', 'lib', 'core');
    for (const [path, text] of Object.entries(modules('core', { 30: 'x\n' }))) writeBytes(dir, path, text);
    git(dir, 'add', 'core');
  });
}

/** Where the code has gone, some names are exempt. Git takes a new file along, to such a name, and asks. */
async function loseByName(place: Place): Promise<void> {
  policy(place, { exempt: ['core/*.md'] });
  await movedModules(place);
  checkout(place, 'main');
  code(place, { 'lib/check.md': 'what the build reads\n' });
  checkout(place, 'feature');
  mergeAsWritten(place, 'main');
  remove(place, 'core/check.md');
}

async function loseNewFile(place: Place): Promise<void> {
  const { dir } = place;
  policy(place, { exempt: ['docs/**'] });
  await movedModules(place);
  checkout(place, 'main');
  code(place, { 'lib/check.ts': 'a check that everything needs\n' });
  checkout(place, 'feature');
  code(place, modules('docs'), 'docs');
  mergeAsWritten(place, 'main');
  if (!git(dir, 'ls-files', 'docs').includes('check')) throw new Error('git has not put it there');
}

/** One side removed the file, and the other fixed it: somebody has to decide. */
async function hideDecision(place: Place, copy: string): Promise<void> {
  await accountedBranch(place, () => git(place.dir, 'rm', '--quiet', 'src/app.ts'));
  fixOnMain(place);
  code(place, { [copy]: edited({ 5: 'mine\n' }) }, 'docs');
  mergeAsWritten(place, 'main');
  remove(place, copy);
}

function putInIndex(dir: string, entry: string): void {
  gitInput(dir, Buffer.from(entry, 'latin1'), 'update-index', '-z', '--index-info');
}

export const LOST: Scenario[] = [
  {
    name: 'a fix that git puts into a file in .handoff, which is removed',
    threat: 44,
    expect: MISSING,
    build: (place) => loseFix(place, '.handoff/x'),
  },
  {
    name: 'a fix that git puts into an exempt file, which is removed',
    threat: 69,
    expect: MISSING,
    async build(place) {
      policy(place, { exempt: ['docs/**'] });
      await loseFix(place, 'docs/x');
    },
  },
  {
    name: 'the same under a pattern for the names of files',
    threat: 69,
    expect: MISSING,
    isVariant: true,
    async build(place) {
      policy(place, { exempt: ['**/*.md'] });
      await loseFix(place, 'src/app.md');
    },
  },
  {
    name: 'a fix lost, and a policy on the branch that exempts the code it was lost from',
    threat: 69,
    expect: MISSING,
    isVariant: true,
    async build(place) {
      policy(place, { exempt: ['docs/**'] });
      await loseFix(place, 'docs/x');
      policy(place, { exempt: ['docs/**', 'src/**'] }, undefined, 2);
    },
  },
  {
    name: 'a fix lost in an exempt file whose name is no UTF-8',
    threat: 69,
    expect: MISSING,
    isVariant: true,
    async build(place) {
      const { dir } = place;
      policy(place, { exempt: ['docs/**'] });
      await renamedApp(place);
      fixOnMain(place);
      const copy = git(dir, 'rev-parse', 'main~1:src/app.ts');
      staged(place, () => putInIndex(dir, `100644 ${copy}\tdocs/\xff.md\0`));
      git(dir, 'checkout', '--quiet', '.');
      merge(place, 'main');
      staged(place, () => putInIndex(dir, `0 ${'0'.repeat(40)}\tdocs/\xff.md\0`));
      isNotIn(place, 'src/core.ts', 'fix');
    },
  },
  {
    name: 'a new file that git puts into a folder of exempt files, as the folder it came into',
    threat: 69,
    expect: MISSING,
    build: loseNewFile,
  },
  {
    name: 'a new file that git puts under an exempt name, as it follows a folder, and which is removed',
    threat: 69,
    expect: MISSING,
    build: loseByName,
  },
  {
    name: 'a decision about a removed file that git does not ask for, as it takes a file in .handoff for it',
    threat: 44,
    expect: MISSING,
    build: (place) => hideDecision(place, '.handoff/x'),
  },
  {
    name: 'the same with an exempt file',
    threat: 69,
    expect: MISSING,
    isVariant: true,
    async build(place) {
      policy(place, { exempt: ['docs/**'] });
      await hideDecision(place, 'docs/x');
    },
  },
];
