import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WrapOptions } from '../../src/verbs/session/wrap.ts';
import { initialised, type Place } from '../handoff.ts';
import { git, gitInput } from '../temporary.ts';
import { findings, template } from '../threats/forge.ts';
import { open, recordsOf, worktree } from './agents.ts';

const copy = template();

/** With files that are committed, and a session of donna. */
async function fresh(): Promise<Place> {
  const place = copy();
  write(place, { 'kept.txt': 'kept\n', 'changed.txt': 'old\n', 'gone.txt': 'gone\n', 'src/run.sh': '#!/bin/sh\n' });
  git(place.dir, 'add', '--all');
  git(place.dir, 'commit', '--quiet', '--message', 'files');
  await place.handoff.start({ as: 'donna' });
  git(place.dir, 'add', '--all');
  git(place.dir, 'commit', '--quiet', '--message', 'the session');
  return place;
}

function write({ dir }: Place, files: Record<string, string | Uint8Array>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, path, '..'), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

function wrap(place: Place, options: Partial<WrapOptions> = {}) {
  return place.handoff.wrap({ as: 'donna', message: 'half way', commit: false, ...options });
}

/** What nobody may touch: the index, the files, HEAD, the stash. */
function untouched({ dir }: Place): string[] {
  const index = git(dir, 'rev-parse', '--git-path', 'index');
  const path = join(dir, index);
  return [
    existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'none',
    git(dir, '--no-optional-locks', 'status', '--porcelain', '--untracked-files=all', '--', '.', ':!.handoff'),
    readFileSync(join(dir, git(dir, 'rev-parse', '--git-path', 'HEAD')), 'utf8'),
    git(dir, 'stash', 'list'),
  ];
}

/** What a saved commit changes, as git shows it. */
function shown({ dir }: Place, commit: string | null): string[] {
  return git(dir, 'show', '--format=', '--raw', '-z', '--no-renames', commit!)
    .split('\0')
    .filter((part) => part !== '')
    .flatMap((part, at, all) => (at % 2 === 0 ? [`${part.at(-1)} ${part.slice(8, 14)} ${all[at + 1]}`] : []));
}

function blob({ dir }: Place, commit: string | null, path: string): string {
  return gitInput(dir, '', 'cat-file', 'blob', `${commit}:${path}`);
}

