import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { code, honestBranch, merge, policy } from '../gate/scenario.ts';
import { commitAll, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, tryGit, writeHook } from './hooked.ts';
import { NOTHING, rawPush } from './raw-push.ts';

// THREATS 58: a client may say anything about what a ref is at, and a push that was judged may still fail.

const place = template();

async function withServer(here: Place, isRooted = true): Promise<string> {
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
  git(here.dir, 'push', '--quiet', server, 'main');
  if (isRooted) git(server, 'config', 'handoff.root', here.root);
  await open(server).hooks.install({ server: true });
  return server;
}

const at = (dir: string, rev: string) => git(dir, 'rev-parse', rev);
const MOVED = expect.stringContaining('the branch has moved');
const HEADS = 'refs/heads/';

function records(here: Place, branch: string): string {
  git(here.dir, 'checkout', '--quiet', '-B', branch, 'main');
  writeSession(here, STORY.slice(0, 2));
  commitAll(here);
  return at(here.dir, branch);
}

/** What a server remembers of whom to trust. */
function remembered(server: string): { root: string | null; version: number } {
  const path = join(server, 'handoff/pins.json');
  const { code: status, stdout } = tryGit(server, ['config', 'handoff.root']);
  const version = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).policy.version : 0;
  return { root: status === 0 ? stdout.trim() : null, version };
}

describe('what a client claims a protected branch to be at', () => {
  it('is compared with what it is: nothing, an older commit, another branch, no object at all', async () => {
    const here = place();
    const older = at(here.dir, 'main');
    git(here.dir, 'checkout', '--quiet', '-b', 'next');
    writeSession(here, STORY.slice(0, 1));
    commitAll(here);
    git(here.dir, 'branch', '-f', 'main', 'next');
    const server = await withServer(here);
    const main = at(server, 'main');
    const now = records(here, 'more');
    git(here.dir, 'push', '--quiet', server, 'more:free');
    const claims = [NOTHING, older, now, 'f'.repeat(40)];
    for (const old of claims) {
      const { refs, said } = rawPush(here.dir, server, [{ old, now, ref: `${HEADS}main` }]);
      expect([refs, said]).toEqual([{ [`${HEADS}main`]: 'pre-receive hook declined' }, MOVED]);
    }
    expect(at(server, 'main')).toBe(main);
    expect(rawPush(here.dir, server, [{ old: main, now, ref: `${HEADS}main` }]).refs).toEqual({
      [`${HEADS}main`]: 'ok',
    });
  });

  it('that it is not there, or at something, when it is deleted', async () => {
    const here = place();
    const server = await withServer(here);
    const side = code(here, { s: 's\n' });
    for (const old of [side, NOTHING]) {
      const { refs } = rawPush(here.dir, server, [{ old, now: NOTHING, ref: `${HEADS}main` }]);
      expect(refs).toEqual({ [`${HEADS}main`]: 'pre-receive hook declined' });
    }
    expect(at(server, 'main')).toBe(at(here.dir, 'main~1'));
  });

  it('that a new one is at something', async () => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: `${HEADS}main,${HEADS}release` });
    const server = await withServer(here);
    const main = at(server, 'main');
    const side = code(here, { s: 's\n' });
    const { refs, said } = rawPush(here.dir, server, [{ old: side, now: side, ref: `${HEADS}release` }]);
    expect([refs, said]).toEqual([{ [`${HEADS}release`]: 'pre-receive hook declined' }, MOVED]);
    expect(at(server, 'main')).toBe(main);
  });

  it('of a free one is for git to compare', async () => {
    const here = place();
    const server = await withServer(here);
    const side = code(here, { s: 's\n' });
    const claim = (old: string) => rawPush(here.dir, server, [{ old, now: side, ref: `${HEADS}free` }]).refs;
    expect(claim('f'.repeat(40))[`${HEADS}free`]).not.toMatch(/^ok|hook declined$/);
    expect(claim(NOTHING)).toEqual({ [`${HEADS}free`]: 'ok' });
  });
});

