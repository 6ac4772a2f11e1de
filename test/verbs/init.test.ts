import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formatInit } from '../../src/cli/commands/setup/setup-text.ts';
import { openRepository } from '../../src/index.ts';
import { emptyPlace, openPlace, type Place, STORY, writeBytes, writeSession } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';

const FILES = [
  '.gitattributes',
  '.handoff/identities/bot/identity.yaml',
  '.handoff/identities/maintainer/identity.yaml',
  '.handoff/policy/0001.yaml',
  '.handoff/project.yaml',
];

const plain = Object.assign((_: string, text: string) => text, { columns: null });

const tracked = (dir: string, rev = 'HEAD') =>
  git(dir, 'ls-tree', '-r', '--name-only', rev).split('\n').filter(Boolean).sort();

function place(...flags: string[]): Place {
  const made = emptyPlace(...flags);
  onTestFinished(() => made.handoff.close());
  return made;
}

async function verifies({ dir, env }: Place): Promise<void> {
  const handoff = openRepository(dir, { env });
  onTestFinished(() => handoff.close());
  expect(await handoff.verify()).toMatchObject({ valid: true, findings: [] });
}

describe('init', () => {
  it('on an unborn branch: five files, one commit, a pinned root', async () => {
    const here = place();
    const result = await here.handoff.init({ name: 'A project' });
    expect(result).toEqual({
      repo_id: result.root,
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
      identity: 'maintainer',
      fingerprint: expect.stringMatching(/^SHA256:/),
      policy_version: 1,
      protected: 'refs/heads/main',
      advisory: false,
      created: expect.arrayContaining(FILES),
      hooks: [],
      hook_files: [],
      key_files: ['maintainer', 'bot'].map((name) => join(here.keys, result.root.slice(0, 12), `${name}.pem`)),
      commit: git(here.dir, 'rev-parse', 'HEAD'),
    });
    expect(tracked(here.dir)).toEqual(FILES);
    expect(git(here.dir, 'rev-list', '--count', 'HEAD')).toBe('1');
    expect(git(here.dir, 'config', 'handoff.root')).toBe(result.root);
    expect(git(here.dir, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(here.dir, '.handoff/project.yaml'), 'utf8')).toContain('name: A project\n');
    expect(readFileSync(join(here.dir, '.gitattributes'), 'utf8')).toContain('.handoff/** -text -filter -ident\n');
    await verifies(here);
  });

  it('--advisory: a policy that only advises, and how to make it enforce', async () => {
    const here = place();
    const result = await here.handoff.init({ advisory: true });
    expect(result).toMatchObject({ advisory: true, protected: 'refs/heads/main' });
    expect(formatInit(result, plain)).toMatch(
      /only warns, for main .*git handoff policy set writeback\.advisory false/,
    );
    expect((await here.handoff.policy.show()).policy).toMatchObject({ writeback: { required: true, advisory: true } });
    await here.handoff.policy.set({ key: 'writeback.advisory', value: 'false' });
    expect((await here.handoff.policy.show()).policy).toMatchObject({ writeback: { advisory: false } });
    const other = await place().handoff.init();
    expect(formatInit(other, plain)).toMatch(/refuses, for main .*git handoff policy set writeback\.advisory true/);
    await verifies(here);
  });

  it('says how each file that it writes is taken out again, .gitattributes too, unless its lines were there', async () => {
    const here = place();
    const row = /^ *lines that keep it byte for byte +\.gitattributes +delete those that begin \.handoff\//m;
    expect(formatInit(await here.handoff.init(), plain)).toMatch(row);
    const there = place();
    writeFileSync(join(there.dir, '.gitattributes'), readFileSync(join(here.dir, '.gitattributes')));
    git(there.dir, 'add', '.gitattributes');
    git(there.dir, 'commit', '--quiet', '--message', 'attributes');
    expect(formatInit(await there.handoff.init(), plain)).not.toMatch(row);
  });

  it.each([
    ['its name', '.handoff\n'],
    ['a folder in it', 'policy/\n'],
    ['files like it', '*.yaml\n'],
    ['anything', '# all\n*\n'],
    ['hidden ones', '.*\n!.gitignore\n'],
    ['letters in a class', '.hand[o]ff\n'],
    ['a path', '/.handoff/policy/\n'],
    ['an escaped letter', '.hando\\ff\n'],
  ])('a line that makes git ignore the records is found: %s', async (_, lines) => {
    const here = place();
    writeFileSync(join(here.dir, '.gitignore'), `node_modules\n${lines}`);
    const refused = await here.handoff.init().catch((error) => error);
    expect(refused).toMatchObject({ code: 'foreign_directory', message: expect.stringContaining('.gitignore') });
    expect(existsSync(join(here.dir, '.handoff'))).toBe(false);
  });

  it('so is one in .git/info/exclude, and in a file that the configuration names', async () => {
    const excluded = place();
    mkdirSync(join(excluded.dir, '.git/info'), { recursive: true });
    writeFileSync(join(excluded.dir, '.git/info/exclude'), '.handoff/\n');
    await expect(excluded.handoff.init()).rejects.toMatchObject({ code: 'foreign_directory' });
    for (const path of ['absolute', 'relative']) {
      const configured = place();
      const file = join(configured.dir, 'ignored');
      writeFileSync(file, '.handoff/\n');
      git(configured.dir, 'config', 'core.excludesFile', path === 'absolute' ? file : 'ignored');
      await expect(configured.handoff.init(), path).rejects.toMatchObject({ code: 'foreign_directory' });
    }
  });

  it('adds to a configuration that ends without a line end, and leaves no lock', async () => {
    const here = place();
    const file = join(here.dir, '.git/config');
    writeFileSync(file, `${readFileSync(file, 'utf8')}[user]\n\tname = A # no end`);
    chmodSync(file, 0o600);
    const { root } = await here.handoff.init();
    expect([git(here.dir, 'config', 'handoff.root'), git(here.dir, 'config', 'user.name')]).toEqual([root, 'A']);
    expect([existsSync(`${file}.lock`), statSync(file).mode & 0o777]).toEqual([false, 0o600]);
  });

  it('changes of .gitattributes that are staged, and put back in the work tree, are not passed over', async () => {
    const here = place();
    const file = join(here.dir, '.gitattributes');
    writeFileSync(file, '* text=auto\n');
    git(here.dir, 'add', '.gitattributes');
    git(here.dir, 'commit', '--quiet', '--message', 'attributes');
    writeFileSync(file, '* -text\n');
    git(here.dir, 'add', '.gitattributes');
    writeFileSync(file, '* text=auto\n');
    await expect(here.handoff.init()).rejects.toMatchObject({ code: 'usage' });
  });

  it('two repositories never have the same root, even with the same key', async () => {
    const [a, b] = [place(), place()];
    const keys = join(temporaryDirectory(), 'keys');
    const roots = [];
    for (const { dir } of [a, b]) {
      const handoff = openRepository(dir, { env: { ...isolatedEnv, HANDOFF_KEYS: keys }, now: () => new Date(0) });
      onTestFinished(() => handoff.close());
      roots.push((await handoff.init()).root);
    }
    expect(roots[0]).not.toBe(roots[1]);
  });

  it('--as names the maintainer; a bad name, bot, and a threshold that cannot be met are refused', async () => {
    const here = place();
    await expect(here.handoff.init({ as: 'Ada' })).rejects.toMatchObject({ code: 'bad_name' });
    await expect(here.handoff.init({ as: 'bot' })).rejects.toMatchObject({ code: 'usage' });
    for (const threshold of [0, 2, -1, 1.5])
      await expect(here.handoff.init({ threshold })).rejects.toMatchObject({ code: 'usage' });
    expect(readdirSync(here.dir)).toEqual(['.git']);
    expect(await here.handoff.init({ as: 'ada' })).toMatchObject({ identity: 'ada' });
  });

  it('keeps an existing .gitattributes, with or without a last newline', async () => {
    for (const text of ['*.png binary\n', '*.png binary', '.handoff/** -text -filter -ident\n']) {
      const here = place();
      writeBytes(here.dir, '.gitattributes', text);
      git(here.dir, 'add', '.');
      git(here.dir, 'commit', '--quiet', '-m', 'attributes');
      await here.handoff.init();
      const now = readFileSync(join(here.dir, '.gitattributes'), 'utf8');
      expect(now.startsWith(`${text.trimEnd()}\n`)).toBe(true);
      expect(now.match(/-text -filter -ident/g)).toHaveLength(1);
      await verifies(here);
    }
  });

  it('THREATS 30: an attribute that re-encodes files does not reach .handoff', async () => {
    const here = place();
    writeBytes(here.dir, '.gitattributes', '*.yaml working-tree-encoding=UTF-16LE\n');
    git(here.dir, 'add', '.');
    git(here.dir, 'commit', '--quiet', '-m', 'attributes');
    await here.handoff.init();
    await verifies(here);
  });

  it('does not mix its lines with uncommitted changes to .gitattributes', async () => {
    const here = place();
    writeBytes(here.dir, '.gitattributes', '*.png binary\n');
    await expect(here.handoff.init()).rejects.toMatchObject({ code: 'usage' });
    expect(readdirSync(here.dir).sort()).toEqual(['.git', '.gitattributes']);
  });

  it('a .handoff that git ignores: foreign_directory, and not even a key is made', async () => {
    const here = place();
    for (const pattern of ['.handoff', '.handoff/', '.*', '/.handoff/policy/', '*.yaml']) {
      writeBytes(here.dir, '.gitignore', `${pattern}\n`);
      await expect(here.handoff.init(), pattern).rejects.toMatchObject({
        code: 'foreign_directory',
        message: expect.stringContaining(`.gitignore:1:${pattern}`),
      });
    }
    expect(existsSync(join(here.dir, '.handoff'))).toBe(false);
    expect(existsSync(here.keys)).toBe(false);
  });

  it("somebody else's .handoff, folder or file: foreign_directory", async () => {
    const folder = place();
    writeBytes(folder.dir, '.handoff/notes.txt', 'mine');
    await expect(folder.handoff.init()).rejects.toMatchObject({ code: 'foreign_directory' });
    expect(readdirSync(join(folder.dir, '.handoff'))).toEqual(['notes.txt']);
    const file = place();
    writeBytes(file.dir, '.handoff', 'mine');
    await expect(file.handoff.init()).rejects.toMatchObject({ code: 'foreign_directory' });
  });

  it('an empty .handoff is nobody’s', async () => {
    const here = place();
    mkdirSync(join(here.dir, '.handoff'));
    await here.handoff.init();
    await verifies(here);
  });

  it('a second time: already_initialised, also when only the commit has it', async () => {
    const here = place();
    await here.handoff.init();
    await expect(here.handoff.init()).rejects.toMatchObject({ code: 'already_initialised', exitCode: 2 });
    git(here.dir, 'rm', '-r', '--quiet', '.handoff');
    await expect(here.handoff.init()).rejects.toMatchObject({ code: 'already_initialised' });
  });

  it('outside a repository: not_a_repository', () => {
    expect(() => openRepository(temporaryDirectory(), { env: isolatedEnv })).toThrowError(
      expect.objectContaining({ code: 'not_a_repository', exitCode: 4, hint: expect.any(String) }),
    );
  });

  it('in a bare repository: a clear error, and in .git as well', async () => {
    for (const dir of [place('--bare').dir, join(place().dir, '.git')]) {
      const handoff = openRepository(dir, { env: { ...isolatedEnv, HANDOFF_KEYS: temporaryDirectory() } });
      onTestFinished(() => handoff.close());
      await expect(handoff.init()).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining('work tree'),
      });
    }
  });

  it('where git knows nobody it commits all the same', async () => {
    const here = place();
    const nobody = Object.entries(here.env).filter(([name]) => !/^(GIT_(AUTHOR|COMMITTER)_|EMAIL$)/.test(name));
    const env = { ...Object.fromEntries(nobody), HOME: temporaryDirectory() };
    git(here.dir, 'config', 'user.useConfigOnly', 'true');
    const handoff = openRepository(here.dir, { env });
    onTestFinished(() => handoff.close());
    const { commit } = await handoff.init();
    expect(git(here.dir, 'log', '-1', '--format=%H %an <%ae>')).toBe(
      `${commit} maintainer <maintainer@git-handoff.invalid>`,
    );
  });

  it('where git knows somebody it is that person who commits', async () => {
    const here = place();
    git(here.dir, 'config', 'user.name', 'Grace');
    git(here.dir, 'config', 'user.email', 'grace@example.org');
    const bare = Object.entries(here.env).filter(([name]) => !/^GIT_(AUTHOR|COMMITTER)_/.test(name));
    const handoff = openRepository(here.dir, { env: Object.fromEntries(bare) });
    onTestFinished(() => handoff.close());
    await handoff.init();
    expect(git(here.dir, 'log', '-1', '--format=%an <%ae>')).toBe('Grace <grace@example.org>');
  });

  it('in a SHA-256 repository', async () => {
    const here = place('--object-format=sha256');
    const { commit, root } = await here.handoff.init();
    expect(commit).toMatch(/^[0-9a-f]{64}$/);
    await here.handoff.identity.add({ name: 'donna' });
    writeSession({ ...here, root }, STORY);
    git(here.dir, 'add', '.');
    git(here.dir, 'commit', '--quiet', '-m', 'records');
    await verifies(here);
  });

  it('in a linked worktree, on its branch only', async () => {
    const here = place();
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    const linked = join(here.dir, '..', 'linked');
    git(here.dir, 'worktree', 'add', '--quiet', '-b', 'side', linked);
    const there = openPlace(linked, here.keys, '');
    onTestFinished(() => there.handoff.close());
    const { commit } = await there.handoff.init();
    expect(git(linked, 'rev-parse', 'side')).toBe(commit);
    expect(tracked(here.dir, 'main')).toEqual([]);
    expect(existsSync(join(here.dir, '.handoff'))).toBe(false);
    expect(git(here.dir, 'config', 'handoff.root')).toMatch(/^[0-9a-f]{64}$/);
    await verifies(there);
  });

  it.each(['with space', 'new\nline', 'it\'s $HOME `x` "q"', 'ünïcödé', '-dash', 'a\u202eb', 'x'.repeat(200)])(
    'in a directory called %j',
    async (name) => {
      const base = temporaryDirectory();
      const dir = join(base, name);
      mkdirSync(dir);
      git(dir, 'init', '--quiet', '--initial-branch=main', '.');
      const there = openPlace(dir, join(base, 'keys'), '');
      onTestFinished(() => there.handoff.close());
      await there.handoff.init();
      await verifies(there);
      expect(git(dir, 'status', '--porcelain')).toBe('');
    },
  );

  it('from a folder beneath the top it writes at the top', async () => {
    const here = place();
    mkdirSync(join(here.dir, 'src/deep'), { recursive: true });
    const there = openPlace(join(here.dir, 'src/deep'), here.keys, '');
    onTestFinished(() => there.handoff.close());
    await there.handoff.init();
    expect(existsSync(join(here.dir, '.handoff/policy/0001.yaml'))).toBe(true);
    expect(readdirSync(join(here.dir, 'src/deep'))).toEqual([]);
  });

  it('on a detached HEAD', async () => {
    const here = place();
    git(here.dir, 'commit', '--quiet', '--allow-empty', '-m', 'first');
    git(here.dir, 'switch', '--quiet', '--detach');
    const { commit } = await here.handoff.init();
    expect(git(here.dir, 'rev-parse', 'HEAD')).toBe(commit);
    await verifies(here);
  });
});

