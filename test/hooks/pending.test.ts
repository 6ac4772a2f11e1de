import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { hooked, open, PROGRAM, tryGit, writeHook } from './hooked.ts';
import { FLOWS, type Step } from './pending-flows.ts';

/** A clone of a server, on a branch of its own. */
const place = template(async ({ dir, handoff }) => {
  const commit = (name: string, text = name): void => {
    appendFileSync(join(dir, name), `${text}\n`);
    git(dir, 'add', name);
    git(dir, 'commit', '--quiet', '--message', text);
  };
  await handoff.task.add({ id: 'P0.1', title: 'one' });
  git('/', 'init', '--quiet', '--bare', '--template=', join(dir, '../remote.git'));
  git(dir, 'remote', 'add', 'origin', '../remote.git');
  for (const branch of ['feature', 'topic', 'rival']) git(dir, 'branch', branch);
  commit('main.txt');
  commit('theirs.txt');
  git(dir, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  git(dir, 'reset', '--quiet', '--hard', 'HEAD~1');
  git(dir, 'switch', '--quiet', 'topic');
  commit('topic.txt', 'topic');
  git(dir, 'switch', '--quiet', 'rival');
  commit('mine.txt', 'rival');
  git(dir, 'switch', '--quiet', 'feature');
  commit('mine.txt', 'mine');
});

interface Pending {
  here: Place;
  /** The ids of all records, in the order in which they were written. */
  ids: string[];
}

async function pending(withHooks: boolean): Promise<Pending> {
  const here = withHooks ? await hooked(place()) : place();
  const { start_delta_id } = await here.handoff.start({ as: 'donna' });
  const note = await here.handoff.note({ text: 'one' });
  const thought = await here.handoff.thought({ id: 'P0.1', summary: 'done' });
  return { here, ids: [start_delta_id, note.delta_id, thought.delta_id] };
}

/** Every one must be let through; those that end in `!` fail by themselves. */
async function take({ here, ids }: Pending, step: Step): Promise<void> {
  const [word, ...rest] = step;
  if (word === 'note') {
    const { delta_id } = await reopen(here).handoff.note({ text: `${ids.length}`, commit: rest.length > 0 });
    ids.push(delta_id);
  } else if (word === 'write') appendFileSync(join(here.dir, rest[0]!), 'more\n');
  else {
    const fails = step.at(-1) === '!';
    const { code, stderr } = tryGit(here.dir, fails ? step.slice(0, -1) : step);
    expect({ step, failed: code !== 0, stderr: fails ? '' : stderr }).toEqual({
      step,
      failed: fails,
      stderr: expect.any(String),
    });
  }
}

function committed({ dir }: Place): string[] {
  return git(dir, 'ls-tree', '-r', '--name-only', 'HEAD', '.handoff/sessions').split('\n').filter(Boolean);
}

describe.each([
  ['with hooks', true],
  ['without hooks', false],
])('records that wait for a commit, %s', (_, withHooks) => {
  it.each(FLOWS)('$name', async ({ steps, taken }) => {
    const records = await pending(withHooks);
    const { here, ids } = records;
    expect(git(here.dir, 'diff', '--cached', '--name-only')).toBe('');
    for (const step of steps) await take(records, step);
    if (taken !== undefined) expect(committed(here)).toHaveLength(withHooks ? taken : 0);
    await take(records, ['note']);
    const { handoff } = reopen(here);
    expect((await handoff.log()).records.map(({ id }) => id).reverse()).toEqual(ids);
    const { baton } = await handoff.wrap({ message: 'over' });
    expect(committed(here)).toHaveLength(ids.length + 1);
    expect((await handoff.log()).records.map(({ id }) => id).reverse()).toEqual([...ids, baton.delta_id]);
    expect(await handoff.verify()).toMatchObject({ valid: true, findings: [] });
    expect(git(here.dir, 'status', '--porcelain', '--', '.handoff')).toBe('');
    expect(await handoff.audit.verify()).toMatchObject({ valid: true });
  });
});

describe('the hook that takes records along', () => {
  const commitMine = (dir: string, ...args: string[]) => {
    appendFileSync(join(dir, 'mine.txt'), 'more\n');
    return tryGit(dir, ['commit', '--quiet', '--message', 'mine', ...args, '--', 'mine.txt']);
  };

  it('starts no Node where nothing waits, also right after it took some', async () => {
    const { here } = await pending(false);
    const [node, starts] = ['node', 'starts'].map((name) => join(here.dir, '..', name));
    writeHook(node!, `#!/bin/sh\necho start >>'${starts}'\nexec '${PROGRAM.node}' "$@"\n`);
    await open(here.dir, { program: { ...PROGRAM, node: node! } }).hooks.install();
    for (const _ of ['with records', 'without', 'without']) expect(commitMine(here.dir)).toMatchObject({ code: 0 });
    expect(committed(here)).toHaveLength(3);
    expect(readFileSync(starts!, 'utf8')).toBe('start\n');
    await reopen(here).handoff.wrap({ message: 'over' });
    expect(existsSync(join(here.dir, '.git/handoff-pending'))).toBe(false);
  });

  it('in a linked work tree, and nothing of it in the first one', async () => {
    const first = await hooked(place());
    const linked = join(first.dir, '../linked');
    git(first.dir, 'worktree', 'add', '--quiet', '-b', 'other', linked);
    const here = reopen(first, linked);
    await here.handoff.start({ as: 'donna' });
    expect(commitMine(first.dir)).toMatchObject({ code: 0, stderr: '' });
    expect(committed(first)).toEqual([]);
    expect(commitMine(linked)).toMatchObject({ code: 0, stderr: '' });
    expect(committed(here)).toHaveLength(1);
    expect(git(linked, 'status', '--porcelain')).toBe('');
  });

  it('in a submodule', async () => {
    const { here } = await pending(false);
    const outer = join(here.dir, '../outer');
    git('/', 'init', '--quiet', outer);
    git(
      outer,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      '--branch',
      'feature',
      here.dir,
      'inner',
    );
    const inner = await hooked(reopen(here, join(outer, 'inner')));
    await reopen(inner).handoff.start({ as: 'erin' });
    expect(commitMine(inner.dir)).toMatchObject({ code: 0, stderr: '' });
    expect(committed(inner)).toHaveLength(1);
    expect(git(inner.dir, 'status', '--porcelain')).toBe('');
  });

  it('refuses nobody: where records cannot come along it says so', async () => {
    const { here } = await pending(true);
    const folder = git(here.dir, 'ls-files', '--others', '.handoff').split('/').slice(0, 4).join('/');
    rmSync(join(here.dir, folder), { recursive: true });
    writeFileSync(join(here.dir, folder), 'a file where the folder should be\n');
    const { code, stderr } = commitMine(here.dir);
    expect([code, stderr]).toEqual([0, expect.stringContaining('do not go with this commit')]);
    expect(committed(here)).toEqual([]);
  });

  it('takes what was signed, whatever filter there is', async () => {
    const { here } = await pending(true);
    git(here.dir, 'config', 'filter.loud.clean', 'tr a-z A-Z');
    writeFileSync(join(here.dir, '.git/info/attributes'), '* filter=loud\n');
    expect(commitMine(here.dir)).toMatchObject({ code: 0 });
    writeFileSync(join(here.dir, '.git/info/attributes'), '');
    expect(await reopen(here).handoff.verify()).toMatchObject({ valid: true });
    expect(committed(here)).toHaveLength(3);
  });

  it('of two agents in one work tree: both', async () => {
    const { here } = await pending(true);
    await reopen(here).handoff.start({ as: 'erin' });
    expect(commitMine(here.dir)).toMatchObject({ code: 0, stderr: '' });
    expect(committed(here)).toHaveLength(4);
  });
});