describe('a protected branch that one push names twice', () => {
  it('does not take the second step from where the first would have led', async () => {
    const here = place();
    const server = await withServer(here);
    const main = at(server, 'main');
    const good = records(here, 'good');
    const evil = code(here, { evil: 'evil\n' });
    for (const second of [
      { old: good, now: evil },
      { old: main, now: evil },
      { old: good, now: NOTHING },
    ]) {
      const ref = `${HEADS}main`;
      expect(
        rawPush(here.dir, server, [
          { old: main, now: good, ref },
          { ...second, ref },
        ]).refs,
      ).toEqual({
        [ref]: 'pre-receive hook declined',
      });
      expect(at(server, 'main')).toBe(main);
    }
  });

  it('by a symbolic ref, as two things: refused; as one, as a mirror does: taken', async () => {
    const here = place();
    const server = await withServer(here);
    git(server, 'symbolic-ref', `${HEADS}trunk`, `${HEADS}main`);
    const old = at(server, 'main');
    const [one, two] = [records(here, 'one'), records(here, 'two')];
    const both = (first: string, second: string) =>
      rawPush(here.dir, server, [
        { old, now: first, ref: `${HEADS}main` },
        { old, now: second, ref: `${HEADS}trunk` },
      ]);
    expect(both(one, two).said).toContain('two things at once');
    expect(at(server, 'main')).toBe(old);
    expect(both(one, one).refs).toMatchObject({ [`${HEADS}main`]: 'ok' });
    expect(at(server, 'main')).toBe(one);
  });
});

it('a symbolic ref alone is judged as the protected branch that it leads to', async () => {
  const here = place();
  const server = await withServer(here);
  git(server, 'symbolic-ref', `${HEADS}alias`, `${HEADS}main`);
  const old = at(server, 'main');
  const now = code(here, { 'src/evil.ts': 'evil\n' });
  const { refs, said } = rawPush(here.dir, server, [{ old, now, ref: `${HEADS}alias` }]);
  expect({ ok: refs[`${HEADS}alias`] === 'ok', main: at(server, 'main') }).toEqual({ ok: false, main: old });
  expect(said).toContain('writeback_missing');
});

