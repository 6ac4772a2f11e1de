import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Place } from '../handoff.ts';
import { commitSealed } from '../ledger/sealed.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import {
  BATON,
  branch,
  code,
  DONE,
  headOf,
  honestBranch,
  IN_PROGRESS,
  judge,
  START,
  session,
  thoughtSince,
  verdict,
  write,
} from './scenario.ts';

const place = template();

test('a branch behind, in which git can follow nothing, is neither merged nor picked', async () => {
  const here = place();
  await honestBranch(here);
  code(here, { 'docs/a.md': 'a\n', 'src/a.ts': 'A\n' });
  git(here.dir, 'checkout', '--quiet', 'main');
  code(here, { 'src/main.ts': 'main\n' });
  git(here.dir, 'rm', '--quiet', 'src/main.ts');
  code(here, { 'src/more.ts': 'more\n' });
  const trace = join(here.dir, '..', 'trace');
  await reopen(here, here.dir, { ...here.env, GIT_TRACE: trace }).handoff.gate({ base: 'main', head: 'feature' });
  const started = [...readFileSync(trace, 'utf8').matchAll(/built-in: git (\S+)/g)].map(([, command]) => command);
  expect(started).not.toContain('merge-tree');
  // one for changes, two for what may be followed, one for whether main has what no thought lists
  expect(started.filter((command) => command === 'diff-tree')).toHaveLength(4);
});

test('a base that is no commit: what to give where there is no remote', async () => {
  const here = place();
  const hints = { 'origin/main': '--base refs/heads/main', 'refs/remotes/up/release/2': '--base refs/heads/release/2' };
  for (const [base, instead] of Object.entries(hints))
    await expect(judge(here, base)).rejects.toMatchObject({
      code: 'unknown_commit',
      message: `There is no commit named "${base}"`,
      hint: expect.stringMatching(new RegExp(`Without a remote: ${instead}$`)),
    });
  for (const base of ['mian', 'refs/heads/mian', 'origin/$(date)', 'main^{/x}']) {
    const error = await judge(here, base).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'unknown_commit', hint: expect.stringContaining('git branch --all') });
    expect(error.hint).not.toContain('--base');
  }
  const head = await judge(here, 'main', 'origin/feature').catch((thrown) => thrown);
  const hint = expect.stringContaining('git branch --all');
  expect(head).toMatchObject({ code: 'unknown_commit', message: 'There is no commit named "origin/feature"', hint });
});

