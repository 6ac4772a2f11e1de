import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { writeBytes } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { rawTree, template } from '../threats/forge.ts';
import { open, tryGit } from './hooked.ts';

// THREATS 65: which branch of a server decides, where HEAD names none that is there and none has a usual name.

const place = template();
const HEADS = 'refs/heads/';

interface ServerOptions {
  /** By name, what of the place is there. */
  branches: Record<string, string>;
  head?: string;
  isRooted?: boolean;
  /** What of its own a push may cost. */
  bytes?: string;
}

/** A bare repository that judges. What is in it was there before the hook. */
async function withServer(here: Place, options: ServerOptions): Promise<string> {
  const { branches, head = 'absent', isRooted = true, bytes } = options;
  const server = join(here.dir, '../server.git');
  git('/', 'init', '--quiet', '--bare', `--initial-branch=${head}`, server);
  for (const [name, rev] of Object.entries(branches))
    git(here.dir, 'push', '--quiet', server, `${rev}:${name.startsWith('refs/') ? name : HEADS + name}`);
  if (isRooted) git(server, 'config', 'handoff.root', here.root);
  if (bytes) git(server, 'config', 'handoff.budget.bytes', bytes);
  await open(server).hooks.install({ server: true });
  return server;
}

async function protect(here: Place, ...names: string[]): Promise<void> {
  await here.handoff.policy.set({ key: 'protected', value: names.map((name) => HEADS + name).join(',') });
}

/** A history that has nothing of this one, on a branch called orphan. */
function withOrphan({ dir }: Place): void {
  git(dir, 'checkout', '--quiet', '--orphan', 'orphan');
  git(dir, 'rm', '-r', '--quiet', '--force', '.');
  writeBytes(dir, 'o', 'o\n');
  git(dir, 'add', 'o');
  git(dir, 'commit', '--quiet', '-m', 'o');
}

/** The same with policies of somebody else, more than the project has, which protect a branch called trunk. */
async function withStranger(here: Place): Promise<void> {
  git(here.dir, 'checkout', '--quiet', '--orphan', 'trunk');
  git(here.dir, 'rm', '-r', '--quiet', '--force', '.');
  const stranger = open(here.dir, { env: { ...here.env, HANDOFF_KEYS: join(here.dir, '../other-keys') } });
  git(here.dir, 'config', '--unset', 'handoff.root'); // his own clone trusts nobody else's
  await stranger.init({ hooks: false });
  for (const value of ['700', '800', '900']) await stranger.policy.set({ key: 'stale_after', value });
}

const push = ({ dir }: Place, server: string, ...refspecs: string[]) =>
  tryGit(dir, ['push', '--force', '--no-verify', server, ...refspecs]);
const refusing = (name: string) => ({
  code: 1,
  stderr: expect.stringContaining(`remote: git-handoff: ${HEADS}${name}: refused: `),
});
const TAKEN = { code: 0 };

describe('a new protected branch is held to the branch that has the policy', () => {
  it.each(['develop', 'trunk', 'x/y'])('%s, whatever its name', async (name) => {
    for (const isRooted of [true, false]) {
      const here = place();
      await protect(here, name, 'release/1');
      const server = await withServer(here, { branches: { [name]: 'main' }, isRooted });
      withOrphan(here);
      expect(push(here, server, 'orphan:release/1')).toMatchObject(refusing('release/1'));
      expect(push(here, server, 'orphan:absent')).toMatchObject(refusing('absent')); // it would decide from then on
      expect(push(here, server, 'orphan:free', 'main:release/1')).toMatchObject(TAKEN);
    }
  });

  it('which need not protect itself, where there is nothing else', async () => {
    const here = place();
    const server = await withServer(here, { branches: { develop: 'main' } });
    withOrphan(here);
    expect(push(here, server, 'orphan:main')).toMatchObject(refusing('main'));
    expect(push(here, server, 'main:main')).toMatchObject(TAKEN);
  });

  it.each([
    ['detached, at what has no policy', (server: string) => git(server, 'update-ref', '--no-deref', 'HEAD', 'old')],
    ['on a tag', (server: string) => git(server, 'symbolic-ref', 'HEAD', 'refs/tags/v1')],
    ['on a branch that has none', (server: string) => git(server, 'symbolic-ref', 'HEAD', 'refs/heads/old')],
  ])('also where HEAD is %s', async (_, move) => {
    const here = place();
    await protect(here, 'develop', 'release');
    withOrphan(here);
    const branches = { develop: 'main', old: 'orphan', 'refs/tags/v1': 'orphan' };
    const server = await withServer(here, { branches });
    move(server);
    expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
    expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
  });
});