describe('what a server remembers', () => {
  it('is no root that a client has claimed the branch to have', async () => {
    const here = place();
    const server = await withServer(here, false);
    const main = at(server, 'main');
    git(here.dir, 'checkout', '--quiet', '--orphan', 'evil');
    git(here.dir, 'rm', '-r', '--quiet', '--force', '.');
    const stranger = open(here.dir, { env: { ...here.env, HANDOFF_KEYS: join(here.dir, '../other-keys') } });
    git(here.dir, 'symbolic-ref', 'HEAD', 'refs/heads/main2');
    git(here.dir, 'config', '--unset', 'handoff.root'); // his own clone trusts nobody else's
    await stranger.init({ hooks: false });
    const evil = at(here.dir, 'HEAD');
    rawPush(here.dir, server, [
      { old: NOTHING, now: evil, ref: `${HEADS}free` },
      { old: evil, now: evil, ref: `${HEADS}main` },
    ]);
    git(here.dir, 'checkout', '--quiet', '--force', 'main');
    expect([null, here.root]).toContain(remembered(server).root);
    const now = records(here, 'more');
    expect(rawPush(here.dir, server, [{ old: main, now, ref: `${HEADS}main` }]).refs).toEqual({
      [`${HEADS}main`]: 'ok',
    });
    expect(remembered(server).root).toBe(here.root);
  });

  it('is no policy of a branch that nobody has merged', async () => {
    const here = place();
    const server = await withServer(here);
    const main = at(server, 'main');
    git(here.dir, 'checkout', '--quiet', '-b', 'proposal');
    policy(here, { stale_after: 60 });
    const proposal = at(here.dir, 'proposal');
    git(here.dir, 'push', '--quiet', server, 'proposal');
    rawPush(here.dir, server, [{ old: proposal, now: proposal, ref: `${HEADS}main` }]);
    expect(remembered(server).version).toBeLessThan(2);
    const now = records(here, 'more');
    expect(rawPush(here.dir, server, [{ old: main, now, ref: `${HEADS}main` }]).refs).toEqual({
      [`${HEADS}main`]: 'ok',
    });
  });

  it.each([
    ['another ref of the push is refused', true],
    ['the update hook says no', false],
  ])('is nothing that did not get in: %s', async (_, isAtomic) => {
    const here = place();
    await here.handoff.policy.set({ key: 'protected', value: `${HEADS}main,${HEADS}release` });
    const server = await withServer(here);
    const old = at(server, 'main');
    git(here.dir, 'checkout', '--quiet', '-b', 'next');
    policy(here, { stale_after: 60 }, undefined, 2);
    const now = at(here.dir, 'next');
    const evil = code(here, { evil: 'evil\n' });
    if (!isAtomic) writeHook(join(server, 'hooks/update'), '#!/bin/sh\nexit 1\n');
    const { refs } = rawPush(
      here.dir,
      server,
      [{ old, now, ref: `${HEADS}main` }, ...(isAtomic ? [{ old: NOTHING, now: evil, ref: `${HEADS}release` }] : [])],
      isAtomic,
    );
    expect(refs[`${HEADS}main`]).not.toBe('ok');
    expect(remembered(server).version).toBe(2);
    if (!isAtomic) writeHook(join(server, 'hooks/update'), '#!/bin/sh\nexit 0\n');
    git(here.dir, 'checkout', '--quiet', 'main');
    const more = records(here, 'more');
    expect(rawPush(here.dir, server, [{ old, now: more, ref: `${HEADS}main` }]).refs).toEqual({
      [`${HEADS}main`]: 'ok',
    });
  });

  it('is none of a branch that has a policy of its own, before the project has one', async () => {
    const here = place();
    git(here.dir, 'checkout', '--quiet', '--orphan', 'bare-code');
    git(here.dir, 'rm', '-r', '--quiet', '--force', '.');
    writeBytes(here.dir, 'code', 'code\n');
    git(here.dir, 'add', 'code');
    git(here.dir, 'commit', '--quiet', '-m', 'code');
    const server = join(here.dir, '../server.git');
    git('/', 'init', '--quiet', '--bare', '--initial-branch=main', server);
    git(here.dir, 'push', '--quiet', server, 'bare-code:main');
    await open(server).hooks.install({ server: true });
    // a stranger's own repository, on a branch that its policy protects
    git(here.dir, 'checkout', '--quiet', '-b', 'trunk');
    const stranger = open(here.dir, { env: { ...here.env, HANDOFF_KEYS: join(here.dir, '../other-keys') } });
    git(here.dir, 'config', '--unset', 'handoff.root'); // it trusts nobody else's
    await stranger.init({ hooks: false });
    expect(tryGit(here.dir, ['push', server, 'trunk'])).toMatchObject({ code: 0 });
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'more');
    tryGit(here.dir, ['push', server, 'trunk']);
    expect(remembered(server)).toEqual({ root: null, version: 0 });
    // and the project begins
    git(here.dir, 'checkout', '--quiet', 'bare-code');
    git(here.dir, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'main');
    expect(tryGit(here.dir, ['push', server, 'bare-code:main'])).toMatchObject({ code: 0 });
  });
});

describe('honest clients', () => {
  it('push code that is accounted for, one after the other, and force a free branch', async () => {
    const here = place();
    const server = await withServer(here);
    await honestBranch(here);
    git(here.dir, 'checkout', '--quiet', 'main');
    merge(here, '--no-ff', 'feature');
    expect(tryGit(here.dir, ['push', server, 'main', 'feature'])).toMatchObject({ code: 0 });
    git(here.dir, 'checkout', '--quiet', '-b', 'free');
    code(here, { a: 'a\n' });
    expect(tryGit(here.dir, ['push', server, 'free'])).toMatchObject({ code: 0 });
    git(here.dir, 'commit', '--quiet', '--amend', '-m', 'other');
    expect(tryGit(here.dir, ['push', `--force-with-lease=free:${at(server, 'free')}`, server, 'free'])).toMatchObject({
      code: 0,
    });
    expect(tryGit(here.dir, ['push', server, ':free', 'main'])).toMatchObject({ code: 0 });
  });
});
