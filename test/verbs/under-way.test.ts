import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initialised, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';

/** Somebody has a conflict in `file` before them, and a session open. */
async function inConflict(verb: 'merge' | 'cherry-pick' | 'revert', ...revs: string[]): Promise<Place> {
  const place = await initialised();
  git(place.dir, 'switch', '--quiet', '--create', 'work');
  commit(place, 'base');
  git(place.dir, 'switch', '--quiet', '--create', 'side');
  for (const text of ['side', 'farther']) commit(place, text);
  git(place.dir, 'switch', '--quiet', 'work');
  for (const text of ['one', 'two']) commit(place, text);
  await place.handoff.start({ as: 'donna' });
  expect(() => git(place.dir, verb, ...revs)).toThrow();
  return place;
}

function commit({ dir }: Place, text: string): void {
  writeFileSync(join(dir, 'file'), `${text}\n`);
  git(dir, 'add', 'file');
  git(dir, 'commit', '--quiet', '--message', text);
}

function resolve({ dir }: Place): void {
  writeFileSync(join(dir, 'file'), 'both\n');
  git(dir, 'add', 'file');
}

function hook({ dir }: Place): void {
  mkdirSync(join(dir, '.git/hooks'), { recursive: true });
  writeFileSync(join(dir, '.git/hooks/post-commit'), '#!/bin/sh\n');
  chmodSync(join(dir, '.git/hooks/post-commit'), 0o755);
}

const subject = ({ dir }: Place) => git(dir, 'log', '-1', '--format=%s');
const isCommitted = ({ dir }: Place, path: string) => git(dir, 'ls-tree', '--name-only', 'HEAD', path) === path;

describe('a wrap while git waits for somebody to resolve a conflict', () => {
  it('commits its records on their own, and the merge ends as it would have', async () => {
    const place = await inConflict('merge', 'side');
    const { commit: oid, baton } = await place.handoff.wrap({ message: 'in conflict' });
    expect(git(place.dir, 'show', '--format=%s', '--name-only', oid!)).not.toMatch(/^file$/m);
    expect(git(place.dir, 'status', '--porcelain')).toBe('UU file');
    resolve(place);
    git(place.dir, 'commit', '--quiet', '--no-edit');
    expect(subject(place)).toBe("Merge branch 'side' into work");
    expect(git(place.dir, 'rev-parse', 'HEAD^1', 'HEAD^2')).toBe(`${oid}\n${git(place.dir, 'rev-parse', 'side')}`);
    expect(isCommitted(place, baton.path)).toBe(true);
    expect((await place.handoff.verify()).valid).toBe(true);
  });

  it('a merge that is given up leaves them where they are', async () => {
    const place = await inConflict('merge', 'side');
    const { baton } = await place.handoff.wrap({ message: 'in conflict' });
    git(place.dir, 'merge', '--abort');
    expect(readFileSync(join(place.dir, 'file'), 'utf8')).toBe('two\n');
    expect(isCommitted(place, baton.path)).toBe(true);
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
  });

  it.each([
    ['cherry-pick', ['side'], 'farther'],
    ['cherry-pick', ['side~1', 'side'], 'side'],
    ['revert', ['HEAD~1'], 'Revert "one"'],
    ['revert', ['HEAD~1', 'HEAD'], 'Revert "one"'],
  ] as const)('%s of %s ends as it would have', async (verb, revs, message) => {
    const place = await inConflict(verb, ...revs);
    const { baton } = await place.handoff.wrap({ message: 'in conflict' });
    expect(isCommitted(place, baton.path)).toBe(true);
    expect(git(place.dir, 'status', '--porcelain')).toBe('UU file');
    resolve(place);
    git(place.dir, 'commit', '--quiet', '--no-edit');
    expect(subject(place)).toBe(message);
    expect(git(place.dir, 'show', '--format=', '--name-only', 'HEAD')).toBe('file');
  });

  it.each(['cherry-pick', 'revert'] as const)('%s can be given up', async (verb) => {
    const place = await inConflict(verb, verb === 'revert' ? 'HEAD~1' : 'side');
    const { baton } = await place.handoff.wrap({ message: 'in conflict' });
    git(place.dir, verb, '--abort');
    expect(readFileSync(join(place.dir, 'file'), 'utf8')).toBe('two\n');
    expect(isCommitted(place, baton.path)).toBe(true);
  });
});

describe('where git has to make the commit', () => {
  it('a revert goes on all the same', async () => {
    const place = await inConflict('revert', 'HEAD~1');
    hook(place);
    await place.handoff.wrap({ message: 'in conflict' });
    expect(existsSync(join(place.dir, '.git/REVERT_HEAD'))).toBe(true);
    resolve(place);
    git(place.dir, 'commit', '--quiet', '--no-edit');
    expect(subject(place)).toBe('Revert "one"');
  });

  it('what a squashed merge was going to say is kept', async () => {
    const place = await initialised();
    await place.handoff.start({ as: 'donna' });
    git(place.dir, 'switch', '--quiet', '--create', 'side');
    commit(place, 'side');
    git(place.dir, 'switch', '--quiet', '--create', 'work', 'HEAD~1');
    git(place.dir, 'merge', '--quiet', '--squash', 'side');
    hook(place);
    const said = readFileSync(join(place.dir, '.git/SQUASH_MSG'), 'utf8');
    await place.handoff.wrap({ message: 'squashed' });
    expect(readFileSync(join(place.dir, '.git/SQUASH_MSG'), 'utf8')).toBe(said);
    expect(git(place.dir, 'status', '--porcelain')).toBe('A  file');
  });

  it.each([
    ['merge', 'git commit'],
    ['cherry-pick', 'git cherry-pick --continue'],
  ] as const)('it cannot during a %s, and the hint says what takes the records along', async (verb, command) => {
    const place = await inConflict(verb, 'side');
    hook(place);
    const error = await place.handoff.wrap({ message: 'in conflict' }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'io' });
    expect(error.hint).toContain(command);
    resolve(place);
    git(place.dir, '-c', 'core.editor=true', ...command.split(' ').slice(1));
    expect(git(place.dir, 'status', '--porcelain')).toBe('');
    expect((await place.handoff.sessions()).sessions[0]).toMatchObject({ state: 'wrapped' });
  });
});
