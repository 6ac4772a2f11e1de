import { expect, test } from 'vitest';
import { type Place, privateKey } from '../handoff.ts';
import { git } from '../temporary.ts';
import { policyAfter, template, writePolicy } from '../threats/forge.ts';
import { asking, ran, treeOf, withRuns } from './runs.ts';
import {
  BATON,
  branch,
  checkout,
  code,
  commitRecords,
  DONE,
  document,
  judge,
  policy,
  START,
  session,
  taskFields,
  thoughtSince,
} from './scenario.ts';
import { pushChange, serverTemplate } from './server.ts';
import { told, WORK } from './tasks.ts';

// A policy that advises: what SPEC §10.4 to §10.7 find is told and refuses nothing. What records and trust need is refused as ever.

const place = template();
const server = serverTemplate();
const ADVISORY = asking({ advisory: true });
const STRICTEST = asking({ review: true, runs: 'error', evidence: 'passed', open_sessions: 'error' });
const ALL_ADVISED = { writeback: { ...(STRICTEST.writeback as object), advisory: true } };

async function found(here: Place, severity: string, base = 'main'): Promise<string[]> {
  const { pass, findings } = await judge(here, base);
  expect(pass).toBe(!findings.some((each) => each.severity === 'error'));
  return [...new Set(findings.filter((each) => each.severity === severity).map((each) => each.code))].sort();
}

/** Everything that a writeback can lack, in one branch. */
async function careless(here: Place): Promise<void> {
  document(here, 'tasks/P0.2.yaml', taskFields(here, 'P0.2', { proof: 'seal' }));
  branch(here, 'feature');
  code(here, { 'src/a.ts': 'a\n' });
  const thought = await thoughtSince(here, 'main');
  told(here, [WORK, withRuns(thought, ran(1, treeOf(here))), DONE], { clock: 20 });
  const ofSealed = { ...thought, task_id: 'P0.2' };
  session(here, [START, { ...WORK, task_id: 'P0.2' }, ofSealed, { ...DONE, task_id: 'P0.2' }, BATON], { clock: 40 });
  session(here, [START, { ...WORK, task_id: 'P0.3' }, { ...DONE, task_id: 'P0.3' }], { clock: 60 });
  code(here, { 'src/b.ts': 'b\n' });
}

const EVERY = [
  'done_without_thought',
  'evidence_missing',
  'files_uncovered',
  'review_missing',
  'run_failed',
  'seal_missing',
  'session_open',
  'writeback_missing',
];

test('what a policy refuses that enforces, the same policy advises', async () => {
  const enforcing = place();
  policy(enforcing, STRICTEST);
  await careless(enforcing);
  expect(await found(enforcing, 'error')).toEqual(EVERY);

  const advising = place();
  policy(advising, ALL_ADVISED);
  await careless(advising);
  expect(await found(advising, 'error')).toEqual([]);
  expect(await found(advising, 'warning')).toEqual(EVERY);
  expect(await judge(advising)).toMatchObject({ advisory: true, pass: true });
});

test('a server lets it in, and says what it would refuse', async () => {
  const here = place();
  policy(here, ADVISORY);
  const bare = server(here, 'main');
  branch(here, 'feature');
  code(here, { 'src/a.ts': 'a\n' });
  const { code: exit, stderr, after, wanted } = pushChange(here, bare, {});
  expect({ exit, after }).toEqual({ exit: 0, after: wanted });
  expect(stderr).toContain('warning writeback_missing: src/a.ts');
  expect(stderr).toContain('the policy only advises');
});

test('a merge that takes the code of others back is advised against', async () => {
  const here = place();
  policy(here, ADVISORY);
  const before = git(here.dir, 'rev-parse', 'HEAD');
  code(here, { 'src/a.ts': 'a\n' });
  const base = git(here.dir, 'rev-parse', 'HEAD');
  git(here.dir, 'reset', '--quiet', '--hard', before);
  code(here, { 'src/b.ts': 'b\n' });
  const { pass, findings } = await judge(here, base, 'HEAD', { replaces: true });
  expect(pass).toBe(true);
  expect(findings.map((each) => each.code)).toContain('writeback_missing');
});

test('what breaks records or trust is refused all the same', async () => {
  const here = place();
  policy(here, ADVISORY);
  session(here, [START, BATON], { clock: 10 });
  branch(here, 'feature');
  git(here.dir, 'rm', '--quiet', '-r', '.handoff/sessions');
  writePolicy(here, 3, policyAfter(here, 2, {}), [['maintainer', privateKey(here, 'donna')]]);
  session(here, [START, { kind: 'note', text: `password=${'kR7dLx92mQpZ4vTn8wYb'}` }, BATON], { clock: 20 });
  const errors = await found(here, 'error');
  expect(errors).toContain('record_deleted');
  expect(errors).toContain('secret_found');
  expect(errors.length).toBeGreaterThan(2);
});

test('the policy that was there decides: turning advice on is judged by what enforces, and turning it off by what advises', async () => {
  const here = place();
  branch(here, 'feature');
  writePolicy(here, 2, policyAfter(here, 1, ADVISORY), [['maintainer', privateKey(here, 'maintainer')]]);
  commitRecords(here);
  code(here, { 'src/a.ts': 'a\n' });
  expect(await found(here, 'error')).toEqual(['files_uncovered', 'writeback_missing']);
  expect(await judge(here)).toMatchObject({ advisory: false });

  checkout(here, 'main');
  git(here.dir, 'merge', '--quiet', '--ff-only', 'feature');
  branch(here, 'back');
  writePolicy(here, 3, policyAfter(here, 2, asking({})), [['maintainer', privateKey(here, 'maintainer')]]);
  commitRecords(here);
  code(here, { 'src/b.ts': 'b\n' });
  expect(await found(here, 'error')).toEqual([]);
  expect(await found(here, 'warning')).toEqual(['files_uncovered', 'writeback_missing']);
});