describe('nobody becomes the trunk by a name', () => {
  it.each([true, false])('with a policy of his own, as the first in order (root known: %s)', async (isRooted) => {
    const here = place();
    await protect(here, 'zzz', 'release');
    const server = await withServer(here, { branches: { zzz: 'main' }, isRooted });
    await withStranger(here);
    git(here.dir, 'branch', '--quiet', 'aaa', 'trunk');
    push(here, server, 'aaa', 'trunk');
    expect(push(here, server, 'trunk:release')).toMatchObject(refusing('release'));
    expect(push(here, server, 'trunk:zzz')).toMatchObject(refusing('zzz'));
    expect(git(server, 'config', 'handoff.root')).toBe(here.root);
    expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
  });

  it.each([true, false])(
    'with a policy of his own, under a name that is asked first (root known: %s)',
    async (isRooted) => {
      const here = place();
      await protect(here, 'master', 'release');
      const server = await withServer(here, { branches: { master: 'main' }, isRooted });
      await withStranger(here);
      expect(push(here, server, 'trunk:main')).toMatchObject(TAKEN);
      expect(push(here, server, 'trunk:release')).toMatchObject(refusing('release'));
      expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
    },
  );

  it('with an older policy of the project, under which the branch was free', async () => {
    const here = place();
    await protect(here, 'zzz');
    git(here.dir, 'branch', '--quiet', 'aaa');
    await protect(here, 'zzz', 'release');
    const server = await withServer(here, { branches: { zzz: 'main' } });
    expect(push(here, server, 'aaa')).toMatchObject(TAKEN);
    withOrphan(here);
    expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
  });

  const asked = ['main', 'master'].flatMap((name) => [
    [name, 'free', 'zzz'],
    [name, 'protected', `zzz,${name}`],
  ]);
  it.each(asked)(
    'with an older policy of the project, as %s, which is asked first and was %s by it',
    async (name, _, old) => {
      const here = place();
      await protect(here, ...old!.split(','));
      git(here.dir, 'branch', '--quiet', 'old');
      await protect(here, 'zzz', 'release');
      const server = await withServer(here, { branches: { zzz: 'main' } });
      push(here, server, `main:${name}`);
      push(here, server, `old:${name}`);
      withOrphan(here);
      expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
      expect(push(here, server, 'orphan:absent')).toMatchObject(refusing('absent'));
      expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
    },
  );

  it.each(['aaa', 'main'])(
    'with another line of policies, signed alone before two were asked for, as %s',
    async (name) => {
      const here = place();
      git(here.dir, 'branch', '--quiet', 'old');
      await protect(here, 'zzz', 'release');
      const server = await withServer(here, { branches: { zzz: 'main' } });
      git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'more');
      expect(push(here, server, 'main:zzz')).toMatchObject(TAKEN); // what it has is remembered
      git(here.dir, 'checkout', '--quiet', 'old');
      const alone = open(here.dir, { env: { ...here.env, HOME: join(here.dir, '..') } });
      for (const names of ['a,b', 'c,d', name]) {
        const value = names
          .split(',')
          .map((each) => HEADS + each)
          .join(',');
        await alone.policy.set({ key: 'protected', value });
      }
      push(here, server, `old:${name}`);
      withOrphan(here);
      expect(push(here, server, 'orphan:release')).toMatchObject(refusing('release'));
      expect(push(here, server, 'main:release')).toMatchObject(TAKEN);
    },
  );

  it('and a branch that he gave one is as free as it was', async () => {
    const here = place();
    const server = await withServer(here, { branches: { main: 'main' }, head: 'main' });
    await withStranger(here);
    expect(push(here, server, 'trunk')).toMatchObject(TAKEN);
    withOrphan(here);
    expect(push(here, server, 'orphan:trunk')).toMatchObject(TAKEN);
    expect(push(here, server, ':trunk')).toMatchObject(TAKEN);
  });
});

