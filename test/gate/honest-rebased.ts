import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { fixOnMain, renamedApp } from './attacks-lost.ts';
import { begin, edit, moveOnMain } from './attacks-rebased.ts';
import { edited } from './ground.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  headOf,
  merge,
  type Scenario,
  START,
  session,
  staged,
  thoughtSince,
} from './scenario.ts';

// Branches of several commits that a forge may rebase, while main has moved and renamed files of both kinds.

const LOCAL = { isLocal: true };

/** Unlike any code. */
function guide(changes: Record<number, string> = {}): string {
  return Array.from({ length: 20 }, (_, n) => changes[n] ?? `How to do ${n}.\n`).join('');
}

function assertRebases({ dir }: Place): void {
  const head = headOf(dir);
  git(dir, 'checkout', '--quiet', '--detach');
  git(dir, 'rebase', '--quiet', 'main'); // fails where it conflicts
  git(dir, 'checkout', '--quiet', '-B', 'feature', head);
}

async function account(place: Place, base: string): Promise<void> {
  session(place, [START, await thoughtSince(place, base), BATON]);
}

/** Five commits of code, and between them some of files that ask for no account. */
function work(place: Place): void {
  for (const n of [1, 2, 3, 4, 5]) {
    code(place, { [`src/part-${n}.ts`]: `part ${n}\n`, 'src/lib.ts': `lib ${n}\n` });
    code(place, { 'docs/guide.md': guide({ [n]: `better ${n}\n` }) }, 'docs: guide');
  }
}

/** The guide is elsewhere now, an old file of code has another name, and an exempt file has become code. */
function reorderMain(place: Place): void {
  const { dir } = place;
  moveOnMain(place);
  staged(place, () => git(dir, 'mv', 'docs/guide.md', 'docs/handbook.md'), 'docs: handbook');
  staged(place, () => git(dir, 'mv', 'src/old.ts', 'src/older.ts'));
  checkout(place, 'feature');
}

export const TO_REBASE: Scenario[] = [
  {
    name: 'five commits of code and five of exempt files, where main has moved and renamed others',
    ...LOCAL,
    async build(place) {
      begin(place);
      const base = code(place, { 'docs/guide.md': guide() }, 'docs: a guide');
      branch(place, 'feature');
      work(place);
      await account(place, base);
      reorderMain(place);
      assertRebases(place);
    },
  },
  {
    name: 'a branch that renames files of both kinds and changes them again, which main has changed',
    ...LOCAL,
    async build(place) {
      const { dir } = place;
      begin(place);
      const base = code(place, { 'docs/guide.md': guide() }, 'docs: a guide');
      await renamedApp(place);
      code(place, { 'src/core.ts': edited({ 30: 'new 30\n', 31: 'newer 31\n' }) });
      staged(place, () => git(dir, 'mv', 'docs/guide.md', 'docs/handbook.md'), 'docs: handbook');
      staged(place, () => git(dir, 'mv', 'src/core.ts', 'src/engine.ts'));
      await account(place, base);
      fixOnMain(place);
      assertRebases(place);
    },
  },
  {
    name: 'a branch that has merged main on its way, before main moved a file',
    ...LOCAL,
    async build(place) {
      begin(place);
      const base = code(place, { 'docs/guide.md': guide() }, 'docs: a guide');
      branch(place, 'feature');
      work(place);
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'rm', '--quiet', 'src/old.ts'));
      checkout(place, 'feature');
      merge(place, 'main');
      code(place, { 'src/more.ts': 'more\n' });
      await account(place, base);
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'mv', 'docs/x.sh', 'docs/y.sh'), 'docs: another name');
      checkout(place, 'feature');
      assertRebases(place);
    },
  },
  {
    name: 'a branch that has a commit which main has too, and goes on from it',
    ...LOCAL,
    async build(place) {
      const { dir } = place;
      begin(place);
      const base = headOf(dir);
      const files = { 'src/both.ts': edited({}) };
      code(place, files, 'on main');
      branch(place, 'feature', base);
      code(place, files, 'here too');
      code(place, { 'src/both.ts': edited({ 3: 'better\n' }) });
      await account(place, base);
      moveOnMain(place);
      checkout(place, 'feature');
      assertRebases(place);
    },
  },
  {
    name: 'an exempt file changed where main has made code of it, rebased as the hint says and accounted for',
    async build(place) {
      begin(place);
      branch(place, 'feature');
      edit(place, edited({ 25: 'better\n' }));
      edit(place, edited({ 25: 'better still\n' }));
      moveOnMain(place);
      checkout(place, 'feature');
      git(place.dir, 'rebase', '--quiet', 'main');
      await account(place, git(place.dir, 'rev-parse', 'main'));
    },
  },
];
