import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newKey, privateKey } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { lockBy, pair, revokeOld, rotate } from './machine-keys.ts';
import { type Answer, done, handoff, lockRefs, type Machine } from './machines.ts';

// Threat 60: a lock by a key of which this clone has not heard yet is no noise, and what only looks like one blocks nobody.

const fresh = template(async ({ handoff }) => handoff.task.add({ id: 'P0.1', title: 'Readers' }));

const CLAIMED = { code: 3, json: { error: { code: 'task_claimed' } } };

const addLola = (machine: Machine): void => {
  done(machine, 'identity', 'add', 'lola', '--as', 'maintainer');
};

/** Also in which ways the remote was asked about the protected branch. */
function claim(machine: Machine, identity: string): { answer: Answer; asked: string[] } {
  const trace = join(temporaryDirectory(), 'trace');
  const answer = handoff({ ...machine, env: { ...machine.env, GIT_TRACE: trace } }, 'claim', 'P0.1', '--as', identity);
  const started = readFileSync(trace, 'utf8').matchAll(/built-in: git .*?(ls-remote|fetch) .*refs\/heads\/main/g);
  return { answer, asked: [...started].map(([, command]) => command!) };
}

describe('a lock by', () => {
  it.each([
    ['a key', 'donna', rotate, false],
    ['a key, on a server that keeps locks', 'donna', rotate, true],
    ['an identity', 'lola', addLola, false],
  ])(
    '%s that was not fetched yet holds, and what was fetched for it is where git fetch has it',
    (_, identity, change, keeps) => {
      const { left, right } = pair(fresh(), change, false);
      if (keeps) done({ ...left, dir: left.bare }, 'hooks', 'install', '--server');
      done(left, 'claim', 'P0.1', '--as', identity);
      const own = git(right.dir, 'for-each-ref', 'refs/heads', 'refs/tags');
      expect(claim(right, 'erin')).toMatchObject({ answer: CLAIMED, asked: ['ls-remote', 'fetch'] });
      expect(lockRefs(left, 'task/P0.1')).toEqual(['00000001']);
      expect(git(right.dir, 'rev-parse', 'origin/main')).toBe(git(left.bare, 'rev-parse', 'main'));
      expect(git(right.dir, 'for-each-ref', 'refs/heads', 'refs/tags')).toBe(own);
      expect(existsSync(join(right.dir, '.git/FETCH_HEAD'))).toBe(false);
      expect(claim(right, 'erin')).toMatchObject({ answer: CLAIMED, asked: [] });
      done(left, 'task', 'update', 'P0.1', '--progress', '10');
    },
  );

  it.each([
    ['holds', false],
    ['is not written over where a fetch has left out what says so', true],
  ])('a key, in a clone without all blobs, %s', (_, isFetched) => {
    const { left, right } = pair(fresh(), () => {}, false);
    const part = { ...right, dir: `${right.dir}-part` };
    git(left.bare, 'config', 'uploadpack.allowFilter', 'true');
    git('/', 'clone', '--quiet', '--filter=blob:none', `file://${left.bare}`, part.dir);
    git(part.dir, 'config', 'handoff.remote', 'origin');
    rotate(left);
    git(left.dir, 'push', '--quiet', 'origin', 'HEAD:main');
    done(left, 'claim', 'P0.1', '--as', 'donna');
    if (isFetched) {
      git(part.dir, 'fetch', '--quiet');
      expect(handoff(part, 'claim', 'P0.1', '--as', 'erin')).toMatchObject({ json: { error: { code: 'io' } } });
      git(part.dir, 'fetch', '--quiet', '--refetch', '--no-filter');
    }
    expect(handoff(part, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
  });

  it('a key that somebody else fetched meanwhile holds', () => {
    const { left, right } = pair(fresh(), rotate, false);
    done(left, 'claim', 'P0.1', '--as', 'donna');
    const bin = temporaryDirectory();
    const path = join(bin, 'git');
    const fails = `case "$*" in *refs/heads/main:*) git "$@"; exit 1; esac; exec git "$@"`;
    writeFileSync(path, `#!/bin/sh\nPATH=\${PATH#*:}\n${fails}\n`, { mode: 0o755 });
    const late = { ...right, env: { ...right.env, PATH: `${bin}:${right.env.PATH}` } };
    expect(handoff(late, 'claim', 'P0.1', '--as', 'erin')).toMatchObject(CLAIMED);
  });

  it('a key that was revoked since is noise', async () => {
    let key: KeyObject | undefined;
    const place = fresh();
    const { left, right } = pair(
      place,
      (machine) => {
        rotate(machine);
        key = privateKey(place, 'donna');
        revokeOld(machine);
      },
      false,
    );
    await lockBy(place, left, key!, 'task/P0.1');
    expect(claim(right, 'erin')).toMatchObject({ answer: { code: 0 }, asked: ['ls-remote', 'fetch'] });
  });

  it('a key that the remote, which went back, does not know any more holds', async () => {
    const { place, left, right } = pair(fresh(), rotate);
    done(left, 'claim', 'P0.1', '--as', 'donna');
    git(left.bare, 'update-ref', 'refs/heads/main', 'main~1');
    await lockBy(place, left, newKey(), 'task/P0.1', 2);
    expect(claim(right, 'erin')).toMatchObject({ answer: CLAIMED, asked: ['ls-remote'] });
  });

  it('a key that only a server which keeps locks knows has the error say so, and holds after a fetch', () => {
    const { left, right } = pair(fresh(), rotate, false);
    done({ ...left, dir: left.bare }, 'hooks', 'install', '--server');
    done(left, 'claim', 'P0.1', '--as', 'donna');
    git(left.bare, 'config', 'uploadpack.hideRefs', 'refs/heads/main');
    const { answer, asked } = claim(right, 'erin');
    expect(answer).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    expect(asked).toEqual(['ls-remote']);
    git(left.bare, 'config', '--unset', 'uploadpack.hideRefs');
    const [fetch] = /git fetch \w+/.exec(answer.json.error.hint)!;
    git(right.dir, ...fetch.split(' ').slice(1), '--quiet');
    expect(claim(right, 'erin').answer).toMatchObject(CLAIMED);
  });

  it('nobody blocks nobody, and is asked about once', async () => {
    const { place, left, right } = pair(fresh(), () => {});
    for (const name of ['task/P0.1', 'identity/donna']) await lockBy(place, left, newKey(), name);
    expect(claim(right, 'donna')).toMatchObject({ answer: { code: 0 }, asked: ['ls-remote'] });
  });

  it('nobody is fetched for once, where there is something to fetch', async () => {
    const { place, left, right } = pair(fresh(), addLola, false);
    for (const name of ['task/P0.1', 'identity/donna']) await lockBy(place, left, newKey(), name);
    expect(claim(right, 'donna')).toMatchObject({ answer: { code: 0 }, asked: ['ls-remote', 'fetch'] });
  });

  it('nobody blocks nobody where the remote has no protected branch any more', async () => {
    const { place, left, right } = pair(fresh(), () => {});
    await lockBy(place, left, newKey(), 'task/P0.1');
    git(left.bare, 'update-ref', '-d', 'refs/heads/main');
    expect(claim(right, 'erin')).toMatchObject({ answer: { code: 0 }, asked: ['ls-remote'] });
  });
});

describe('a remote', () => {
  it('that cannot give the branch has nothing written over: the error names the command, and later it is held', () => {
    const { left, right } = pair(fresh(), rotate, false);
    done(left, 'claim', 'P0.1', '--as', 'donna');
    const tree = git(left.bare, 'rev-parse', 'main:.handoff/identities');
    const path = join(left.bare, 'objects', tree.slice(0, 2), tree.slice(2));
    renameSync(path, `${path}.away`);
    expectRefused(left, right);
    renameSync(`${path}.away`, path);
    expect(claim(right, 'erin').answer).toMatchObject(CLAIMED);
  });

  it('whose branch has another history has nothing written over: only who fetches it accepts that', () => {
    const { left, right } = pair(fresh(), rotate, false);
    done(left, 'claim', 'P0.1', '--as', 'donna');
    const commit = git(
      left.bare,
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@example.org',
      'commit-tree',
      '-m',
      'x',
      'main:',
    );
    git(left.bare, 'update-ref', 'refs/heads/main', commit);
    const hint = expectRefused(left, right);
    git(right.dir, ...hint.split(' ').slice(1), '--quiet');
    expect(claim(right, 'erin').answer).toMatchObject(CLAIMED);
  });

  it('whose branch says nothing of whom this clone knows makes nobody a stranger', async () => {
    const { place, left, right } = pair(fresh(), rotate);
    done(left, 'claim', 'P0.1', '--as', 'donna');
    git(left.dir, 'rm', '-r', '--quiet', '.handoff/identities/donna');
    git(left.dir, 'commit', '--quiet', '--no-verify', '-m', 'gone');
    git(left.dir, 'push', '--quiet', '--no-verify', 'origin', 'HEAD:main');
    await lockBy(place, left, newKey(), 'task/P0.1', 2);
    expect(claim(right, 'erin')).toMatchObject({ answer: CLAIMED, asked: ['ls-remote', 'fetch'] });
  });

  /** What right is hinted to type. */
  function expectRefused(left: Machine, right: Machine): string {
    const state = (): string[] => [
      git(left.bare, 'for-each-ref', 'refs/handoff/locks/task'),
      git(right.dir, 'for-each-ref', 'refs/remotes'),
    ];
    const before = state();
    const { answer } = claim(right, 'erin');
    expect(answer).toMatchObject({ code: 4, json: { error: { code: 'io' } } });
    expect(state()).toEqual(before);
    return /git fetch \w+/.exec(answer.json.error.hint)![0];
  }
});