describe('a project that begins on a branch', () => {
  it('goes on as before on main, until that is merged', async () => {
    const here = place();
    git(here.dir, 'branch', '--quiet', '--move', 'main', 'adopt');
    withOrphan(here);
    git(here.dir, 'branch', '--quiet', '--move', 'orphan', 'main');
    const server = await withServer(here, { branches: { main: 'main' }, head: 'main' });
    expect(push(here, server, 'adopt')).toMatchObject(TAKEN);
    writeBytes(here.dir, 'more', 'more\n');
    git(here.dir, 'add', 'more');
    git(here.dir, 'commit', '--quiet', '-m', 'more');
    expect(push(here, server, 'main')).toMatchObject(TAKEN);
    git(here.dir, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'adopt');
    expect(push(here, server, 'main')).toMatchObject(TAKEN);
    writeBytes(here.dir, 'more', 'other\n');
    git(here.dir, 'commit', '--quiet', '-a', '-m', 'more');
    expect(push(here, server, 'main')).toMatchObject(refusing('main'));
  });

  it('is not kept from it by a folder that only looks like a policy', async () => {
    const here = place();
    withOrphan(here);
    writeBytes(here.dir, '.handoff/policy/README', 'soon\n');
    git(here.dir, 'add', '.handoff');
    git(here.dir, 'commit', '--quiet', '-m', 'soon');
    const server = await withServer(here, { branches: { main: 'orphan' }, head: 'main', isRooted: false });
    git(here.dir, 'rm', '-r', '--quiet', '.handoff');
    git(here.dir, 'commit', '--quiet', '-m', 'not yet');
    expect(push(here, server, 'orphan:main')).toMatchObject(TAKEN);
    git(here.dir, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', 'main');
    expect(push(here, server, 'orphan:main')).toMatchObject(TAKEN);
  });
});

describe('where nothing has a policy yet, the first has to hold', () => {
  it.each([
    ['on the branch that HEAD names, whether it lists that or not', 'main'],
    ['on a branch that it lists', 'release'],
  ])('%s', async (_, name) => {
    const here = place();
    await protect(here, 'release');
    const server = await withServer(here, { branches: {}, head: 'main', isRooted: false });
    const good = git(here.dir, 'rev-parse', 'main');
    writeBytes(here.dir, '.handoff/sessions/donna/stray', 'x\n');
    git(here.dir, 'add', '.handoff');
    git(here.dir, 'commit', '--quiet', '-m', 'stray');
    expect(push(here, server, `main:${name}`)).toMatchObject(refusing(name));
    expect(push(here, server, 'main:free')).toMatchObject(TAKEN);
    expect(push(here, server, ':free')).toMatchObject(TAKEN);
    expect(push(here, server, `${good}:refs/heads/${name}`)).toMatchObject(TAKEN);
  });

  it('and is that of the root that is pinned', async () => {
    const here = place();
    const server = await withServer(here, { branches: {}, head: 'main' });
    const good = git(here.dir, 'rev-parse', 'main');
    await withStranger(here);
    expect(push(here, server, 'trunk:main')).toMatchObject(refusing('main'));
    expect(push(here, server, `${good}:refs/heads/main`)).toMatchObject(TAKEN);
  });
});

// What anybody may push to a free branch, and no reader of ours can, or should, read. Git itself takes all of it.

const folder = ({ dir }: Place, name: string, oid: string) => rawTree(dir, [{ mode: '40000', name, oid }]);
const blob = ({ dir }: Place, text: string) => gitInput(dir, text, 'hash-object', '-w', '--stdin');
/** A tree that git takes, with a mode that git never writes. */
const odd = (here: Place, name = 'a') => rawTree(here.dir, [{ mode: '644', name, oid: blob(here, 'x') }]);
const files = (here: Place, number: number) => {
  const oid = blob(here, 'x');
  const lines = Array.from({ length: number }, (_, at) => `100644 blob ${oid}\t${String(at).padStart(8, '0')}\n`);
  return gitInput(here.dir, lines.join(''), 'mktree');
};
const policies = (here: Place, entries: Record<string, string>) => {
  const lines = Object.entries(entries).map(([name, text]) => `100644 blob ${blob(here, text)}\t${name}\n`);
  return folder(here, '.handoff', folder(here, 'policy', gitInput(here.dir, lines.join(''), 'mktree')));
};
const large = (text: string) => `handoff: 1\nkind: policy\n# ${text}${'x'.repeat(262_000)}`;
const MANY = 130_000; // of which the tree alone is more than is read of a branch

const UNREADABLE: [string, (here: Place) => string][] = [
  ['its tree is odd', (here) => odd(here)],
  ['.handoff is odd', (here) => folder(here, '.handoff', odd(here, 'policy'))],
  ['.handoff/policy is odd', (here) => folder(here, '.handoff', folder(here, 'policy', odd(here, '0001.yaml')))],
  ['.handoff has very many files', (here) => folder(here, '.handoff', files(here, MANY))],
  [
    '.handoff/policy has very many files',
    (here) => folder(here, '.handoff', folder(here, 'policy', files(here, MANY))),
  ],
  ['its policies are large', (here) => policies(here, { '0001.yaml': large('1'), '0002.yaml': large('2') })],
];

const commitOf = (here: Place, tree: string) => git(here.dir, 'commit-tree', tree, '-m', 'junk');
const BYTES = '200k'; // enough for whoever pushes a few files

/** The honest go on, wherever they push, and the branch can be filled anew and deleted. */
function expectNoHarm(here: Place, server: string, trunk: string, junk: string): void {
  git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'more');
  expect(push(here, server, `main:${trunk}`)).toMatchObject(TAKEN);
  expect(push(here, server, 'main:topic')).toMatchObject(TAKEN);
  expect(push(here, server, `main:${junk}`)).toMatchObject(TAKEN);
  expect(push(here, server, `:${junk}`)).toMatchObject(TAKEN);
  withOrphan(here);
  expect(push(here, server, `orphan:${trunk}`)).toMatchObject(refusing(trunk)); // and the rules are what they were
}