describe('where the clone trusts a root already', () => {
  it('a branch without the policy gets no root of its own, and says which way there is', async () => {
    const here = place();
    const { root } = await here.handoff.init();
    git(here.dir, 'checkout', '--quiet', '--orphan', 'pages');
    git(here.dir, 'rm', '-r', '--force', '--quiet', '.');
    const pages = openRepository(here.dir, { env: here.env });
    onTestFinished(() => pages.close());
    await expect(pages.status()).rejects.toMatchObject({
      code: 'not_initialised',
      hint: expect.stringMatching(/^Where another branch has it, switch to that/),
    });
    await expect(pages.init()).rejects.toMatchObject({ code: 'already_initialised', data: { root } });
    expect(git(here.dir, 'config', 'handoff.root')).toBe(root);
    expect(existsSync(join(here.dir, '.handoff'))).toBe(false);
    git(here.dir, 'config', '--unset', 'handoff.root'); // as its hint says
    const again = openRepository(here.dir, { env: here.env });
    onTestFinished(() => again.close());
    expect((await again.init()).root).not.toBe(root);
  });
});

describe('what else is in the work tree and the index', () => {
  function busy(): Place {
    const here = place();
    for (const name of ['staged', 'half', 'unstaged', 'deleted']) writeBytes(here.dir, name, 'one\n');
    git(here.dir, 'add', '.');
    git(here.dir, 'commit', '--quiet', '-m', 'first');
    writeBytes(here.dir, 'staged', 'two\n');
    writeBytes(here.dir, 'half', 'two\n');
    writeBytes(here.dir, 'new', 'two\n');
    git(here.dir, 'add', 'staged', 'half', 'new');
    git(here.dir, 'rm', '--quiet', 'deleted');
    writeBytes(here.dir, 'half', 'three\n');
    writeBytes(here.dir, 'unstaged', 'two\n');
    writeBytes(here.dir, 'untracked', 'two\n');
    writeBytes(here.dir, 'intent', 'two\n');
    git(here.dir, 'add', '--intent-to-add', 'intent');
    return here;
  }
  const status = (dir: string) => git(dir, 'status', '--porcelain', '--', ':!.handoff', ':!.gitattributes');

  it('stays as it was, staged and unstaged, through init, add and rotate', async () => {
    const here = busy();
    const before = status(here.dir);
    await here.handoff.init();
    await here.handoff.identity.add({ name: 'donna' });
    await here.handoff.identity.rotate({ name: 'donna' });
    expect(status(here.dir)).toBe(before);
    expect(git(here.dir, 'show', ':half')).toBe('two');
    expect(
      git(here.dir, 'log', '--name-only', '--format=', 'HEAD~3..HEAD')
        .split('\n')
        .filter((path) => !/^\.(handoff\/|gitattributes)/.test(path)),
    ).toEqual([]);
    await verifies(here);
  });

  it('--stage stages without a commit, --no-commit and --no-stage only write', async () => {
    const staged = busy();
    const before = [status(staged.dir), git(staged.dir, 'rev-parse', 'HEAD')];
    expect(await staged.handoff.init({ commit: false, stage: true })).toMatchObject({ commit: null });
    expect([status(staged.dir), git(staged.dir, 'rev-parse', 'HEAD')]).toEqual(before);
    expect(git(staged.dir, 'diff', '--cached', '--name-only', '--', '.handoff', '.gitattributes').split('\n')).toEqual(
      FILES,
    );
    for (const only of [{ stage: false }, { commit: false }]) {
      const written = busy();
      expect(await written.handoff.init(only)).toMatchObject({ commit: null });
      expect(git(written.dir, 'diff', '--cached', '--name-only', '--', '.handoff', '.gitattributes')).toBe('');
      expect(existsSync(join(written.dir, '.handoff/policy/0001.yaml'))).toBe(true);
    }
  });

  it('a hook that refuses the commit: io, the files staged, nothing lost', async () => {
    const here = place();
    writeFileSync(join(here.dir, '.git/hooks/commit-msg'), '#!/bin/sh\necho no >&2\nexit 1\n');
    chmodSync(join(here.dir, '.git/hooks/commit-msg'), 0o755);
    await expect(here.handoff.init()).rejects.toMatchObject({
      code: 'io',
      exitCode: 4,
      hint: expect.stringContaining('git commit'),
    });
    expect(git(here.dir, 'diff', '--cached', '--name-only').split('\n')).toEqual(FILES);
    execFileSync('git', ['-C', here.dir, 'commit', '--quiet', '--no-verify', '-m', 'by hand'], { env: isolatedEnv });
    await verifies(here);
  });
});
