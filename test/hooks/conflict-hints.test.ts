import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openPlace, type Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { error } from '../verbs/tasks.ts';
import { hooked, tryGit } from './hooked.ts';

// Two branches have each signed the next version of a document, in clones with hooks and a remote. What the hint prints is typed as it
// is, and nothing else: our own hooks must let it pass.

const fresh = template(({ handoff }) => handoff.task.add({ id: 'T1', title: 'One' }));

type Change = (place: Place, at: number) => Promise<unknown>;

const CHANGES: Record<string, Change[]> = {
  'a policy': [({ handoff }, at) => handoff.policy.set({ key: 'stale_after', value: String(700 + at) })],
  'a task': [({ handoff }, at) => handoff.task.edit({ id: 'T1', priority: at })],
  both: [
    ({ handoff }, at) => handoff.policy.set({ key: 'stale_after', value: String(700 + at) }),
    ({ handoff }, at) => handoff.task.edit({ id: 'T1', priority: at }),
  ],
};

/** `place` and another clone of its remote, which the remote's branch is pushed from. */
async function withRemote(): Promise<{ here: Place; there: Place }> {
  const here = await hooked(fresh());
  const [remote, other] = [join(here.dir, '../remote.git'), join(here.dir, '../other')];
  git('/', 'clone', '--quiet', '--bare', here.dir, remote);
  git(here.dir, 'remote', 'add', 'origin', remote);
  git(here.dir, 'fetch', '--quiet', 'origin');
  git(here.dir, 'branch', '--quiet', '--set-upstream-to', 'origin/main');
  git('/', 'clone', '--quiet', remote, other);
  return { here, there: await hooked(openPlace(other, here.keys, here.root)) };
}

async function make(place: Place, changes: readonly Change[], at: number): Promise<void> {
  for (const change of changes) await change(reopen(place), at);
}

type Way = (changes: readonly Change[]) => Promise<{ here: Place; base: string }>;

/** What somebody else has pushed meets what is committed here. */
const pulled =
  (...flags: string[]): Way =>
  async (changes) => {
    const { here, there } = await withRemote();
    await make(there, changes, 1);
    git(there.dir, 'push', '--quiet', 'origin', 'main');
    await make(here, changes, 2);
    expect(tryGit(here.dir, ['pull', '--quiet', ...flags], { GIT_EDITOR: 'true' }).code).not.toBe(0);
    return { here, base: 'origin/main' };
  };

/** Two branches of one clone meet, of which its remote has neither. */
const local =
  (on: 'main' | 'side', ...command: string[]): Way =>
  async (changes) => {
    const { here } = await withRemote();
    git(here.dir, 'switch', '--quiet', '--create', 'side');
    await make(here, changes, 1);
    git(here.dir, 'switch', '--quiet', 'main');
    await make(here, changes, 2);
    git(here.dir, 'switch', '--quiet', on);
    expect(tryGit(here.dir, command).code).not.toBe(0);
    return { here, base: 'main' };
  };

const WAYS: Record<string, Way> = {
  'pull that merges': pulled('--no-rebase'),
  'pull --rebase': pulled('--rebase'),
  'merge of the protected branch': local('side', 'merge', 'main'),
  'merge into the protected branch': local('main', 'merge', 'side'),
  rebase: local('side', 'rebase', 'main'),
  'cherry-pick': local('main', 'cherry-pick', 'side'),
};

/** Until nothing is in conflict: a rebase may stop again. */
async function typeHints({ dir, ...place }: Place): Promise<void> {
  for (let stops = 0; stops < 3 && git(dir, 'ls-files', '--unmerged') !== ''; stops++) {
    const { hint } = await error(reopen({ ...place, dir }).handoff.task.edit({ id: 'T1', priority: 9 }));
    expect(hint).toContain('; then make your own change again: git handoff ');
    const [commands = ''] = hint.split('; then make');
    spawnSync('sh', ['-c', commands], { cwd: dir, env: { ...isolatedEnv, GIT_EDITOR: 'true' } });
  }
}

describe('while a task is in conflict', () => {
  test.each(Object.keys(WAYS))('status and next say so after a %s, and how to resolve it', async (way) => {
    const { here } = await WAYS[way]!(CHANGES['a task']!);
    const place = reopen(here);
    const { warnings } = await place.handoff.status();
    expect(warnings).toContainEqual({
      kind: 'in_conflict',
      message: expect.stringMatching(/^\.handoff\/tasks\/T1\.yaml is in conflict.*git restore --source=/s),
    });
    await place.handoff.next();
    expect(place.warnings).toContainEqual(expect.stringContaining('T1.yaml is in conflict'));
  });
});

const MARKS = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'rebase-merge', 'rebase-apply'];

describe.each(Object.keys(CHANGES))('%s in conflict', (what) => {
  test.each(Object.keys(WAYS))('after a %s', async (way) => {
    const { here, base } = await WAYS[way]!(CHANGES[what]!);
    await typeHints(here);
    expect(git(here.dir, 'status', '--porcelain')).toBe('');
    expect(MARKS.filter((mark) => existsSync(join(here.dir, '.git', mark)))).toEqual([]);
    expect(await reopen(here).handoff.verify()).toMatchObject({ findings: [] });
    expect(await reopen(here).handoff.gate({ base, head: 'HEAD' })).toMatchObject({ findings: [] });
    await make(here, CHANGES[what]!, 5);
    expect(await reopen(here).handoff.gate({ base, head: 'HEAD' })).toMatchObject({ findings: [] });
  });
});

describe('in a merge', () => {
  const changes = CHANGES['a task']!;
  const T1 = '.handoff/tasks/T1.yaml';

  test('what neither side has signed is refused', async () => {
    const { here } = await WAYS['merge of the protected branch']!(changes);
    git(here.dir, 'checkout', '--theirs', '--', T1);
    appendFileSync(join(here.dir, T1), '# mended by hand\n');
    git(here.dir, 'add', T1);
    expect(tryGit(here.dir, ['commit', '--no-edit'])).toMatchObject({ code: 1, stderr: expect.stringContaining(T1) });
  });

  test('what only this side has changed does not go back to what the other one still has', async () => {
    const here = await hooked(fresh());
    git(here.dir, 'switch', '--quiet', '--create', 'side');
    git(here.dir, 'commit', '--quiet', '--allow-empty', '--no-verify', '--message', 'x');
    git(here.dir, 'switch', '--quiet', '--create', 'mine', 'main');
    await make(here, changes, 1);
    git(here.dir, 'merge', '--quiet', '--no-ff', '--no-commit', 'side');
    git(here.dir, 'restore', '--source=side', '--staged', '--worktree', '--', T1);
    const refused = tryGit(here.dir, ['commit', '--no-edit']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('policy_rollback') });
  });

  test('verify --staged finds nothing in what resolves it', async () => {
    const { here } = await WAYS['merge of the protected branch']!(CHANGES['a policy']!);
    git(here.dir, 'restore', '--source=main', '--staged', '--worktree', '--', '.handoff/policy');
    expect(await reopen(here).handoff.verify({ staged: true })).toMatchObject({ findings: [] });
  });
});