describe('a protected branch stays so', () => {
  /** Files that ask for no account, so many that the top folder alone is more than is read of a branch. */
  const withMuch = ({ dir }: Place, rev: string) => {
    const oid = gitInput(dir, 'x', 'hash-object', '-w', '--stdin');
    const name = (at: number) => `z${'x'.repeat(4000)}${String(at).padStart(6, '0')}.md`;
    const more = Array.from({ length: 1100 }, (_, at) => `100644 blob ${oid}\t${name(at)}`);
    const tree = gitInput(dir, `${[git(dir, 'ls-tree', rev), ...more].join('\n')}\n`, 'mktree');
    return git(dir, 'commit-tree', '-p', rev, '-m', 'much', tree);
  };

  it.each([
    ['HEAD names a branch that is not there', 'absent', 'main'],
    ['only its own policy lists it', 'main', 'release'],
  ])('however many files stand beside .handoff: %s', async (_, head, ref) => {
    const here = place();
    await here.handoff.policy.set({ key: 'exempt', value: '**/*.md' });
    await protect(here, 'main', 'release');
    const listed = git(here.dir, 'rev-parse', 'main');
    await protect(here, 'main');
    const branches = { main: 'main', ...(ref === 'release' ? { release: listed } : {}) };
    const server = await withServer(here, { branches, head });
    const much = withMuch(here, git(server, 'rev-parse', ref));
    expect(push(here, server, `${much}:refs/heads/${ref}`)).toMatchObject(TAKEN);
    withOrphan(here);
    expect(push(here, server, `orphan:${ref}`)).toMatchObject(refusing(ref));
  });
});

