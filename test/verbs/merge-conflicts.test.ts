import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { error } from './tasks.ts';

// Two branches have each signed the next version of a document. What the hint prints is typed.

const fresh = template(({ handoff }) => handoff.task.add({ id: 'T1', title: 'One' }));

function type({ dir }: Place, command: string): number | null {
  return spawnSync('sh', ['-c', command], { cwd: dir, env: { ...isolatedEnv, GIT_EDITOR: 'true' } }).status;
}

type Change = (place: Place, at: number) => Promise<unknown>;

const POLICY: Change = ({ handoff }, at) => handoff.policy.set({ key: 'stale_after', value: String(700 + at) });
const TASK: Change = ({ handoff }, at) => handoff.task.edit({ id: 'T1', priority: at });

/** main and other have both made it. */
async function parted(...changes: Change[]): Promise<Place> {
  const place = fresh();
  for (const [at, branch] of ['other', 'main'].entries()) {
    if (branch === 'other') git(place.dir, 'switch', '--quiet', '--create', branch);
    else git(place.dir, 'switch', '--quiet', branch);
    for (const change of changes) await change(reopen(place), at + 1);
  }
  git(place.dir, 'switch', '--quiet', 'other');
  return place;
}

/** The commands of a hint, up to where one's own change is made again. */
function commandsOf(hint: string): string {
  expect(hint).toContain('; then make your own change again: git handoff ');
  return hint.split('; then make')[0]!.replaceAll('; ', ' && ');
}

const REFUSED: [string, (place: Place) => Promise<unknown>][] = [
  ['status', ({ handoff }) => handoff.status()],
  ['start', ({ handoff }) => handoff.start({ as: 'donna' })],
  ['task list', ({ handoff }) => handoff.task.list()],
  ['policy show', ({ handoff }) => handoff.policy.show()],
  ['policy set', ({ handoff }) => handoff.policy.set({ key: 'stale_after', value: '9' })],
];

describe('a policy in conflict', () => {
  test.each(REFUSED)('%s names the commands that resolve it', async (_, verb) => {
    const place = await parted(POLICY);
    expect(type(place, 'git merge main')).toBe(1);
    const refused = await error(verb(reopen(place)));
    expect(refused.message).toMatch(/^\.handoff\/policy\/0002\.yaml is in conflict/);
    expect(type(place, commandsOf(refused.hint))).toBe(0);
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ version: 2, policy: { stale_after: 702 } });
    expect(await reopen(place).handoff.gate({ base: 'main', head: 'HEAD' })).toMatchObject({ pass: true });
    await POLICY(reopen(place), 5);
    expect(await reopen(place).handoff.gate({ base: 'main', head: 'HEAD' })).toMatchObject({ pass: true });
  });

  test('of which one branch has made two, in a merge of it into main', async () => {
    const place = await parted(POLICY);
    await POLICY(reopen(place), 3);
    git(place.dir, 'switch', '--quiet', 'main');
    expect(type(place, 'git merge other')).toBe(1);
    const refused = await error(reopen(place).handoff.status());
    expect(type(place, commandsOf(refused.hint))).toBe(0);
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.policy.show()).toMatchObject({ version: 2, policy: { stale_after: 702 } });
  });
});

describe.each([
  ['merge', 'git merge main'],
  ['rebase', 'git rebase main'],
])('policy and task in conflict, in a %s', (_, command) => {
  test('are resolved by one hint', async () => {
    const place = await parted(TASK, POLICY);
    expect(type(place, command)).toBe(1);
    for (let stops = 0; stops < 3 && git(place.dir, 'ls-files', '--unmerged') !== ''; stops++) {
      const refused = (await error(reopen(place).handoff.task.edit({ id: 'T1', priority: 9 }))) ?? { hint: '' };
      type(place, commandsOf(refused.hint));
    }
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect(git(place.dir, 'symbolic-ref', '--short', 'HEAD')).toBe('other');
    expect(await findings(place)).toEqual([]);
    expect(await reopen(place).handoff.gate({ base: 'main', head: 'HEAD' })).toMatchObject({ pass: true });
  });
});

test('verify --staged names them too', async () => {
  const place = await parted(TASK);
  expect(type(place, 'git merge main')).toBe(1);
  const { findings: found } = await reopen(place).handoff.verify({ staged: true });
  const inConflict = found.filter(({ path }) => path === '.handoff/tasks/T1.yaml');
  expect(inConflict.length).toBeGreaterThan(0);
  for (const { hint } of inConflict) expect(hint).toContain('git restore --source=main --staged --worktree');
});

test('where code is in conflict as well, that is left to whoever knows it', async () => {
  const place = await parted(TASK, async ({ dir }, at) => {
    spawnSync('sh', ['-c', `echo ${at} > a.txt && git add a.txt && git commit -qm ${at}`], {
      cwd: dir,
      env: isolatedEnv,
    });
  });
  expect(type(place, 'git merge main')).toBe(1);
  const refused = await error(reopen(place).handoff.task.edit({ id: 'T1', priority: 9 }));
  expect(refused.hint).toContain('; resolve the other files, and git commit --no-edit; then');
});

test('a file that is broken without a merge is told as before', async () => {
  const place = fresh();
  spawnSync('sh', ['-c', 'echo x > .handoff/policy/0002.yaml'], { cwd: place.dir });
  expect(await error(reopen(place).handoff.status())).toMatchObject({ hint: expect.not.stringContaining('--source') });
});
