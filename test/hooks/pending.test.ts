import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { hooked, tryGit } from './hooked.ts';
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
