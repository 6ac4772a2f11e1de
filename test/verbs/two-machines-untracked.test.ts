import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newKey } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { lockBy, pair, rotate } from './machine-keys.ts';
import { done, handoff, lockRefs, type Machine } from './machines.ts';

// Threat 60: a lock by a key that stands on a protected branch which this clone does not track is no noise either.

const fresh = template(async ({ handoff }) => {
  for (const id of ['P0.1', 'P0.2']) await handoff.task.add({ id, title: id });
});

const CLAIMED = { code: 3, json: { error: { code: 'task_claimed' } } };

/** A clone of the branch `work` alone, which left the protected one before a key was rotated. */
function cloneOf({ bare, env }: Machine, ...options: string[]): Machine {
  const dir = temporaryDirectory();
  git('/', 'clone', '--quiet', '--single-branch', '--branch', 'work', ...options, `file://${bare}`, dir);
  git(dir, 'config', 'handoff.remote', 'origin');
  return { dir, bare, env };
}

/** Left took the task by a new key, which stands on the protected branch. */
function taken(): { left: Machine; right: Machine; place: ReturnType<typeof fresh> } {
  const { place, left, right } = pair(fresh(), () => {}, false);
  git(right.dir, 'commit', '--quiet', '--allow-empty', '--message', 'work');
  git(right.dir, 'push', '--quiet', 'origin', 'HEAD:work');
  rotate(left);
  git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
  done(left, 'claim', 'P0.1', '--as', 'donna');
  return { place, left, right };
}

/** Which of these the verb asked the remote for. */
function asked(machine: Machine, identity: string): string[] {
  const trace = join(temporaryDirectory(), 'trace');
  handoff({ ...machine, env: { ...machine.env, GIT_TRACE: trace } }, 'claim', 'P0.1', '--as', identity);
  const started = readFileSync(trace, 'utf8').matchAll(/built-in: git .*?(ls-remote|fetch) .*refs\/heads\/main/g);
  return [...started].map(([, command]) => command!);
}

describe('a lock by a key of a branch that is not tracked holds', () => {
  it.each<[string, string[]]>([
    ['one branch', []],
    ['one branch and its newest commit', ['--depth=1']],
    ['one branch without its blobs', ['--filter=blob:none']],
  ])('in a clone of %s', (_, options) => {
    const { left } = taken();
    git(left.bare, 'config', 'uploadpack.allowFilter', 'true');
    const narrow = cloneOf(left, ...options);
    expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
    expect(lockRefs(left, 'task/P0.1')).toEqual(['00000001']);
    expect(git(narrow.dir, 'for-each-ref', '--format=%(refname)', 'refs/remotes', 'refs/heads', 'refs/tags')).toBe(
      'refs/heads/work\nrefs/remotes/origin/work',
    );
    expect(existsSync(join(narrow.dir, '.git/FETCH_HEAD'))).toBe(false);
    done(left, 'task', 'update', 'P0.1', '--progress', '10');
  });

  it('and is not asked about again', () => {
    const { left } = taken();
    const narrow = cloneOf(left);
    expect(asked(narrow, 'erin')).toEqual(['ls-remote', 'fetch']);
    git(narrow.dir, 'gc', '--quiet', '--prune=now');
    expect(asked(narrow, 'erin')).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['a clone', []],
    ['a shallow clone', ['--depth=1']],
  ])('after %s has asked about an older one', (_, options) => {
    const { left } = taken();
    const narrow = cloneOf(left, ...options);
    expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
    const history = git(narrow.dir, 'rev-list', 'HEAD');
    rotate(left);
    git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
    done(left, 'claim', 'P0.2', '--as', 'donna');
    expect(handoff(narrow, 'claim', 'P0.2', '--as', 'erin')).toMatchObject(CLAIMED);
    expect(git(narrow.dir, 'rev-list', 'HEAD')).toBe(history);
  });

  it('where the branch is tracked of one remote, and locks are taken on another', () => {
    const { left, right } = taken();
    const fork = `${left.bare}-fork`;
    git('/', 'clone', '--quiet', '--bare', left.bare, fork);
    git(fork, 'update-ref', 'refs/heads/main', 'refs/heads/work');
    git(right.dir, 'remote', 'rename', 'origin', 'upstream');
    git(right.dir, 'config', '--unset', 'branch.main.remote');
    git(right.dir, 'remote', 'add', '-f', 'origin', fork);
    git(right.dir, 'config', 'handoff.remote', 'upstream');
    git(right.dir, 'update-ref', '-d', 'refs/remotes/upstream/main');
    expect(handoff(right, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
  });

  it('where the remote is known by its address alone', () => {
    const { left } = taken();
    const narrow = cloneOf(left);
    git(narrow.dir, 'remote', 'remove', 'origin');
    git(narrow.dir, 'config', 'handoff.remote', `file://${left.bare}`);
    expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
  });

  it('and nothing is written over where it has another history than it had: the command that is named accepts that', async () => {
    const { place, left } = taken();
    const narrow = cloneOf(left);
    expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
    const as = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
    const commit = git(left.bare, ...as, 'commit-tree', '-m', 'x', 'main:');
    git(left.bare, 'update-ref', 'refs/heads/main', commit);
    await lockBy(place, left, newKey(), 'task/P0.1', 2);
    const { code, json } = handoff(narrow, 'claim', 'P0.1', '--as', 'erin');
    expect({ code, error: json.error.code }).toEqual({ code: 4, error: 'io' });
    const [, command] = /(git fetch .*), then/.exec(json.error.hint)!;
    execFileSync('sh', ['-c', `${command} --quiet`], { cwd: narrow.dir });
    expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
  });
});

it('nobody blocks nobody in a clone of one branch', async () => {
  const { place, left, right } = pair(fresh(), () => {});
  git(right.dir, 'push', '--quiet', 'origin', 'HEAD:work');
  const narrow = cloneOf(left);
  await lockBy(place, left, newKey(), 'task/P0.1');
  expect(handoff(narrow, 'claim', 'P0.1', '--as', 'erin').code).toBe(0);
});
