import { describe, expect, test } from 'vitest';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import {
  BATON,
  branch,
  code,
  DONE,
  honestBranch,
  IN_PROGRESS,
  judge,
  START,
  session,
  thoughtSince,
  verdict,
} from './scenario.ts';

const place = template();

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
    expect(await verdict(here)).toEqual(['writeback_missing src/a.ts']);
  });

  test('is refused when more comes after the thought', async () => {
    const here = place();
    await honestBranch(here);
    code(here, { 'src/b.ts': 'b\n' });
    expect(await verdict(here)).toEqual(['writeback_missing src/b.ts']);
  });

  test('is refused when a thought hides a file', async () => {
    const here = place();
    const base = git(here.dir, 'rev-parse', 'HEAD');
    branch(here, 'feature');
    code(here, { 'src/a.ts': 'a\n', 'src/b.ts': 'b\n' });
    const thought = await thoughtSince(here, base);
    session(here, [START, { ...thought, files_changed: ['src/a.ts'] }, BATON]);
    expect(await verdict(here)).toEqual(['files_uncovered src/b.ts']);
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
    expect(await verdict(here, 'main', 'feature')).toEqual(['writeback_missing src/b.ts']);
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
    expect(findings[0]!.hint).toContain(`git restore --source=${base!.slice(0, 12)} `);
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
