import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

const copy = template();

const LINES = Array.from({ length: 20 }, (_, n) => `line ${n}\n`);

/** With files that are committed; donna has changed some and wrapped. */
async function saved(change: (place: Place) => void = (place) => write(place, { 'a.txt': 'saved\n' })): Promise<Place> {
  const place = copy();
  write(place, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'long.txt': LINES.join('') });
  commit(place, 'files');
  await place.handoff.start({ as: 'donna' });
  change(place);
  await place.handoff.wrap({ as: 'donna', message: 'half way' });
  return place;
}

function write({ dir }: Pick<Place, 'dir'>, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

function commit({ dir }: Place, message: string): void {
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', message);
}

/** As whoever comes next finds it: what was not committed is not there. */
function clean({ dir }: Place): void {
  git(dir, 'reset', '--quiet', '--hard');
  git(dir, 'clean', '-fdq');
}

/** Every file outside of `.git` and `.handoff`, with its mode, and the index. */
function state({ dir }: Place): Record<string, string> {
  const files: Record<string, string> = {};
  const walk = (at: string): void => {
    for (const entry of readdirSync(join(dir, at), { withFileTypes: true })) {
      const path = join(at, entry.name);
      if (['.git', '.handoff'].includes(path)) continue;
      if (entry.isDirectory()) walk(path);
      else files[path] = contentOf(join(dir, path));
    }
  };
  walk('');
  return files;
}

function contentOf(path: string): string {
  const stat = lstatSync(path);
  return stat.isSymbolicLink()
    ? `link ${readlinkSync(path)}`
    : `${stat.mode & 0o111 ? 'x' : '-'} ${readFileSync(path, 'latin1')}`;
}

function index({ dir }: Place): string {
  return createHash('sha256')
    .update(readFileSync(join(dir, '.git/index')))
    .digest('hex');
}

async function refusal(place: Place, target?: string): Promise<HandoffError> {
  const before = [state(place), index(place)];
  const error = await place.handoff.restore(target ? { target } : {}).catch((thrown: unknown) => thrown);
  if (!(error instanceof HandoffError)) throw new Error(`Expected a refusal, found ${JSON.stringify(error)}`);
  expect([state(place), index(place)]).toEqual(before);
  expect(error.hint).toBeTruthy();
  return error;
}

describe('restore', () => {
  it('brings changed, new and deleted files back after a pickup, and leaves the index alone', async () => {
    const place = await saved((at) => {
      write(at, { 'a.txt': 'saved\n', 'new/deep/c.txt': 'c\n' });
      rmSync(join(at.dir, 'b.txt'));
      symlinkSync('a.txt', join(at.dir, 'link'));
      chmodSync(join(at.dir, 'long.txt'), 0o755);
    });
    const before = state(place);
    clean(place);
    const { baton } = await place.handoff.pickup({ as: 'erin' });
    expect(baton!.saved!.paths).toHaveLength(5);
    const staged = index(place);
    const result = await place.handoff.restore({ as: 'erin' });
    expect(result).toMatchObject({ session_id: baton!.session_id, commit: baton!.saved!.commit, applied: true });
    expect([...result.paths].sort()).toEqual(['a.txt', 'b.txt', 'link', 'long.txt', 'new/deep/c.txt']);
    expect(state(place)).toEqual(before);
    expect(index(place)).toBe(staged);
    expect(git(place.dir, 'diff', '--cached', '--name-only')).toBe('');
  });

  it('says so where all of it is there, and changes nothing', async () => {
    const place = await saved();
    const before = state(place);
    expect(await place.handoff.restore()).toMatchObject({ applied: false, paths: ['a.txt'] });
    expect(state(place)).toEqual(before);
    commit(place, 'committed by hand');
    expect((await place.handoff.restore()).applied).toBe(false);
  });

  it('on another commit: what that changed elsewhere stays, and lines that both changed are merged', async () => {
    const place = await saved((at) => write(at, { 'long.txt': ['first\n', ...LINES.slice(1)].join('') }));
    clean(place);
    write(place, { 'long.txt': [...LINES.slice(0, -1), 'last\n'].join(''), 'b.txt': 'moved on\n' });
    commit(place, 'moved on');
    expect((await place.handoff.restore()).applied).toBe(true);
    expect(readFileSync(join(place.dir, 'long.txt'), 'utf8')).toBe(
      ['first\n', ...LINES.slice(1, -1), 'last\n'].join(''),
    );
    expect(readFileSync(join(place.dir, 'b.txt'), 'utf8')).toBe('moved on\n');
    expect((await place.handoff.restore()).applied).toBe(false);
  });

  it('follows a file that HEAD has renamed', async () => {
    const place = await saved((at) => write(at, { 'long.txt': ['first\n', ...LINES.slice(1)].join('') }));
    clean(place);
    git(place.dir, 'mv', 'long.txt', 'longer.txt');
    commit(place, 'renamed');
    await place.handoff.restore();
    expect(readFileSync(join(place.dir, 'longer.txt'), 'utf8')).toContain('first\n');
    expect(existsSync(join(place.dir, 'long.txt'))).toBe(false);
  });

  it.each<[string, (place: Place) => void, string[]]>([
    ['a file that was changed since', (at) => write(at, { 'a.txt': 'mine\n' }), ['a.txt']],
    ['a file that was deleted since', ({ dir }) => rmSync(join(dir, 'a.txt')), ['a.txt']],
    ['an untracked file', (at) => write(at, { 'new.txt': 'mine\n' }), ['new.txt']],
    ['an ignored file', (at) => write(at, { '.git/info/exclude': '*.txt\n', 'new.txt': 'mine\n' }), ['new.txt']],
    ['an empty file', (at) => write(at, { 'new.txt': '' }), ['new.txt']],
    ['a folder with somebody’s file in it', (at) => write(at, { 'new.txt/mine': 'mine\n' }), ['new.txt/mine']],
    ['a file where a folder is to be', (at) => write(at, { dir: 'mine\n' }), ['dir']],
    ['a link where a folder is to be', ({ dir }) => symlinkSync('/tmp', join(dir, 'dir')), ['dir']],
    ['a repository', ({ dir }) => git('/', 'init', '--quiet', join(dir, 'new.txt')), ['new.txt']],
  ])('refuses where %s is in the way, names it, and touches nothing', async (_, obstruct, paths) => {
    const place = await saved((at) => write(at, { 'a.txt': 'saved\n', 'new.txt': 'saved\n', 'dir/c.txt': 'saved\n' }));
    clean(place);
    obstruct(place);
    const error = await refusal(place);
    expect(error).toMatchObject({ code: 'would_overwrite', exitCode: 1 });
    expect(error.data!.paths).toEqual(expect.arrayContaining(paths));
    for (const path of paths) expect(error.message).toContain(path);
  });

  it('refuses where HEAD has changed the same lines, and says how to look at it', async () => {
    const place = await saved();
    clean(place);
    write(place, { 'a.txt': 'theirs\n' });
    commit(place, 'theirs');
    const error = await refusal(place);
    expect(error).toMatchObject({ code: 'would_overwrite', data: { paths: ['a.txt'] } });
    const command = /git cherry-pick --no-commit [0-9a-f]+/.exec(error.hint!)![0];
    expect(() => git(place.dir, ...command.split(' ').slice(1))).toThrow();
    expect(readFileSync(join(place.dir, 'a.txt'), 'utf8')).toContain('<<<<<<<');
  });

  it('where HEAD has put a folder in the place of a file', async () => {
    const place = await saved((at) => write(at, { 'new.txt': 'saved\n' }));
    clean(place);
    write(place, { 'new.txt/inside.txt': 'theirs\n' });
    commit(place, 'theirs');
    expect((await refusal(place)).code).toBe('would_overwrite');
  });

  it('goes by the commit that the baton names, whatever the ref says', async () => {
    const place = await saved();
    clean(place);
    const [ref] = git(place.dir, 'for-each-ref', '--format=%(refname)', 'refs/handoff/saved').split('\n');
    write(place, { 'evil.txt': 'evil\n' });
    commit(place, 'evil');
    git(place.dir, 'update-ref', ref!, 'HEAD');
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD^');
    const { commit: named } = await place.handoff.restore();
    expect(named).not.toBe(git(place.dir, 'rev-parse', ref!));
    expect(readFileSync(join(place.dir, 'a.txt'), 'utf8')).toBe('saved\n');
    expect(existsSync(join(place.dir, 'evil.txt'))).toBe(false);
  });

  it('in a clone: the command that its hint says brings the ref, and what was saved', async () => {
    const place = await saved();
    const dir = join(place.dir, '..', 'clone of it');
    git('/', 'clone', '--quiet', '--no-local', place.dir, dir);
    const clone = open(place, { dir });
    const session = git(place.dir, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/handoff/saved');
    const error = await refusal(clone, session);
    expect(error.code).toBe('unknown_commit');
    const ref = `refs/handoff/saved/${session}`;
    expect(error.hint).toContain(`git fetch origin ${ref}:${ref}`);
    git(dir, 'fetch', '--quiet', 'origin', `${ref}:${ref}`);
    expect((await clone.handoff.restore({ target: session })).applied).toBe(true);
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('saved\n');
  });

  it('of a baton on another branch, picked up there: what was saved comes along', async () => {
    const place = await saved();
    const session = git(place.dir, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/handoff/saved');
    git(place.dir, 'branch', 'work');
    git(place.dir, 'reset', '--quiet', '--hard', 'HEAD~1');
    const elsewhere = open(place);
    const picked = await elsewhere.handoff.pickup({ as: 'erin' });
    expect(picked.saved).toEqual(picked.baton!.saved);
    expect(picked.saved).toMatchObject({ commit: git(place.dir, 'rev-parse', `refs/handoff/saved/${session}`) });
    expect((await elsewhere.handoff.restore({ as: 'erin' })).commit).toBe(picked.saved!.commit);
    expect(readFileSync(join(place.dir, 'a.txt'), 'utf8')).toBe('saved\n');
  });

  it('has nothing to bring back where nothing was saved, and says what was only named', async () => {
    const place = copy();
    await expect(place.handoff.restore()).rejects.toMatchObject({ code: 'no_session' });
    await place.handoff.start({ as: 'donna' });
    await expect(place.handoff.restore()).rejects.toMatchObject({ code: 'nothing_saved', exitCode: 2 });
    await place.handoff.wrap({ message: 'x' });
    await expect(place.handoff.restore()).rejects.toMatchObject({ code: 'nothing_saved' });
    await place.handoff.start({ as: 'donna' });
    write(place, { 'c.txt': 'c\n' });
    await place.handoff.wrap({ message: 'x', save: false });
    expect(await refusal(place)).toMatchObject({ code: 'nothing_saved', message: expect.stringContaining('c.txt') });
    await expect(place.handoff.restore({ target: 'ffffffff' })).rejects.toMatchObject({ code: 'unknown_session' });
  });

  it('a takeover by force saves nothing by itself: the work tree stays as it is', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    write(place, { 'c.txt': 'c\n' });
    await place.handoff.pickup({ as: 'erin', force: true });
    expect(git(place.dir, 'for-each-ref', 'refs/handoff/saved')).toBe('');
    expect(readFileSync(join(place.dir, 'c.txt'), 'utf8')).toBe('c\n');
  });

  it('leaves .handoff alone, whatever a saved commit has there', async () => {
    const place = copy();
    const base = git(place.dir, 'rev-parse', 'HEAD');
    write(place, { 'a.txt': 'saved\n', '.handoff/policy/0002.yaml': 'forged\n' });
    commit(place, 'forged');
    const forged = git(place.dir, 'rev-parse', 'HEAD');
    git(place.dir, 'reset', '--quiet', '--hard', base);
    const baton = { kind: 'baton', summary: 'x', saved: { commit: forged, paths: ['a.txt'] }, body: 'x\n' } as const;
    const [start] = writeSession(place, [{ kind: 'start' }, baton]);
    commit(place, 'a session');
    const target = /-([0-9a-f]{8})\//.exec(start!.path)![1]!;
    expect(await place.handoff.restore({ target })).toMatchObject({ paths: ['a.txt'], applied: true });
    expect(existsSync(join(place.dir, '.handoff/policy/0002.yaml'))).toBe(false);
  });
});

describe('whatever the work tree has', () => {
  const NAMES = ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'e'];
  const content = fc.constantFrom('', 'one\n', 'two\n', 'three\n');
  const step = fc.record({
    path: fc.constantFrom(...NAMES, 'd', 'd/e', 'a/b'),
    does: fc.constantFrom('write', 'write', 'delete', 'exec', 'link', 'stage', 'commit'),
    content,
  });

  /** What somebody does; what cannot be done is not done. */
  function take(place: Place, { path, does, content: text }: { path: string; does: string; content: string }): void {
    const at = join(place.dir, path);
    try {
      if (does === 'write') write(place, { [path]: text });
      if (does === 'delete') rmSync(at, { recursive: true });
      if (does === 'exec') chmodSync(at, 0o755);
      if (does === 'link') symlinkSync(text || 'nowhere', at);
      if (does === 'stage') git(place.dir, 'add', '--all', '--', ...(existsSync(at) ? [path] : []));
      if (does === 'commit') commit(place, 'on');
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toMatch(/^(?:EEXIST|EISDIR|ENOENT|ENOTDIR|EINVAL|ERR_FS_EISDIR)$/);
    }
  }

  it('restore is refused and nothing changes, or what was saved is there and nothing else has changed', async () => {
    const counts = { refused: 0, applied: 0, there: 0 };
    const steps = fc.array(step, { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, steps, fc.boolean(), async (before, after, isCleaned) => {
        const place = copy();
        write(place, { a: 'one\n', 'd/a': 'one\n', 'd/e/a': 'two\n' });
        commit(place, 'files');
        const base = state(place);
        await place.handoff.start({ as: 'donna' });
        for (const each of before.filter(({ does }) => does !== 'commit')) take(place, each);
        const wrapped = state(place);
        const { saved: named } = await place.handoff.wrap({ as: 'donna', message: 'x' });
        if (!named?.commit) return;
        if (isCleaned) clean(place);
        for (const each of after) take(place, each);
        const found = state(place);
        const staged = index(place);
        const result = await place.handoff.restore().catch((error: unknown) => error);
        const now = state(place);
        expect(index(place)).toBe(staged);
        if (result instanceof HandoffError) {
          expect(result.code).toBe('would_overwrite');
          expect(now).toEqual(found);
          counts.refused++;
          return;
        }
        const { paths, applied } = result as { paths: string[]; applied: boolean };
        counts[applied ? 'applied' : 'there']++;
        if (!applied) expect(now).toEqual(found);
        const touched = new Set(paths);
        for (const path of new Set([...Object.keys(now), ...Object.keys(found)])) {
          if (touched.has(path)) continue;
          expect([path, now[path]]).toEqual([path, found[path]]);
        }
        // what was neither changed by a commit nor by hand is what was saved
        for (const path of touched)
          if (found[path] === base[path]) expect([path, now[path]]).toEqual([path, wrapped[path]]);
        // what was there by hand is still there, unless it was what was committed
        for (const [path, text] of Object.entries(found)) {
          if (text !== committed(place, path) && text !== wrapped[path])
            expect([path, now[path]]).toEqual([path, text]);
        }
      }),
      { numRuns: Number(process.env.RESTORE_RUNS ?? 60) },
    );
    expect(counts.refused).toBeGreaterThan(0);
    expect(counts.applied).toBeGreaterThan(0);
  });

  function committed({ dir }: Place, path: string): string | null {
    const [mode] = git(dir, 'ls-tree', 'HEAD', '--', path).split(' ');
    if (!mode) return null;
    const text = Buffer.from(git(dir, 'show', `HEAD:${path}`)).toString('latin1');
    if (mode === '120000') return `link ${text}`;
    return `${mode === '100755' ? 'x' : '-'} ${text}${text === '' ? '' : '\n'}`;
  }
});
