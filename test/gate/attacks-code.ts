import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { merkleRoot } from '../../src/core/seal/merkle.ts';
import { nodeHashes } from '../../src/crypto.ts';
import { type Place, privateKey, writeBytes } from '../handoff.ts';
import { git } from '../temporary.ts';
import { blob, rawTree } from '../threats/forge.ts';
import { edited } from './ground.ts';
import { usual } from './ready.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  DONE,
  document,
  type Honest,
  headOf,
  honestBranch,
  IN_PROGRESS,
  merge,
  policy,
  type Scenario,
  START,
  session,
  staged,
  taskFields,
  thoughtSince,
  write,
} from './scenario.ts';

const at = ({ dir }: Place, rev = 'HEAD'): string => git(dir, 'rev-parse', rev);

/** A commit with any tree and any parents. */
function commitOf({ dir }: Place, tree: string, ...parents: string[]): string {
  return git(dir, 'commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'merge');
}

/** A merge of main and an honest branch, of which `stage` makes something else. */
async function evilMerge(place: Place, stage: () => void): Promise<void> {
  await usual(place);
  checkout(place, 'main');
  code(place, { 'src/main.ts': 'main\n' });
  checkout(place, 'feature');
  git(place.dir, 'merge', '--quiet', '--no-commit', 'main');
  staged(place, stage, 'merge');
}

/** Main and the branch both changed the same file; the thought accounts for what the branch did to it. */
async function bothChanged(place: Place, main = edited({ 2: 'fixed\n' })): Promise<void> {
  await honestBranch(place, 'feature', { 'src/app.ts': edited({ 35: 'feature\n' }) });
  checkout(place, 'main');
  code(place, { 'src/app.ts': main });
  checkout(place, 'feature');
}

/** A thought for one of two places that look alike, and then the same change to the other. */
async function repeated(place: Place): Promise<Honest> {
  const same = Array(9).fill('same\n').join('');
  const text = (first: string, second: string) => ({ 'src/twice.ts': same + first + same + second + same });
  code(place, text('old\n', 'old\n'));
  const honest = await honestBranch(place, 'feature', text('new\n', 'old\n'));
  code(place, text('new\n', 'new\n'));
  return honest;
}

/** Code that no thought accounts for, in every shape that code can have. */
export const UNACCOUNTED: Scenario[] = [
  {
    name: 'code and no record at all',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
    },
  },
  {
    name: 'a session that says nothing about its code',
    isVariant: true,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, { kind: 'note', text: 'done, trust me' }, BATON]);
    },
  },
  {
    name: 'code after the thought',
    expect: 'writeback_missing',
    async build(place) {
      await usual(place);
      code(place, { 'src/a.ts': 'b\n' });
    },
  },
  {
    name: 'code in the very commit that brings the records',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      await usual(place);
      write(place, 'src/lib.ts', 'backdoor\n');
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--amend', '--no-edit');
    },
  },
  {
    name: 'code that was amended after the thought',
    expect: ['done_without_thought', 'files_uncovered', 'writeback_missing'],
    async build(place) {
      await usual(place);
      git(place.dir, 'reset', '--quiet', '--soft', 'main');
      write(place, 'src/a.ts', 'something else\n');
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'white space only, under the patch id of another change',
    expect: ['done_without_thought', 'files_uncovered', 'writeback_missing'],
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'x\n' }) });
      git(place.dir, 'reset', '--quiet', '--soft', 'main');
      write(place, 'src/app.ts', edited({ 5: 'x \n' }));
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'the same lines in another file, under the patch id of the first',
    isVariant: true,
    expect: ['done_without_thought', 'files_uncovered', 'writeback_missing'],
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 5: 'x\n' }) });
      git(place.dir, 'reset', '--quiet', '--soft', 'main');
      git(place.dir, 'checkout', '--quiet', 'main', '--', 'src/app.ts');
      write(place, 'src/old.ts', edited({ 5: 'x\n' }));
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'a binary file swapped for another',
    isVariant: true,
    expect: ['done_without_thought', 'files_uncovered', 'writeback_missing'],
    async build(place) {
      await honestBranch(place, 'feature', { 'logo.bin': '\0\x01\x02\n' });
      git(place.dir, 'reset', '--quiet', '--soft', 'main');
      write(place, 'logo.bin', '\0\x01\x03\n');
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'squashed');
    },
  },
  {
    name: 'the same patch once more, and all of it rebased',
    expect: 'writeback_missing',
    async build(place) {
      const { commit } = await repeated(place);
      const again = headOf(place.dir);
      branch(place, 'rebased', 'main');
      code(place, { 'src/other.ts': 'other\n' });
      const base = headOf(place.dir);
      git(place.dir, 'cherry-pick', commit, 'feature~1', again);
      return { base };
    },
  },
  {
    name: 'the same patch once more, further down',
    expect: 'writeback_missing',
    async build(place) {
      await repeated(place);
    },
  },
  {
    name: 'an executable bit',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      chmodSync(join(place.dir, 'src/lib.ts'), 0o755);
      staged(place, () => git(place.dir, 'add', '--all'));
    },
  },
  {
    name: 'a submodule, and what it points to',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'update-index', '--add', '--cacheinfo', `160000,${at(place)},vendor/lib`));
    },
  },
  {
    name: 'a submodule that points elsewhere now',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      const point = (rev: string) =>
        staged(place, () => git(place.dir, 'update-index', '--add', '--cacheinfo', `160000,${at(place, rev)},vendor`));
      point('HEAD');
      branch(place, 'feature');
      point('HEAD~2');
    },
  },
  {
    name: 'a source file that becomes a symbolic link',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      git(place.dir, 'rm', '--quiet', 'src/lib.ts');
      symlinkSync('/etc/passwd', join(place.dir, 'src/lib.ts'));
      staged(place, () => git(place.dir, 'add', '--all'));
    },
  },
  {
    name: 'a file that is renamed, and nothing else',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'mv', 'src/lib.ts', 'src/index.ts'));
    },
  },
  {
    name: 'a file that is renamed under a thought that names its old name',
    expect: 'files_uncovered',
    async build(place) {
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'mv', 'src/lib.ts', 'src/index.ts'));
      const thought = await thoughtSince(place, 'main');
      session(place, [START, { ...thought, files_changed: ['src/lib.ts'] }, BATON]);
    },
  },
  {
    name: 'a file with a line break in its name',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      code(place, { 'src/a\n.handoff/b': 'x\n' });
    },
  },
  {
    name: 'a file with quotes and a backslash in its name, which the thought leaves out',
    expect: 'files_uncovered',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/"quo\\te"': 'x\n', 'src/a.ts': 'a\n' });
      session(place, [START, { ...(await thoughtSince(place, 'main')), files_changed: ['src/a.ts'] }, BATON]);
    },
  },
  {
    name: 'a folder called .handoff somewhere below',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      code(place, { 'src/.handoff/a.ts': 'a\n' });
    },
  },
  ...['.gitattributes', '.gitmodules', '.gitignore', 'package.json'].map((path) => ({
    name: `nothing but ${path}`,
    threat: path === 'package.json' ? 34 : 30,
    isVariant: path !== '.gitattributes',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place: Place) {
      branch(place, 'feature');
      code(place, { [path]: '.handoff/** text eol=crlf\n' });
    },
  })),
  {
    name: 'a file that is deleted',
    isVariant: true,
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      staged(place, () => git(place.dir, 'rm', '--quiet', 'src/lib.ts'));
    },
  },
  {
    name: 'code in a history of its own, merged in',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      await usual(place);
      const tree = rawTree(place.dir, [{ mode: '100644', name: 'evil.ts', oid: blob(place.dir, 'evil\n') }]);
      merge(place, '--allow-unrelated-histories', commitOf(place, tree));
    },
  },
  {
    name: 'an octopus of which one arm has no thought',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      branch(place, 'evil');
      code(place, { 'src/evil.ts': 'evil\n' });
      checkout(place, 'main');
      await honestBranch(place, 'one', { 'src/one.ts': '1\n' });
      checkout(place, 'main');
      await honestBranch(place, 'two', { 'src/two.ts': '2\n' });
      merge(place, 'one', 'evil');
    },
  },
  {
    name: 'a patch that was reverted and comes again without a word',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      const { commit } = await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      git(place.dir, 'rm', '--quiet', 'src/a.ts');
      git(place.dir, 'commit', '--quiet', '--message', 'taken back');
      branch(place, 'again');
      git(place.dir, 'cherry-pick', commit);
    },
  },
  {
    name: 'a force push that takes code back and keeps the records',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      merge(place, '--no-ff', 'feature');
      const honest = at(place);
      branch(place, 'rewritten', 'main~1');
      git(place.dir, 'checkout', '--quiet', honest, '--', '.handoff');
      commitRecords(place);
      return { base: honest, replaces: true };
    },
  },
  {
    name: 'a force push that drops a fix to a file which its own thought names',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place);
      return { replaces: true };
    },
  },
];

