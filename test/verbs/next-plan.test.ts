import { existsSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openRepository } from '../../src/index.ts';
import type { NextResult } from '../../src/verbs/task/next.ts';
import { commitAll, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';
import { changeTask, defineTask } from './tasks.ts';

// `next` answers from a plan that an earlier run kept, where nothing has happened since that could change it. A run that keeps
// nothing reads everything: both must say the same.

const planned = template(async (place) => {
  defineTask(place, 'A');
  defineTask(place, 'B', { depends_on: ['A'] });
  defineTask(place, 'C', { depends_on: ['B'] });
  defineTask(place, 'D');
  commitAll(place);
});

/** A while later: a folder that was changed just now is not relied upon. */
const later = () => new Date(Date.now() + 10_000);

function ask(place: Place, build: string | null, limit?: number): Promise<NextResult> {
  const handoff = openRepository(place.dir, { env: place.env, now: later, ...(build === null ? {} : { build }) });
  onTestFinished(() => handoff.close());
  return handoff.next(limit === undefined ? {} : { limit });
}

async function expectSame(place: Place, what: string): Promise<NextResult> {
  const expected = await ask(place, null);
  for (const run of ['first', 'second']) expect(await ask(place, 'a build'), `${what}, ${run} run`).toEqual(expected);
  expect(await ask(place, 'a build', 1)).toEqual({ ...expected, actions: expected.actions.slice(0, 1) });
  return expected;
}

const ids = ({ actions }: NextResult): string[] => actions.map(({ task_id }) => task_id);
const plansOf = ({ dir }: Place): string[] => {
  const folder = join(dir, '.git/handoff/cache/next-a build');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};

function done(place: Place, task_id: string, clock: number): void {
  const thought = { task_id, commit_sha: 'a'.repeat(40), branch: 'main', tests_run: [], summary: 'done', blockers: [] };
  writeSession(
    place,
    [
      { kind: 'start' },
      { kind: 'thought', ...thought, files_changed: [], related_thought_records: [] },
      { kind: 'task', task_id, status: 'done' },
    ],
    { identity: 'erin', clock },
  );
}

describe('a plan that was kept', () => {
  it('is used, and is the answer of reading everything', async () => {
    const place = planned();
    expect(ids(await expectSame(place, 'at first'))).toEqual(['A', 'D']);
    expect(plansOf(place)).toHaveLength(1);
  });

  it('ends with a commit that changes a task, or defines one', async () => {
    const place = planned();
    await expectSame(place, 'before');
    done(place, 'A', 10);
    expect(ids(await expectSame(place, 'written, and in no commit'))).toEqual(['A', 'D']);
    commitAll(place);
    expect(ids(await expectSame(place, 'committed'))).toEqual(['B', 'D']);
    defineTask(place, 'E', { priority: 9 });
    expect(ids(await expectSame(place, 'defined in the work tree'))).toEqual(['B', 'E', 'D']);
    commitAll(place);
    expect(ids(await expectSame(place, 'defined'))).toEqual(['B', 'E', 'D']);
    git(place.dir, 'switch', '--quiet', '--create', 'old', 'HEAD~2');
    expect(ids(await expectSame(place, 'on another branch, and main is known'))).toEqual(['B', 'E', 'D']);
    git(place.dir, 'branch', '--quiet', '--delete', '--force', 'main');
    expect(ids(await expectSame(place, 'main is gone'))).toEqual(['A', 'D']);
  });

  it('knows what is journalled, claimed, committed and put down', async () => {
    const place = planned();
    await expectSame(place, 'before');
    await open(place).handoff.start({ as: 'donna' });
    await expectSame(place, 'a session');
    await open(place).handoff.claim({ id: 'A', as: 'donna' });
    expect(ids(await expectSame(place, 'claimed'))).toEqual(['D']);
    await changeTask(place, 'D', 'blocked');
    expect(ids(await expectSame(place, 'journalled'))).toEqual([]);
    await open(place).handoff.wrap({ as: 'donna', message: 'half of it' });
    expect(await expectSame(place, 'wrapped')).toMatchObject({ put_down: [{ task_id: 'A' }] });
    git(place.dir, 'switch', '--quiet', '--create', 'old', 'HEAD~1');
    await expectSame(place, 'on a branch that lacks it');
    git(place.dir, 'switch', '--quiet', 'main');
    await expectSame(place, 'and back');
  });

  it('ends with the key that signed what it rests on', async () => {
    const place = planned();
    done(place, 'A', 10);
    commitAll(place);
    expect(ids(await expectSame(place, 'before'))).toEqual(['B', 'D']);
    await open(place).handoff.identity.revoke({ name: 'erin' });
    expect(ids(await expectSame(place, 'revoked'))).toEqual(['A', 'D']);
  });

  it('may be deleted, cut off, or be something else', async () => {
    const place = planned();
    const mishaps: ((path: string) => void)[] = [
      (path) => rmSync(path),
      (path) => truncateSync(path, statSync(path).size >> 1),
      (path) => writeFileSync(path, '{"ranked": 1}'),
      (path) => writeFileSync(path, 'null'),
    ];
    for (const mishap of mishaps) {
      await expectSame(place, 'before');
      for (const path of plansOf(place)) mishap(path);
      expect(ids(await expectSame(place, 'after'))).toEqual(['A', 'D']);
    }
  });

  it('is not kept while something is broken: whoever asks is told each time', async () => {
    const place = planned();
    const [, broken] = writeSession(place, [{ kind: 'start' }, { kind: 'note', text: 'x' }]);
    writeFileSync(join(place.dir, broken!.path), 'nothing\n');
    commitAll(place);
    for (let run = 0; run < 2; run++) {
      const warnings: string[] = [];
      const warn = (text: string) => warnings.push(text);
      const handoff = openRepository(place.dir, { env: place.env, now: later, warn, build: 'a build' });
      expect(ids(await handoff.next())).toEqual(['A', 'D']);
      await handoff.close();
      expect(warnings).toMatchObject([expect.stringContaining('git handoff verify')]);
    }
  });
});
