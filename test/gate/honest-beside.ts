import type { Place } from '../handoff.ts';
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

export const BESIDE: Scenario[] = [
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