/** Merges that bring what no parent has, or drop what the protected branch has. */
export const EVIL_MERGES: Scenario[] = [
  {
    name: 'a merge that adds a file',
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) =>
      evilMerge(place, () => {
        write(place, 'src/evil.ts', 'evil\n');
        git(place.dir, 'add', '--all');
      }),
  },
  {
    name: 'a merge that deletes a file',
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) => evilMerge(place, () => git(place.dir, 'rm', '--quiet', 'src/lib.ts')),
  },
  {
    name: 'a merge that changes a file nobody changed',
    isVariant: true,
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) =>
      evilMerge(place, () => {
        write(place, 'src/lib.ts', 'evil\n');
        git(place.dir, 'add', '--all');
      }),
  },
  {
    name: 'a merge that makes a file executable',
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) => evilMerge(place, () => git(place.dir, 'update-index', '--chmod=+x', 'src/lib.ts')),
  },
  {
    name: 'a merge that brings a submodule',
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) =>
      evilMerge(place, () => git(place.dir, 'update-index', '--add', '--cacheinfo', `160000,${at(place)},vendor`)),
  },
  {
    name: 'a merge that brings a binary file',
    isVariant: true,
    expect: ['files_uncovered', 'writeback_missing'],
    build: (place) =>
      evilMerge(place, () => {
        write(place, 'logo.bin', '\0\x01\n');
        git(place.dir, 'add', '--all');
      }),
  },
  {
    name: 'an octopus that brings more than its arms',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      for (const name of ['one', 'two']) {
        checkout(place, 'main');
        await honestBranch(place, name, { [`src/${name}.ts`]: `${name}\n` });
      }
      checkout(place, 'main');
      git(place.dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'one', 'two');
      staged(place, () => {
        write(place, 'src/three.ts', 'evil\n');
        git(place.dir, 'add', '--all');
      });
      return { base: at(place, 'HEAD^1') };
    },
  },
  {
    name: 'a merge by "ours" that drops a fix in a file of its own',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      await usual(place);
      checkout(place, 'main');
      code(place, { 'src/fix.ts': 'fixed\n' });
      checkout(place, 'feature');
      merge(place, '--strategy=ours', 'main');
    },
  },
  {
    name: 'a merge by "ours" that drops a fix in a file which the thought names',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place);
      merge(place, '--strategy=ours', 'main');
    },
  },
  {
    name: 'the same, before more honest work',
    isVariant: true,
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place);
      merge(place, '--strategy=ours', 'main');
      checkout(place, 'main');
      code(place, { 'src/later.ts': 'later\n' });
      checkout(place, 'feature');
      merge(place, 'main');
    },
  },
  {
    name: 'a merge by "ours" that brings back lines which were deleted',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place, edited({ 2: '' }));
      merge(place, '--strategy=ours', 'main');
    },
  },
  {
    name: 'a merge by "ours" that takes back a mode',
    expect: 'writeback_missing',
    async build(place) {
      await honestBranch(place, 'feature', { 'src/app.ts': edited({ 35: 'feature\n' }) });
      checkout(place, 'main');
      staged(place, () => git(place.dir, 'update-index', '--chmod=+x', 'src/app.ts'));
      git(place.dir, 'reset', '--quiet', '--hard');
      checkout(place, 'feature');
      merge(place, '--strategy=ours', 'main');
    },
  },
  {
    name: 'a merge that keeps one fix of a file and drops another',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place, edited({ 2: 'fixed\n', 18: 'fixed too\n' }));
      git(place.dir, 'merge', '--quiet', '--no-commit', 'main');
      write(place, 'src/app.ts', edited({ 2: 'fixed\n', 35: 'feature\n' }));
      staged(place, () => git(place.dir, 'add', '--all'));
    },
  },
  {
    name: 'a merge that drops a fix, with the protected branch as its first parent',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place);
      const base = at(place, 'main');
      git(place.dir, 'checkout', '--quiet', '--detach', commitOf(place, at(place, 'HEAD^{tree}'), base, at(place)));
    },
  },
  {
    name: 'a merge of the protected branch as it was long ago, with newer things dropped',
    expect: 'writeback_missing',
    async build(place) {
      await bothChanged(place);
      checkout(place, 'main');
      code(place, { 'src/more.ts': 'more\n' });
      checkout(place, 'feature');
      merge(place, '--strategy=ours', 'main~1');
      merge(place, 'main');
    },
  },
];

