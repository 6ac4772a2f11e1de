import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readChanges } from '../../src/git/changes/changes.ts';
import type { CommitChange } from '../../src/git/changes/patch-reader.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { ancestorsIn, readNearRange, readRange } from '../../src/git/refs/range.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { commit, gitAt } from './fixture.ts';

// SPEC §9.3: what a patch id is made of, and what it does not depend on.

const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`);

function repository(...flags: string[]): string {
  const dir = temporaryDirectory();
  git(dir, 'init', '--quiet', '--initial-branch=main', ...flags);
  commit(dir, { 'a.txt': LINES.join('') });
  return dir;
}

async function changeOf(dir: string, oid = git(dir, 'rev-parse', 'HEAD')): Promise<CommitChange> {
  return (await readChanges(gitAt(dir), [{ commit: oid }], '.handoff'))[0]!;
}

function edit(at: number, text: string): string {
  return LINES.map((line, n) => (n === at ? text : line)).join('');
}

describe('a patch id', () => {
  test('stays the same when the commit is made again on another base', async () => {
    const dir = repository();
    git(dir, 'checkout', '--quiet', '-b', 'side');
    commit(dir, { 'a.txt': edit(30, 'changed\n') });
    const before = await changeOf(dir);
    git(dir, 'checkout', '--quiet', 'main');
    commit(dir, { 'a.txt': `first\n${LINES.join('')}`, 'b.txt': 'b\n' });
    git(dir, 'checkout', '--quiet', 'side');
    git(dir, 'rebase', '--quiet', 'main');
    expect(await changeOf(dir)).toEqual(before);
    expect(before.patchId).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ['another word', edit(30, 'Changed\n')],
    ['white space only', edit(30, 'changed \n')],
    ['another line', edit(31, 'changed\n')],
  ])('differs by %s', async (_, text) => {
    const one = repository();
    commit(one, { 'a.txt': edit(30, 'changed\n') });
    const other = repository();
    commit(other, { 'a.txt': text });
    expect((await changeOf(other)).patchId).not.toBe((await changeOf(one)).patchId);
  });

  test('of several commits is that of one commit that makes the same change', async () => {
    const dir = repository();
    const [before, root] = [git(dir, 'rev-parse', 'HEAD^{tree}'), git(dir, 'rev-parse', 'HEAD')];
    commit(dir, { 'a.txt': edit(3, 'x\n') });
    commit(dir, { 'b.txt': 'b\n' });
    const after = git(dir, 'rev-parse', 'HEAD^{tree}');
    const [whole] = await readChanges(gitAt(dir), [{ before, after }], '.handoff');
    git(dir, 'reset', '--quiet', '--soft', root);
    git(dir, 'commit', '--quiet', '--message', 'squashed');
    expect(await changeOf(dir)).toEqual(whole);
  });

  test('leaves records out, and nothing else', async () => {
    const dir = repository();
    commit(dir, { '.handoff/x.yaml': 'a: 1\n', 'docs/.handoff/y': 'y\n', '.handoffs': 'z\n' });
    expect((await changeOf(dir)).paths).toEqual(['.handoffs', 'docs/.handoff/y']);
    commit(dir, { '.handoff/x.yaml': 'a: 2\n' });
    expect(await changeOf(dir)).toEqual({ paths: [], unlikeFiles: new Set(), patchId: null });
  });

  test('does not depend on attributes or on configuration', async () => {
    const dir = repository();
    commit(dir, { '.gitattributes': '*.bin -diff\n*.txt diff=shout\n' });
    commit(dir, { 'x.bin': Buffer.from([0, 1, 2, 10, 0]), 'a.txt': edit(3, 'x\n') });
    const before = await changeOf(dir);
    writeFileSync(join(dir, '.gitattributes'), '* -text diff\n');
    for (const [key, value] of Object.entries({
      'diff.algorithm': 'patience',
      'diff.context': '0',
      'diff.noprefix': 'true',
      'diff.suppressBlankEmpty': 'true',
      'diff.shout.textconv': 'touch canary; cat',
      'diff.external': 'touch canary',
      'diff.renames': 'copies',
      'diff.ignoreSubmodules': 'all',
      'diff.indentHeuristic': 'true',
    })) {
      git(dir, 'config', key, value);
    }
    expect(await changeOf(dir)).toEqual(before);
    expect(git(dir, 'status', '--porcelain')).not.toContain('canary');
  });

  test('does not depend on what is staged: the index is not even read', async () => {
    const dir = repository();
    commit(dir, { 'a.txt': edit(30, 'changed\n') });
    const before = await changeOf(dir);
    writeFileSync(join(dir, '.git/index'), 'no index, and git would say so');
    expect(await changeOf(dir)).toEqual(before);
  });

  test('tells binary files apart', async () => {
    const [one, other] = [repository(), repository()];
    commit(one, { x: Buffer.from([0, 1, 2]) });
    commit(other, { x: Buffer.from([0, 1, 3]) });
    expect((await changeOf(other)).patchId).not.toBe((await changeOf(one)).patchId);
  });
});

describe('paths', () => {
  test('are told byte for byte', async () => {
    const dir = repository();
    const names = ['sp ace', 'new\nline', 'quo"te', 'back\\slash', 'tab\t', 'üñï', '-dash', ':colon', 'a\x01b'];
    commit(dir, Object.fromEntries(names.map((name) => [name, 'x\n'])));
    expect((await changeOf(dir)).paths.sort()).toEqual([...names].sort());
  });

  test('of a first commit are all of its files', async () => {
    const dir = repository();
    expect((await changeOf(dir)).paths).toEqual(['a.txt']);
    const after = git(dir, 'rev-parse', 'HEAD^{tree}');
    expect((await readChanges(gitAt(dir), [{ before: null, after }], '.handoff'))[0]!.paths).toEqual(['a.txt']);
  });

  test('in a SHA-256 repository are the same', async () => {
    const dir = repository('--object-format=sha256');
    const after = git(dir, 'rev-parse', 'HEAD^{tree}');
    const [whole] = await readChanges(gitAt(dir), [{ before: null, after }], '.handoff');
    expect(whole).toEqual(await changeOf(dir));
    expect(whole).toEqual(await changeOf(repository()));
  });
});

describe('a range', () => {
  test('has what is new, its edges, and who descends from whom', async () => {
    const dir = repository();
    const base = git(dir, 'rev-parse', 'HEAD');
    const one = commit(dir, { b: '1' });
    git(dir, 'checkout', '--quiet', '-b', 'side', base);
    const two = commit(dir, { c: '1' });
    git(dir, 'merge', '--quiet', '--no-ff', '--message', 'm', one);
    const merge = git(dir, 'rev-parse', 'HEAD');
    const { commits, boundary } = await readRange(gitAt(dir), merge, [base]);
    expect(commits.map(({ oid }) => oid).sort()).toEqual([one, two, merge].sort());
    expect(commits[0]).toEqual({ oid: merge, parents: [two, one] });
    expect([...boundary]).toEqual([base]);
    const byOid = new Map(commits.map((each) => [each.oid, each]));
    expect(ancestorsIn(byOid, merge)).toEqual(new Set([merge, one, two]));
    expect(ancestorsIn(byOid, one)).toEqual(new Set([one]));
    expect(ancestorsIn(byOid, base)).toEqual(new Set());
    expect((await readRange(gitAt(dir), base, [merge])).commits).toEqual([]);
  });

  test('that is near is read without a process, and is the same', async () => {
    const dir = repository();
    const first = git(dir, 'rev-parse', 'HEAD');
    const base = commit(dir, { b: '1' });
    const one = commit(dir, { c: '1' });
    git(dir, 'checkout', '--quiet', '-b', 'side', base);
    commit(dir, { d: '1' });
    commit(dir, { d: '2' });
    git(dir, 'merge', '--quiet', '--no-ff', '--message', 'm', one);
    const head = commit(dir, { e: '1' });
    const store = openNativeStore(gitAt(dir));
    const near = (await readNearRange(store, head, base))!;
    const all = await readRange(gitAt(dir), head, [base]);
    expect(new Set(near.commits)).toEqual(new Set(all.commits));
    expect(near.boundary).toEqual(all.boundary);
    const place = new Map(near.commits.map(({ oid }, at) => [oid, at]));
    for (const { oid, parents } of near.commits)
      for (const parent of parents.filter((each) => place.has(each)))
        expect(place.get(oid)).toBeLessThan(place.get(parent)!);
    expect(await readNearRange(store, head, head)).toEqual({ commits: [], boundary: new Set() });
    git(dir, 'checkout', '--quiet', '-b', 'older', first);
    const older = commit(dir, { f: '1' });
    expect(await readNearRange(store, older, base)).toBeNull(); // it left before base: only history can tell
    expect(await readNearRange(store, first, base)).toBeNull();
    await store.close();
  });
});