test('a base that a tag is called by too: the hint has the full name', async () => {
  const here = place();
  for (const tag of ['main', 'origin/main']) git(here.dir, 'tag', tag);
  git(here.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  for (const [base, full] of [
    ['main', 'refs/heads/main'],
    ['origin/main', 'refs/remotes/origin/main'],
  ] as const) {
    const hint = `Say which one, in full: ${full}`;
    await expect(judge(here, base)).rejects.toMatchObject({ code: 'usage', hint });
    expect((await judge(here, full)).pass).toBe(true);
  }
});

describe('code with its writeback', () => {
  test('passes as a branch, merged and fast-forwarded', async () => {
    const here = place();
    await honestBranch(here);
    expect(await verdict(here)).toEqual([]);
    git(here.dir, 'checkout', '--quiet', 'main');
    git(here.dir, 'merge', '--quiet', '--no-ff', '--message', 'merge', 'feature');
    expect(await verdict(here, 'HEAD^1')).toEqual([]);
  });

  test('passes when it was squashed, and when it was rebased', async () => {
    const here = place();
    const { base } = await honestBranch(here);
    git(here.dir, 'checkout', '--quiet', 'main');
    git(here.dir, 'merge', '--quiet', '--squash', 'feature');
    git(here.dir, 'commit', '--quiet', '--message', 'squashed');
    expect(await verdict(here, base)).toEqual([]);
  });

  test('is refused without it', async () => {
    const here = place();
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n' });
    expect(await verdict(here)).toEqual(['writeback_missing src/a.ts', 'files_uncovered src/a.ts']);
    const [missing] = (await judge(here)).findings;
    const command = `git handoff thought TASK --commit ${missing!.commit!.slice(0, 12)}`;
    expect(missing!.hint).toContain(`${command} (in an open session: git handoff start)`);
  });

  test('is refused when more comes after the thought', async () => {
    const here = place();
    await honestBranch(here);
    code(here, { 'src/b.ts': 'b\n' });
    expect(await verdict(here)).toEqual(['writeback_missing src/b.ts', 'files_uncovered src/b.ts']);
  });

  test('is refused when a thought hides a file', async () => {
    const here = place();
    const base = git(here.dir, 'rev-parse', 'HEAD');
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
    const thought = await thoughtSince(here, base);
    session(here, [START, { ...thought, files_changed: ['src/a.ts'] }, BATON]);
    expect(await verdict(here)).toEqual(['files_uncovered src/b.ts']);
    code(here, { 'src/c.ts': 'c\n' });
    const alone = ['writeback_missing src/c.ts', 'files_uncovered src/b.ts', 'files_uncovered src/c.ts'];
    expect(await verdict(here)).toEqual(alone); // what is open hides nothing
  });
});

test('tells a reviewer who did what', async () => {
  const here = place();
  await honestBranch(here);
  const result = await judge(here);
  expect(result).toMatchObject({
    pass: true,
    commits: 2,
    records: 5,
    sessions: [{ identity: 'donna', state: 'wrapped', records: 5, tasks: ['P0.1'] }],
    thoughts: [{ task_id: 'P0.1', covers: 1, files_changed: ['src/a.ts'] }],
  });
});

describe('what stands on the protected branch already', () => {
  const review = (thought: string, verdict = 'approve') => ({
    kind: 'review' as const,
    task_id: 'P0.1',
    verdict,
    thought,
  });

  test('a waiver counts', async () => {
    const here = place();
    branch(here, 'feature');
    const commit = code(here, { 'src/a.ts': 'a\n' });
    git(here.dir, 'checkout', '--quiet', 'main');
    session(here, [START, { kind: 'waiver', commit_sha: commit, reason: 'it burns' }, BATON], {
      identity: 'maintainer',
    });
    expect(await verdict(here, 'main', 'feature')).toEqual([]);
    git(here.dir, 'checkout', '--quiet', 'feature');
    code(here, { 'src/b.ts': 'b\n' });
    expect(await verdict(here, 'main', 'feature')).toEqual(['writeback_missing src/b.ts', 'files_uncovered src/b.ts']);
  });

  test('a review counts, for and against', async () => {
    const here = place();
    await reopen(here).handoff.policy.set({ key: 'writeback.review', value: 'true' });
    const { records } = await honestBranch(here);
    git(here.dir, 'checkout', '--quiet', 'main');
    session(here, [START, review(records[2]!.id), BATON], { identity: 'erin', clock: 50 });
    expect(await verdict(here, 'main', 'feature')).toEqual([]);
    session(here, [START, review(records[2]!.id, 'reject'), BATON], { identity: 'erin', clock: 90 });
    expect(await verdict(here, 'main', 'feature')).toEqual(['review_missing 0003-thought.yaml']);
  });

  test('is named as what to restore from', async () => {
    const here = place();
    session(here, [START, BATON]);
    branch(here, 'feature');
    git(here.dir, 'rm', '--quiet', '-r', '.handoff/sessions');
    git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'gone');
    const { findings, base } = await judge(here);
    const typed = new RegExp(`git (restore --overlay --source=${base!.slice(0, 12)} [^,]*),`).exec(findings[0]!.hint!);
    session(here, [START, BATON], { identity: 'erin', clock: 50 }); // the branch has records of its own
    git(here.dir, ...typed![1]!.split(' '));
    git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'put back');
    expect(await verdict(here)).toEqual([]);
    expect(git(here.dir, 'ls-tree', '--name-only', 'HEAD', '.handoff/sessions/')).toContain('erin');
  });

  test('is the policy that is told', async () => {
    const here = place();
    branch(here, 'feature');
    await reopen(here).handoff.policy.set({ key: 'stale_after', value: '60' });
    expect(await judge(here)).toMatchObject({ pass: true, policy_version: 1 });
  });
});