/** Thoughts that say less, or other things, than they should. */
export const FALSE_THOUGHTS: Scenario[] = [
  {
    name: 'a thought for another commit',
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      session(place, [
        START,
        { ...thought, commit_sha: at(place, 'main'), patch_id: 'a'.repeat(64), commit_patch_ids: [] },
        BATON,
      ]);
    },
  },
  {
    name: 'a thought for a commit that is nowhere',
    isVariant: true,
    expect: ['files_uncovered', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const { patch_id: _, commit_patch_ids: __, ...thought } = await thoughtSince(place, 'main');
      session(place, [START, { ...thought, commit_sha: 'a'.repeat(40) }, BATON]);
    },
  },
  {
    name: 'a thought that leaves a file out',
    expect: 'files_uncovered',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
      session(place, [START, { ...(await thoughtSince(place, 'main')), files_changed: ['src/a.ts'] }, BATON]);
    },
  },
  {
    name: 'a thought whose files are others',
    isVariant: true,
    expect: 'files_uncovered',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, { ...(await thoughtSince(place, 'main')), files_changed: ['README.md'] }, BATON]);
    },
  },
  {
    name: 'a thought in a chain that is broken before it',
    threat: 12,
    expect: ['chain_broken', 'files_uncovered', 'writeback_missing'],
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      session(place, [START, { kind: 'note', text: 'x', prev: `sha256:${'a'.repeat(64)}` }, thought, BATON]);
    },
  },
  {
    name: 'done without a thought',
    expect: 'done_without_thought',
    build(place) {
      branch(place, 'feature');
      session(place, [START, IN_PROGRESS, DONE, BATON]);
    },
  },
  {
    name: 'done with a thought from before the work began',
    expect: 'done_without_thought',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, await thoughtSince(place, 'main'), IN_PROGRESS, DONE, BATON]);
    },
  },
  {
    name: 'done, and the thought only afterwards',
    expect: 'done_without_thought',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, IN_PROGRESS, DONE, await thoughtSince(place, 'main'), BATON]);
    },
  },
  {
    name: 'done with the thought of another task',
    threat: 12,
    expect: 'done_without_thought',
    async build(place) {
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      session(place, [START, IN_PROGRESS, { ...thought, task_id: 'P0.2' }, DONE, BATON]);
    },
  },
  {
    name: 'done with a thought for code that is not there',
    expect: 'done_without_thought',
    async build(place) {
      branch(place, 'elsewhere');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      checkout(place, 'main');
      branch(place, 'feature');
      session(place, [START, IN_PROGRESS, thought, DONE, BATON]);
    },
  },
  {
    name: 'done where the definition asks for a seal, and there is none',
    expect: 'seal_missing',
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      await usual(place);
    },
  },
  {
    name: 'done with a seal that leaves out the end',
    expect: ['chain_broken', 'seal_missing'],
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      const seal = { kind: 'seal' as const, tree_size: 3, root: 'a'.repeat(64) };
      session(place, [START, IN_PROGRESS, thought, DONE, BATON, seal]);
    },
  },
  {
    name: 'done with a seal over other bytes',
    isVariant: true,
    expect: ['chain_broken', 'seal_missing'],
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const thought = await thoughtSince(place, 'main');
      const seal = { kind: 'seal' as const, tree_size: 5, root: 'a'.repeat(64) };
      session(place, [START, IN_PROGRESS, thought, DONE, BATON, seal]);
    },
  },
  {
    name: 'done with a seal that says it is about less than it is',
    expect: ['chain_broken', 'seal_missing'],
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const sessionId = '11111111-51cf-4c61-9a39-2b7fd2f9a1de';
      const drafts = [START, IN_PROGRESS, await thoughtSince(place, 'main'), DONE, BATON];
      const leaves = session(place, drafts, { sessionId }).map(({ bytes }) => bytes);
      const root = Buffer.from(merkleRoot(leaves, nodeHashes.sha256)).toString('hex');
      session(place, [...drafts, { kind: 'seal', tree_size: 3, root }], { sessionId });
    },
  },
  {
    name: 'done with a last record that is a seal by its name alone',
    expect: ['seal_missing', 'yaml_invalid'],
    async build(place) {
      document(place, 'tasks/P0.1.yaml', taskFields(place, 'P0.1', { proof: 'seal' }));
      branch(place, 'feature');
      code(place, { 'src/a.ts': 'a\n' });
      const drafts = [START, IN_PROGRESS, await thoughtSince(place, 'main'), DONE, BATON];
      const [first] = session(place, drafts);
      writeBytes(place.dir, first!.path.replace('0001-start', '0006-seal'), 'sealed\n');
      commitRecords(place);
    },
  },
  {
    name: 'a waiver by an agent',
    expect: ['files_uncovered', 'signer_not_entitled', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      session(place, [START, { kind: 'waiver', commit_sha: commit, reason: 'trust me' }, BATON]);
    },
  },
  {
    name: 'a waiver for another commit',
    expect: ['files_uncovered', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      code(place, { 'src/b.ts': 'b\n' });
      session(place, [START, { kind: 'waiver', commit_sha: commit, reason: 'urgent' }, BATON], {
        identity: 'maintainer',
      });
    },
  },
  {
    name: 'a waiver in the name of a maintainer, by the key of an agent',
    expect: ['files_uncovered', 'signature_invalid', 'writeback_missing'],
    build(place) {
      branch(place, 'feature');
      const commit = code(place, { 'src/a.ts': 'a\n' });
      const drafts = [START, { kind: 'waiver' as const, commit_sha: commit, reason: 'urgent' }, BATON];
      session(place, drafts, { identity: 'maintainer', key: privateKey(place, 'donna') });
    },
  },
];

