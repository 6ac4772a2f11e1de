import { describe, expect, test } from 'vitest';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { BATON, branch, code, honestBranch, judge, START, session, thoughtSince, verdict } from './scenario.ts';

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