test('a task that is done without any code is reviewed too', async () => {
  const here = place();
  await reopen(here).handoff.policy.set({ key: 'writeback.review', value: 'true' });
  branch(here, 'feature');
  const thought = await thoughtSince(here, 'HEAD');
  session(here, [START, IN_PROGRESS, thought, DONE, BATON]);
  expect(await verdict(here)).toEqual(['review_missing 0003-thought.yaml']);
});

test('what was run and failed is a warning, until it was run again', async () => {
  const here = place();
  const base = git(here.dir, 'rev-parse', 'HEAD');
  branch(here, 'feature');
  code(here, { 'src/a.ts': 'a\n' });
  const ran = (exit_code: number) => ({
    evidence: [{ command: ['npm', 'test'], exit_code, duration_ms: 1, output_digest: `sha256:${'ab'.repeat(32)}` }],
  });
  const thought = await thoughtSince(here, base);
  session(here, [START, { ...thought, ...ran(1) }, BATON]);
  expect(await judge(here)).toMatchObject({
    pass: true,
    findings: [
      { code: 'run_failed', severity: 'warning', message: expect.stringContaining('npm test ended with exit code 1') },
    ],
  });
  session(here, [START, { ...thought, ...ran(0) }, BATON], { clock: 50 });
  expect((await judge(here)).findings).toEqual([]);
});

describe('a merge that nobody wrote a thought about may merge, and nothing else', () => {
  const BODY = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('');

  /** An honest branch that adds auth.js and changes f.js; main as it was. */
  async function ready(here: Place, exempt?: string): Promise<void> {
    code(here, { 'f.js': BODY, 'util.js': `    return false;\n${BODY}` });
    if (exempt) await reopen(here).handoff.policy.set({ key: 'exempt', value: exempt });
    await honestBranch(here, 'feature', {
      'auth.js': 'check admin\nthrow\nreturn true\n',
      'f.js': BODY.replace('line 25\n', 'changed\n'),
      'util.js': BODY,
    });
    git(here.dir, 'checkout', '--quiet', 'main');
  }

  /** Merges the branch into main by hand. */
  function mergeWith(here: Place, change: () => void): void {
    git(here.dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'feature');
    change();
    git(here.dir, 'add', '--all');
    git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'merge');
  }

  test('not drop lines of a file that one side adds', async () => {
    const here = place();
    await ready(here);
    mergeWith(here, () => write(here, 'auth.js', 'return true\n'));
    expect(await verdict(here, 'HEAD^1', 'HEAD', { replaces: true })).toEqual(['writeback_missing auth.js']);
  });

  test('not add lines that an exempt file has brought', async () => {
    const here = place();
    await ready(here, 'docs/');
    const base = git(here.dir, 'rev-parse', 'HEAD');
    code(here, { 'docs/n.txt': 'EVIL()\n' });
    mergeWith(here, () => write(here, 'auth.js', 'check admin\nthrow\nreturn true\nEVIL()\n'));
    expect(await verdict(here, base, 'HEAD', { replaces: true })).toEqual(['writeback_missing auth.js']);
  });

  test('not hide behind a parent that has nothing', async () => {
    const here = place();
    await ready(here);
    const base = git(here.dir, 'rev-parse', 'HEAD');
    const empty = git(here.dir, 'commit-tree', '-m', 'r', git(here.dir, 'mktree'));
    mergeWith(here, () => write(here, 'f.js', `EVIL()\n${BODY.replace('line 25\n', 'changed\n')}`));
    const tree = git(here.dir, 'rev-parse', 'HEAD^{tree}');
    const head = git(here.dir, 'commit-tree', tree, '-p', base, '-p', 'feature', '-p', empty, '-m', 'o');
    expect((await verdict(here, base, head, { replaces: true }))[0]).toMatch(/^writeback_missing /);
  });

  test('not take back a fix whose line is taken away elsewhere', async () => {
    const here = place();
    await ready(here);
    code(here, { 'f.js': BODY.replace('line 3\n', 'line 3\n    return false;\n') });
    mergeWith(here, () => {
      git(here.dir, 'checkout', '--quiet', 'feature', '--', 'f.js');
      git(here.dir, 'checkout', '--quiet', 'HEAD', '--', 'util.js');
    });
    expect(await verdict(here, 'HEAD^1', 'HEAD', { replaces: true })).toEqual(['writeback_missing f.js']);
  });

  test('not choose a side in a criss-cross', async () => {
    const here = place();
    code(here, { 'f.js': BODY });
    const base = git(here.dir, 'rev-parse', 'HEAD');
    await honestBranch(here, 'y', { 'f.js': BODY.replace('line 3\n', 'fix\n') });
    git(here.dir, 'checkout', '--quiet', base);
    await honestBranch(here, 'x', { 'other.js': 'x\n' });
    git(here.dir, 'checkout', '--quiet', 'main');
    git(here.dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'y');
    git(here.dir, 'merge', '--quiet', '--no-ff', '--no-edit', 'x');
    git(here.dir, 'checkout', '--quiet', '-b', 'pr', 'x');
    git(here.dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'y');
    git(here.dir, 'checkout', '--quiet', 'x', '--', 'f.js');
    git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'm');
    expect(await verdict(here, 'main', 'pr')).toEqual(['writeback_missing f.js']);
  });

  test('but bring together lines that are near each other', async () => {
    const here = place();
    await ready(here);
    code(here, { 'f.js': BODY.replace('line 27\n', 'near\n') });
    mergeWith(here, () => {});
    expect(await verdict(here, 'HEAD^1', 'HEAD', { replaces: true })).toEqual([]);
  });
});