/** Where the policy asks that somebody else has looked. */
export const NO_REVIEW: Scenario[] = [
  {
    name: 'no review where the policy asks for one',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      await usual(place);
    },
  },
  {
    name: 'a review by the author',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      session(place, [START, approval(records[2]!.id), BATON], { clock: 20 });
    },
  },
  {
    name: 'a review that somebody else refused',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      const { records } = await usual(place);
      session(place, [START, approval(records[2]!.id), BATON], { clock: 20, identity: 'erin' });
      const refusal = { ...approval(records[2]!.id), verdict: 'reject' };
      session(place, [START, refusal, BATON], { clock: 20, identity: 'maintainer' });
    },
  },
  {
    name: 'a review of another thought',
    isVariant: true,
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      await usual(place);
      session(place, [START, approval(`sha256:${'a'.repeat(64)}`), BATON], { clock: 20, identity: 'erin' });
    },
  },
  {
    name: 'a review of one of two thoughts that have something in common',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      branch(place, 'common');
      code(place, { 'src/common.ts': 'common\n' });
      branch(place, 'one');
      code(place, { 'src/evil.ts': 'evil\n' });
      session(place, [START, await thoughtSince(place, 'main'), BATON], { clock: 20 });
      branch(place, 'two', 'common');
      code(place, { 'src/good.ts': 'good\n' });
      const seen = session(place, [START, await thoughtSince(place, 'main'), BATON], { clock: 30 });
      session(place, [START, approval(seen[1]!.id), BATON], { clock: 40, identity: 'erin' });
      merge(place, 'one');
    },
  },
  {
    name: 'a review of a newer thought of the task, which is about less',
    expect: 'review_missing',
    async build(place) {
      policy(place, REVIEW);
      await honestBranch(place, 'one', { 'src/evil.ts': 'evil\n' });
      branch(place, 'two', 'main');
      code(place, { 'src/good.ts': 'good\n' });
      const small = session(place, [START, await thoughtSince(place, 'main'), BATON], { clock: 30 });
      session(place, [START, approval(small[1]!.id), BATON], { clock: 40, identity: 'erin' });
      merge(place, 'one');
    },
  },
];

const REVIEW = { writeback: { required: true, review: true, open_sessions: 'warning' } };

function approval(thought: string) {
  return { kind: 'review' as const, task_id: 'P0.1', verdict: 'approve', thought };
}