describe('wrap saves what is not committed', () => {
  it('staged, unstaged, deleted and untracked, and leaves index, files, HEAD and stash as they are', async () => {
    const place = await fresh();
    write(place, { '.gitignore': 'ignored.txt\n' });
    git(place.dir, 'add', '.gitignore');
    git(place.dir, 'commit', '--quiet', '--message', 'ignore');
    write(place, { 'changed.txt': 'staged\n' });
    git(place.dir, 'add', 'changed.txt');
    write(place, { 'changed.txt': 'then changed again\n', 'new/file.txt': 'new\n', 'ignored.txt': 'ignored\n' });
    rmSync(join(place.dir, 'gone.txt'));
    chmodSync(join(place.dir, 'src/run.sh'), 0o755);
    symlinkSync('kept.txt', join(place.dir, 'link'));
    const before = untouched(place);
    const { saved, session_id, warnings } = await wrap(place);
    expect(untouched(place)).toEqual(before);
    expect([...saved!.paths].sort()).toEqual(['changed.txt', 'gone.txt', 'link', 'new/file.txt', 'src/run.sh']);
    expect(shown(place, saved!.commit).sort()).toEqual(
      [
        'A 100644 new/file.txt',
        'A 120000 link',
        'D 000000 gone.txt',
        'M 100644 changed.txt',
        'M 100755 src/run.sh',
      ].sort(),
    );
    expect(blob(place, saved!.commit, 'changed.txt')).toBe('then changed again');
    expect(git(place.dir, 'rev-parse', `${saved!.commit}^`)).toBe(git(place.dir, 'rev-parse', 'HEAD'));
    expect(git(place.dir, 'rev-parse', `refs/handoff/saved/${session_id.slice(0, 8)}`)).toBe(saved!.commit);
    expect(recordsOf(place, session_id).at(-1)!.fields.saved).toEqual(saved);
    expect(warnings.filter(({ kind }) => kind !== 'section_missing' && kind !== 'no_thought')).toEqual([]);
    git(place.dir, 'add', '--all', '.handoff');
    git(place.dir, 'commit', '--quiet', '--message', 'wrapped');
    expect(await findings(place)).toEqual([]);
    expect(git(place.dir, 'fsck', '--strict')).not.toMatch(/error/);
  });

  it('nothing where all is committed: no key, no ref', async () => {
    const place = await fresh();
    const { saved, session_id } = await wrap(place);
    expect(saved).toBeNull();
    expect(recordsOf(place, session_id).at(-1)!.fields).not.toHaveProperty('saved');
    expect(git(place.dir, 'for-each-ref', 'refs/handoff')).toBe('');
  });

  it('--no-save only names it', async () => {
    const place = await fresh();
    write(place, { 'changed.txt': 'new\n' });
    const { saved, session_id } = await wrap(place, { save: false });
    expect(saved).toEqual({ commit: null, paths: ['changed.txt'] });
    expect(recordsOf(place, session_id).at(-1)!.fields.saved).toEqual(saved);
    expect(git(place.dir, 'for-each-ref', 'refs/handoff')).toBe('');
  });

  it('on an unborn branch', async () => {
    const place = await initialised();
    await place.handoff.start({ as: 'donna' });
    git(place.dir, 'update-ref', '-d', 'HEAD');
    write(place, { 'a.txt': 'a\n' });
    const before = untouched(place);
    const { saved } = await wrap(place);
    expect(untouched(place)).toEqual(before);
    expect(git(place.dir, 'ls-tree', '-r', '--name-only', saved!.commit!)).toBe('.gitattributes\na.txt');
    expect(git(place.dir, 'log', '--format=%P', saved!.commit!)).toBe('');
  });

  it('with HEAD detached', async () => {
    const place = await fresh();
    git(place.dir, 'switch', '--quiet', '--detach');
    write(place, { 'changed.txt': 'new\n' });
    const { saved } = await wrap(place);
    expect(shown(place, saved!.commit)).toEqual(['M 100644 changed.txt']);
  });

  it.each(['merge', 'rebase'])('in the midst of a %s that is in conflict, with the marks', async (verb) => {
    const place = await fresh();
    git(place.dir, 'switch', '--quiet', '-c', 'side');
    write(place, { 'changed.txt': 'theirs\n' });
    git(place.dir, 'commit', '--quiet', '--all', '--message', 'theirs');
    git(place.dir, 'switch', '--quiet', 'main');
    write(place, { 'changed.txt': 'ours\n' });
    git(place.dir, 'commit', '--quiet', '--all', '--message', 'ours');
    expect(() => git(place.dir, verb, 'side')).toThrow();
    const before = untouched(place);
    const { saved } = await wrap(place);
    expect(untouched(place)).toEqual(before);
    expect(saved!.paths).toEqual(['changed.txt']);
    expect(blob(place, saved!.commit, 'changed.txt')).toContain('<<<<<<<');
  });

  it('names with newlines, quotes, other scripts, and bytes that are no UTF-8', async () => {
    const place = await fresh();
    const odd = ['a\nb.txt', ' leading', '"quoted"', 'é日本.txt', '-dash', ':(top)magic', '*.txt', 'tab\there'];
    write(place, Object.fromEntries(odd.map((name) => [name, `${name}\n`])));
    const raw = Buffer.concat([Buffer.from(`${place.dir}/raw-`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(raw, 'raw\n');
    const { saved } = await wrap(place);
    expect([...saved!.paths].sort()).toEqual([...odd, 'raw-\uFFFDff\uFFFDfe'].sort());
    const listed = gitInput(place.dir, '', 'diff-tree', '-r', '--name-only', '-z', '--no-commit-id', saved!.commit!);
    expect(listed.split('\0').slice(0, -1)).toHaveLength(odd.length + 1);
    for (const name of odd) expect(blob(place, saved!.commit, name)).toBe(name);
    rmSync(raw);
    for (const name of odd) rmSync(join(place.dir, name));
    expect((await place.handoff.restore()).applied).toBe(true);
    expect(readFileSync(raw, 'utf8')).toBe('raw\n');
    for (const name of odd) expect(readFileSync(join(place.dir, name), 'utf8')).toBe(`${name}\n`);
  });

  it('line ends and filters as git itself does', async () => {
    const place = await fresh();
    git(place.dir, 'config', 'filter.upper.clean', 'tr a-z A-Z');
    git(place.dir, 'config', 'filter.upper.smudge', 'tr A-Z a-z');
    git(place.dir, 'config', 'filter.upper.required', 'true');
    write(place, { '.gitattributes': '*.crlf text eol=crlf\n*.up filter=upper\n' });
    write(place, { 'a.crlf': 'one\r\ntwo\r\n', 'b.up': 'lower\n' });
    const { saved } = await wrap(place);
    expect(blob(place, saved!.commit, 'a.crlf')).toBe('one\ntwo');
    expect(blob(place, saved!.commit, 'b.up')).toBe('LOWER');
    git(place.dir, 'checkout', '--quiet', '.gitattributes');
    for (const name of ['a.crlf', 'b.up']) rmSync(join(place.dir, name));
    await place.handoff.restore();
    expect(readFileSync(join(place.dir, 'a.crlf'), 'utf8')).toBe('one\r\ntwo\r\n');
    expect(readFileSync(join(place.dir, 'b.up'), 'utf8')).toBe('lower\n');
  });

  it('a file for a folder, a folder for a file, and a link for a folder', async () => {
    const place = await fresh();
    write(place, { 'dir/one.txt': 'one\n', 'dir/two.txt': 'two\n', file: 'file\n', 'linked/in.txt': 'in\n' });
    git(place.dir, 'add', '--all');
    git(place.dir, 'commit', '--quiet', '--message', 'folders');
    for (const name of ['dir', 'file', 'linked']) rmSync(join(place.dir, name), { recursive: true });
    write(place, { dir: 'now a file\n', 'file/below.txt': 'below\n' });
    symlinkSync('src', join(place.dir, 'linked'));
    const before = untouched(place);
    const { saved } = await wrap(place);
    expect(untouched(place)).toEqual(before);
    const names = git(place.dir, 'ls-tree', '-r', '--name-only', saved!.commit!, 'dir', 'file', 'linked');
    expect(names.split('\n')).toEqual(['dir', 'file/below.txt', 'linked']);
    git(place.dir, 'clean', '-fdq', '-e', '.handoff');
    git(place.dir, 'checkout', '--quiet', '--force', '--', '.');
    expect((await place.handoff.restore()).applied).toBe(true);
    expect(untouched(place).slice(1)).toEqual(before.slice(1));
    expect(readlinkSync(join(place.dir, 'linked'))).toBe('src');
  });

  it('in a linked work tree, its own changes and no others', async () => {
    const first = await fresh();
    const place = worktree(first, 'side');
    write(first, { 'changed.txt': 'of the first\n' });
    write(place, { 'kept.txt': 'of the linked one\n' });
    const erin = await place.handoff.start({ as: 'erin' });
    const { saved } = await place.handoff.wrap({ as: 'erin', message: 'x', commit: false });
    expect(saved!.paths).toEqual(['kept.txt']);
    expect(git(first.dir, 'rev-parse', `refs/handoff/saved/${erin.session_id.slice(0, 8)}`)).toBe(saved!.commit);
  });

  it.each([
    ['a split index', ['update-index', '--split-index']],
    ['an index of version 4', ['update-index', '--index-version', '4']],
    ['an untracked cache', ['update-index', '--force-untracked-cache']],
  ])('with %s', async (_, args) => {
    const place = await fresh();
    git(place.dir, ...args);
    write(place, { 'changed.txt': 'new\n', 'new.txt': 'new\n' });
    const before = untouched(place);
    const shared = () => git(place.dir, 'rev-parse', '--shared-index-path');
    const half = shared();
    const { saved } = await wrap(place);
    expect(untouched(place)).toEqual(before);
    expect(shared()).toBe(half);
    expect(shown(place, saved!.commit).sort()).toEqual(['A 100644 new.txt', 'M 100644 changed.txt']);
  });

  it.each([false, true])(
    'in a sparse checkout, and nothing outside it is taken for deleted (sparse index: %s)',
    async (isSparse) => {
      const place = await fresh();
      write(place, { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' });
      git(place.dir, 'add', '--all');
      git(place.dir, 'commit', '--quiet', '--message', 'folders');
      git(place.dir, 'sparse-checkout', 'set', '--cone', ...(isSparse ? ['--sparse-index'] : []), 'in', '.handoff');
      expect(existsSync(join(place.dir, 'out/b.txt'))).toBe(false);
      write(place, { 'in/a.txt': 'changed\n', 'out/new.txt': 'beyond the cone\n' });
      const { saved } = await wrap(place);
      expect(shown(place, saved!.commit).sort()).toEqual(['A 100644 out/new.txt', 'M 100644 in/a.txt']);
    },
  );

  it('in a repository with SHA-256', async () => {
    const place = await initialised('--object-format=sha256');
    git(place.dir, 'add', '--all');
    git(place.dir, 'commit', '--quiet', '--allow-empty', '--message', 'x');
    await place.handoff.start({ as: 'donna' });
    write(place, { 'a/b.txt': 'a\n' });
    const { saved } = await wrap(place);
    expect(saved!.commit).toMatch(/^[0-9a-f]{64}$/);
    rmSync(join(place.dir, 'a'), { recursive: true });
    await place.handoff.restore();
    expect(readFileSync(join(place.dir, 'a/b.txt'), 'utf8')).toBe('a\n');
  });

  it('a submodule as its commit is; what is dirty inside, and a repository within, is named and not saved', async () => {
    const place = await fresh();
    const other = join(place.dir, '..', 'other');
    git('/', 'init', '--quiet', other);
    git(other, 'commit', '--quiet', '--allow-empty', '--message', 'one');
    git(place.dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'sub');
    git(place.dir, 'commit', '--quiet', '--message', 'sub');
    git(join(place.dir, 'sub'), 'commit', '--quiet', '--allow-empty', '--message', 'two');
    write(place, { 'sub/dirty.txt': 'dirty\n' });
    git('/', 'init', '--quiet', join(place.dir, 'within'));
    write(place, { 'within/file.txt': 'x\n' });
    const { saved, warnings } = await wrap(place);
    expect([...saved!.paths].sort()).toEqual(['sub', 'within/']);
    const two = git(join(place.dir, 'sub'), 'rev-parse', 'HEAD');
    expect(git(place.dir, 'ls-tree', saved!.commit!, 'sub')).toBe(`160000 commit ${two}\tsub`);
    expect(warnings.find(({ kind }) => kind === 'not_saved')!.message).toContain('sub');
    expect(warnings.find(({ kind }) => kind === 'not_saved')!.message).toContain('within/');
  });

  it('a change that was made in the second in which the index was written', async () => {
    const place = await fresh();
    const path = join(place.dir, 'changed.txt');
    for (let round = 0; round < 20; round++) {
      write(place, { 'changed.txt': `${round % 10}-a\n` });
      git(place.dir, 'add', 'changed.txt');
      write(place, { 'changed.txt': `${round % 10}-b\n` }); // the same size
    }
    const { saved } = await wrap(place);
    expect(blob(place, saved!.commit, 'changed.txt')).toBe(readFileSync(path, 'utf8').trim());
  });

  it('warns of what looks like a secret, by name and by content, and refuses nothing', async () => {
    const place = await fresh();
    const token = `ghp_${'aB3dE6gH9jK2mN5pQ8sT1vW4xY7z'}0123456789`.slice(0, 40);
    write(place, {
      '.env': 'A=1\n',
      'deploy/id_ed25519': 'x\n',
      'id_ed25519.pub': 'x\n',
      'notes.txt': `token: ${token}\n`,
    });
    const { saved, warnings } = await wrap(place);
    expect(saved!.commit).not.toBeNull();
    const said = warnings.find(({ kind }) => kind === 'secret_saved')!.message;
    for (const name of ['.env', 'deploy/id_ed25519', 'notes.txt']) expect(said).toContain(name);
    expect(said).not.toContain('.pub');
    expect(said).not.toContain(token);
  });

  it('a name that looks like a secret is counted and not written down', async () => {
    const place = await fresh();
    const token = `ghp_${'aB3dE6gH9jK2mN5pQ8sT1vW4xY7z'}0123456789`.slice(0, 40);
    write(place, { [`${token}.txt`]: 'x\n', 'other.txt': 'x\n' });
    expect((await wrap(place)).saved).toMatchObject({ paths: ['other.txt'], more: 1 });
  });

  it('names what is too large, and saves the rest', async () => {
    const place = await fresh();
    write(place, { 'small.txt': 'x\n' });
    writeFileSync(join(place.dir, 'large.bin'), '');
    const { truncateSync } = await import('node:fs');
    truncateSync(join(place.dir, 'large.bin'), 101 * 1024 * 1024);
    const { saved, warnings } = await wrap(place);
    expect(saved!.paths).toEqual(['large.bin', 'small.txt']);
    expect(warnings).toContainEqual({ kind: 'not_saved', message: expect.stringContaining('large.bin (101 MB)') });
    expect(git(place.dir, 'diff', '--name-only', 'HEAD~1', saved!.commit!, '--', ':!.handoff')).toBe('small.txt');
    rmSync(join(place.dir, 'small.txt'));
    expect((await place.handoff.restore()).applied).toBe(true);
    expect(readFileSync(join(place.dir, 'small.txt'), 'utf8')).toBe('x\n');
    expect(statSync(join(place.dir, 'large.bin')).size).toBe(101 * 1024 * 1024);
  });

  it('saves nothing where all of it is too large', async () => {
    const place = await fresh();
    writeFileSync(join(place.dir, 'large.bin'), '');
    const { truncateSync } = await import('node:fs');
    truncateSync(join(place.dir, 'large.bin'), 101 * 1024 * 1024);
    expect((await wrap(place)).saved).toEqual({ commit: null, paths: ['large.bin'] });
    expect(git(place.dir, 'for-each-ref', 'refs/handoff')).toBe('');
  });

  it('thousands of files by a few names and a count, however long these are', async () => {
    const place = await fresh();
    const long = 'x'.repeat(200);
    write(place, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`d/${long}/${n}`, `${n}\n`])));
    const { saved, session_id } = await wrap(place);
    expect(saved!.paths.length).toBeLessThanOrEqual(64);
    expect(saved!.paths.length + saved!.more!).toBe(500);
    expect(git(place.dir, 'ls-tree', '-r', '--name-only', saved!.commit!, 'd').split('\n')).toHaveLength(500);
    expect(statSync(join(place.dir, recordsOf(place, session_id).at(-1)!.path)).size).toBeLessThan(16_384);
  });

  it('what cannot be read is a warning, and the baton is written', async () => {
    const place = await fresh();
    write(place, { 'changed.txt': 'x\n' });
    git(place.dir, 'config', 'filter.broken.clean', 'false');
    git(place.dir, 'config', 'filter.broken.required', 'true');
    write(place, { '.gitattributes': 'changed.txt filter=broken\n' });
    const { saved, warnings } = await wrap(place);
    expect(saved).toMatchObject({ commit: null, paths: ['.gitattributes', 'changed.txt'] });
    expect(warnings.some(({ kind }) => kind === 'not_saved')).toBe(true);
  });

  it('a wrap that is refused leaves the ref where the baton says', async () => {
    const place = await fresh();
    write(place, { 'changed.txt': 'new\n' });
    const { saved, session_id } = await wrap(place);
    write(place, { 'changed.txt': 'newer\n' });
    await expect(wrap(place, { message: 'another text', session: session_id })).rejects.toMatchObject({
      code: 'session_ended',
    });
    expect(git(place.dir, 'rev-parse', `refs/handoff/saved/${session_id.slice(0, 8)}`)).toBe(saved!.commit);
  });

  it('moves a ref that a wrap which was cut off has left', async () => {
    const place = await fresh();
    const { session_id } = (await place.handoff.status({ as: 'donna' })).session!;
    const ref = `refs/handoff/saved/${session_id.slice(0, 8)}`;
    git(place.dir, 'update-ref', ref, 'HEAD');
    write(place, { 'changed.txt': 'new\n' });
    const { saved } = await wrap(place);
    expect(git(place.dir, 'rev-parse', ref)).toBe(saved!.commit);
  });

  it('starts git three times, and twice where all is committed', async () => {
    const place = await fresh();
    const trace = join(place.dir, '..', 'trace');
    const started = async (options: Partial<WrapOptions>) => {
      rmSync(trace, { force: true });
      const again = open(place, { env: { GIT_TRACE: trace } });
      await again.handoff.wrap({ as: 'donna', message: 'x', ...options });
      await again.handoff.close();
      return [...readFileSync(trace, 'utf8').matchAll(/trace: built-in: git (\S+)/g)].map(([, name]) => name).sort();
    };
    write(place, { 'changed.txt': 'new\n', 'new/a.txt': 'a\n' });
    expect(await started({})).toEqual(['cat-file', 'status', 'update-index']);
    git(place.dir, 'checkout', '--quiet', '.');
    rmSync(join(place.dir, 'new'), { recursive: true });
    await place.handoff.start({ as: 'donna' });
    expect(await started({})).toEqual(['cat-file', 'status']);
  });
});