test('a review by the bot is that of nobody', async () => {
  const here = place();
  await reopen(here).handoff.policy.set({ key: 'writeback.review', value: 'true' });
  const { records } = await honestBranch(here);
  const review = { kind: 'review' as const, task_id: 'P0.1', verdict: 'approve', thought: records[2]!.id };
  session(here, [START, review, BATON], { identity: 'bot', clock: 50 });
  expect(await verdict(here)).toEqual(['review_missing 0003-thought.yaml']);
});

test('a patch that was taken back does not come again under another thought', async () => {
  const here = place();
  const { commit } = await honestBranch(here, 'first', { 'srv.js': 'backdoor\n' });
  git(here.dir, 'checkout', '--quiet', 'main');
  git(here.dir, 'merge', '--quiet', '--no-edit', 'first');
  git(here.dir, 'revert', '--no-commit', commit);
  git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'take it back');
  git(here.dir, 'checkout', '--quiet', 'main');
  await honestBranch(here, 'second', { 'srv.js': 'honest\n' });
  git(here.dir, 'rm', '--quiet', 'srv.js');
  git(here.dir, 'commit', '--quiet', '--no-verify', '--message', 'away');
  const again = code(here, { 'srv.js': 'backdoor\n' });
  const { findings } = await judge(here);
  expect(findings.filter(({ code: each }) => each === 'writeback_missing').map((found) => found.commit)).toContain(
    again,
  );
});

test('a key that is rotated here, while what it appended is merged from the remote', async () => {
  const here = place();
  const start = headOf(here.dir);
  commitSealed(here);
  await reopen(here).handoff.ledger.append();
  git(here.dir, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  git(here.dir, 'reset', '--quiet', '--hard', start);
  rmSync(join(here.dir, '.git/handoff/ledger.json')); // another clone has appended
  await reopen(here).handoff.identity.rotate({ name: 'maintainer' });
  const base = headOf(here.dir);
  git(here.dir, 'merge', '--quiet', '--no-edit', '--no-verify', 'origin/main');
  const knownCommits = ['origin/main'];
  expect(await verdict(here, base, 'HEAD', { replaces: true, knownCommits })).toEqual([]);
  expect(await verdict(here, 'origin/main', 'HEAD', { replaces: true })).toEqual([]);
});
