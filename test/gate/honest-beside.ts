import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { fixOnMain, renamedApp } from './attacks-lost.ts';
import { edited } from './ground.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  headOf,
  honestBranch,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
} from './scenario.ts';

// Files that ask for no account, beside code: as honest people have them.

const EXEMPT = { exempt: ['docs/**'] };

/** Main makes code of an exempt file that the branch has changed: git follows it. */
async function madeCode(place: Place): Promise<void> {
  policy(place, EXEMPT);
  code(place, { 'docs/example.ts': `example\n${edited({})}` });
  branch(place, 'feature');
  code(place, { 'docs/example.ts': `example\n${edited({ 5: 'better\n' })}` });
  checkout(place, 'main');
  staged(place, () => git(place.dir, 'mv', 'docs/example.ts', 'src/example.ts'));
  const base = headOf(place.dir);
  checkout(place, 'feature');
  merge(place, 'main');
  session(place, [START, await thoughtSince(place, base), BATON]);
}

/** A text that asks for no account, in the folder of the code. */
function readme(place: Place): void {
  policy(place, { exempt: ['**/*.md'] });
  code(place, { 'src/README.md': 'The application.\n' });
}

/** All code of a folder is somewhere else now. The text stays where it was, and says so. */
function moveCode({ dir }: Place): void {
  mkdirSync(join(dir, 'lib'));
  for (const name of ['app', 'lib', 'old']) git(dir, 'mv', `src/${name}.ts`, `lib/${name}.ts`);
  writeBytes(dir, 'src/README.md', 'It is in lib/ now.\n');
  git(dir, 'add', 'src/README.md');
}

/** Main moves the code, and a branch has a new file where it was. */
async function keptByText(place: Place): Promise<void> {
  readme(place);
  await honestBranch(place, 'feature', { 'src/new.ts': 'new\n' });
  checkout(place, 'main');
  staged(place, () => moveCode(place));
  checkout(place, 'feature');
}

/** The other way: the branch moves the code, and the new file is on main. */
async function movedBesideText(place: Place): Promise<void> {
  readme(place);
  const base = headOf(place.dir);
  branch(place, 'feature');
  staged(place, () => moveCode(place));
  session(place, [START, await thoughtSince(place, base), BATON]);
  checkout(place, 'main');
  code(place, { 'src/new.ts': 'new\n' });
  checkout(place, 'feature');
}

export const BESIDE: Scenario[] = [
  {
    name: 'a new file in a folder whose code main has moved, and which an edited exempt file keeps in its place',
    async build(place) {
      await keptByText(place);
      merge(place, 'main');
    },
  },
  {
    name: 'the same, yet to be merged',
    isLocal: true,
    build: keptByText,
  },
  {
    name: 'code moved out of a folder that an edited exempt file keeps in its place, where main has a new file',
    async build(place) {
      await movedBesideText(place);
      merge(place, 'main');
    },
  },
  {
    name: 'code moved out of such a folder, yet to be merged',
    isLocal: true,
    build: movedBesideText,
  },
  {
    name: 'a new file in such a folder, where an exempt file has come while the code went',
    async build(place) {
      policy(place, { exempt: ['**/*.md'] });
      await honestBranch(place, 'feature', { 'src/new.ts': 'new\n' });
      checkout(place, 'main');
      staged(place, () => moveCode(place));
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'an exempt file that main has made code of, changed where it was, accounted for',
    build: madeCode,
  },
  {
    name: 'a branch that has renamed a file which main has changed, merged',
    async build(place) {
      await renamedApp(place);
      fixOnMain(place);
      merge(place, 'main');
    },
  },
  {
    name: 'a branch that has renamed a file which main has changed, yet to be merged',
    isLocal: true,
    async build(place) {
      await renamedApp(place);
      fixOnMain(place);
    },
  },
  {
    name: 'exempt files that come, are renamed and go beside code, yet to be merged',
    isLocal: true,
    async build(place) {
      const { dir } = place;
      policy(place, EXEMPT);
      code(place, { 'docs/a.md': edited({ 1: 'a\n' }), 'docs/b.md': edited({ 1: 'b\n' }) });
      await honestBranch(place, 'feature', { 'src/a.ts': 'a\n', 'docs/a.md': edited({ 1: 'a\n', 30: 'feature\n' }) });
      staged(place, () => git(dir, 'rm', '--quiet', 'docs/b.md'));
      checkout(place, 'main');
      staged(place, () => git(dir, 'mv', 'docs/a.md', 'docs/first.md'));
      code(place, { 'src/main.ts': 'main\n' });
      checkout(place, 'feature');
    },
  },
  {
    name: 'a branch whose merge somebody has to decide',
    isLocal: true,
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 20: 'feature\n' }) });
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'rm', '--quiet', 'src/app.ts'));
      checkout(place, 'feature');
    },
  },
];
