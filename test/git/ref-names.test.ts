import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openIsomorphicStore } from '../../src/git/isomorphic/isomorphic-store.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { gitAt, history } from './fixture.ts';

// THREATS 53. test/gate/attacks-names.ts has what the gate makes of it.

function repository(): string {
  return history(join(temporaryDirectory(), 'r'));
}

async function asked<T>(dir: string, ask: (store: ReturnType<typeof openNativeStore>) => Promise<T>): Promise<T> {
  const store = openNativeStore(gitAt(dir));
  try {
    return await ask(store);
  } finally {
    await store.close();
  }
}

describe('a name that more than one ref has', () => {
  it('is refused by every reader, and the error says what to say instead', async () => {
    const dir = repository();
    git(dir, 'tag', 'main', 'side');
    const error = { code: 'usage', data: { name: 'main', candidates: ['refs/tags/main', 'refs/heads/main'] } };
    const hint = expect.stringContaining('refs/heads/main');
    for (const rev of ['main', 'main~1', 'main^{commit}', 'main@{0}', 'main:note.md'])
      await expect(asked(dir, (store) => store.resolve(rev))).rejects.toMatchObject({ ...error, hint });
    await expect(asked(dir, (store) => store.has('main'))).rejects.toMatchObject(error);
    await expect(asked(dir, (store) => store.readTree('main'))).rejects.toMatchObject(error);
    await expect(asked(dir, (store) => store.readCommit('main'))).rejects.toMatchObject(error);
    const oid = git(dir, 'rev-parse', 'refs/heads/main');
    expect(await asked(dir, (store) => store.resolve('refs/heads/main'))).toBe(oid);
    expect(await asked(dir, (store) => store.resolve('heads/main'))).toBe(oid);
  });

  it('may be one of several work trees', async () => {
    const dir = repository();
    const linked = join(temporaryDirectory(), 'linked');
    git(dir, 'worktree', 'add', '--quiet', '-b', 'there', linked);
    expect(await asked(linked, (store) => store.resolve('there'))).toBe(git(dir, 'rev-parse', 'refs/heads/there'));
    git(dir, 'tag', 'there', 'side');
    await expect(asked(linked, (store) => store.resolve('there'))).rejects.toMatchObject({ code: 'usage' });
    expect(await asked(linked, (store) => store.resolve('HEAD'))).toBe(git(dir, 'rev-parse', 'refs/heads/there'));
  });
});

describe('a full name of a ref that is not there', () => {
  const CAPTURED = ['refs/tags/refs/heads/gone', 'refs/heads/refs/heads/gone', 'refs/remotes/refs/heads/gone'];

  it.each(CAPTURED)('is not taken for %s', async (ref) => {
    const dir = repository();
    git(dir, 'update-ref', ref, 'HEAD');
    expect(git(dir, 'rev-parse', 'refs/heads/gone')).toBe(git(dir, 'rev-parse', 'HEAD')); // git takes it
    expect(await asked(dir, (store) => store.resolve('refs/heads/gone'))).toBeNull();
    expect(await asked(dir, (store) => store.has('refs/heads/gone'))).toBe(false);
    expect(await asked(dir, (store) => store.readTree('refs/heads/gone'))).toBeNull();
    const other = await openIsomorphicStore({ fs, dir });
    expect(await other.resolve('refs/heads/gone')).toBeNull();
  });

  it('nor is HEAD on a branch without a commit', async () => {
    const dir = repository();
    git(dir, 'update-ref', 'refs/tags/HEAD', 'HEAD');
    git(dir, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
    expect(await asked(dir, (store) => store.resolve('HEAD'))).toBeNull();
    expect(await asked(dir, (store) => store.resolve('@'))).toBeNull();
  });
});

describe('what is no name of a ref', () => {
  it('is found as git finds it: ids, their first digits, what git describe prints', async () => {
    const dir = repository();
    const oid = git(dir, 'rev-parse', 'HEAD');
    git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'more');
    const described = git(dir, 'describe', '--long', 'HEAD');
    expect(await asked(dir, (store) => store.resolve(oid.slice(0, 9)))).toBe(oid);
    expect(await asked(dir, (store) => store.resolve(oid.toUpperCase()))).toBe(oid);
    expect(await asked(dir, (store) => store.resolve(described))).toBe(git(dir, 'rev-parse', 'HEAD'));
    git(dir, 'update-ref', `refs/tags/${described}`, oid);
    await expect(asked(dir, (store) => store.resolve(described))).rejects.toMatchObject({ code: 'usage' });
  });
});