describe('a protected branch stays so, however many policies wait beside those in force', () => {
  /** As one root principal of two could fill it before only the next version could wait. */
  const flooded = ({ dir }: Place, rev: string) => {
    const oid = gitInput(dir, 'x', 'hash-object', '-w', '--stdin');
    const waiting = Array.from({ length: MANY }, (_, at) => `100644 blob ${oid}\t${9_000_000_000 + at}.pending.yaml`);
    const policies = [git(dir, 'ls-tree', `${rev}:.handoff/policy`), ...waiting].join('\n');
    const graft = (folder: string, name: string, tree: string) => {
      const others = git(dir, 'ls-tree', folder)
        .split('\n')
        .filter((line) => !line.endsWith(`\t${name}`));
      return gitInput(dir, `${[...others, `040000 tree ${tree}\t${name}`].join('\n')}\n`, 'mktree');
    };
    const records = graft(`${rev}:.handoff`, 'policy', gitInput(dir, `${policies}\n`, 'mktree'));
    return git(dir, 'commit-tree', '-p', rev, '-m', 'flood', graft(rev, '.handoff', records));
  };

  it.each([
    ['on main', 'main', 'absent'],
    ['on a branch that is looked for among all', 'zzz', 'absent'],
    ['where only its own policy lists it', 'release', 'main'],
  ])('%s', async (_, name, head) => {
    const here = place();
    await protect(here, name);
    const full = flooded(here, 'main');
    if (head === 'main') await protect(here, 'main');
    const branches = { [name]: full, ...(head === 'main' ? { main: 'main' } : {}) };
    const server = await withServer(here, { branches, head });
    withOrphan(here);
    expect(push(here, server, `orphan:${name}`)).toMatchObject(refusing(name));
    expect(push(here, server, 'orphan:free')).toMatchObject(TAKEN);
  });
});

describe('what nobody can read on a free branch keeps nobody from pushing', () => {
  it.each(UNREADABLE)('a branch of a usual name: %s', async (_, tree) => {
    const ways = [
      ['main', 'master'],
      ['master', 'main'],
    ] as const;
    for (const [head, free] of ways) {
      const here = place();
      await protect(here, head);
      const server = await withServer(here, { branches: { [head]: 'main' }, head, bytes: BYTES });
      expect(push(here, server, `${commitOf(here, tree(here))}:refs/heads/${free}`)).toMatchObject(TAKEN);
      expectNoHarm(here, server, head, free);
    }
  });

  it.each(UNREADABLE)('any branch, where the trunk is looked for among all: %s', async (_, tree) => {
    const here = place();
    await protect(here, 'zzz');
    const server = await withServer(here, { branches: { zzz: 'main' }, bytes: BYTES });
    const junk = commitOf(here, tree(here));
    expect(push(here, server, `${junk}:refs/heads/aaa`, `${junk}:refs/heads/main`)).toMatchObject(TAKEN);
    expectNoHarm(here, server, 'zzz', 'aaa');
  });

  it('many branches, each with a large policy of its own', async () => {
    const here = place();
    await protect(here, 'zzz');
    const server = await withServer(here, { branches: { zzz: 'main' }, bytes: BYTES });
    const junk = Array.from({ length: 8 }, (__, at) =>
      commitOf(here, policies(here, { '0001.yaml': large(String(at)) })),
    );
    const specs = junk.map((oid, at) => `${oid}:refs/heads/a${at}`);
    for (const spec of specs) push(here, server, spec);
    expectNoHarm(here, server, 'zzz', 'a0');
  });

  it('a branch of a usual name, where nothing has a policy yet: the first who brings one is let in', async () => {
    const here = place();
    const server = await withServer(here, { branches: { master: commitOf(here, odd(here)) }, head: 'trunk' });
    expect(push(here, server, 'main:trunk')).toMatchObject(TAKEN);
  });
});
