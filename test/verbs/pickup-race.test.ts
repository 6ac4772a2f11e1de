import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { begin } from '../cli/cli.ts';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { reopen, template } from '../threats/forge.ts';
import { open, workAndWrap } from './agents.ts';
import { cloneOf, fetchAll, serverOf, workOn } from './clones.ts';
import { done, handoff, machines } from './machines.ts';
import { work } from './tasks.ts';

// Whoever wants the same baton at the same time: one has it, the others are told who.

const HEIRS = ['erin', 'lola', 'mona', 'nina', 'olga'];

const fresh = template(async ({ handoff }) => {
  for (const name of HEIRS.slice(1)) await handoff.identity.add({ name });
  await handoff.task.add({ id: 'T1', title: 'First' });
});

/** All of them at once, as commands. */
async function race(places: readonly Place[], ...args: string[]) {
  const begun = HEIRS.map((as, at) => {
    const { dir, env } = places[at % places.length]!;
    return begin(['pickup', '--as', as, ...args, '--json'], { cwd: dir, env });
  });
  const runs = await Promise.all(begun.map(({ ended }) => ended));
  return runs.map(({ code, stdout }, at) => ({ as: HEIRS[at]!, code, json: JSON.parse(stdout) }));
}

function winnerOf(runs: Awaited<ReturnType<typeof race>>) {
  const winners = runs.filter(({ code }) => code === 0);
  expect(winners).toHaveLength(1);
  for (const { code, json } of runs.filter((each) => each !== winners[0]))
    expect([code, json.error.code, json.error.data.identity]).toEqual([3, 'predecessor_active', winners[0]!.as]);
  return winners[0]!;
}

test('five work trees, three rounds: one winner, who has the task, and four who are told', async () => {
  const place = fresh();
  const trees = HEIRS.map((name) => {
    const dir = join(place.dir, '..', name);
    git(place.dir, 'worktree', 'add', '--quiet', '-b', name, dir);
    return reopen(place, dir);
  });
  await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  await open(place).handoff.wrap({ message: 'Go on.', as: 'donna' });
  for (const token of [2, 3, 4]) {
    const { as, json } = winnerOf(await race(trees));
    expect(json.tasks).toMatchObject([{ task_id: 'T1', token }]);
    const tree = trees[HEIRS.indexOf(as)]!;
    await open(tree).handoff.wrap({ message: 'Go on.', as });
  }
});

test('five who want the work tree as well: one is made, and the winner is in it', async () => {
  const place = fresh();
  serverOf(place);
  await workOn(place, 'work', 'donna');
  const { json } = winnerOf(await race([place], '--worktree'));
  const trees = git(place.dir, 'worktree', 'list', '--porcelain').match(/^worktree .*/gm);
  expect(trees).toEqual([`worktree ${place.dir}`, `worktree ${json.work.worktree}`]);
  const there = open(place, { dir: json.work.worktree });
  expect((await there.handoff.status()).session?.session_id).toBe(json.session_id);
});

describe('two machines', () => {
  test('that share no locks: both have it, both are told once they fetch, and one claims the task anew', async () => {
    const place = fresh();
    const bare = serverOf(place);
    git(place.dir, 'switch', '--quiet', '-c', 'work');
    await open(place).handoff.claim({ id: 'T1', as: 'donna' });
    await open(place).handoff.wrap({ message: 'Go on.', as: 'donna' });
    git(place.dir, 'push', '--quiet', 'origin', 'work');
    const [left, right] = [cloneOf(place, bare, 'left'), cloneOf(place, bare, 'right')];
    const heirs = await Promise.all(
      [left, right].map((clone, at) => clone.handoff.pickup({ as: HEIRS[at]!, worktree: true })),
    );
    const trees = heirs.map((heir) => heir.work!.worktree!);
    const told = async (at: number) =>
      (await open([left, right][at]!, { dir: trees[at]! }).handoff.status({ as: HEIRS[at]! })).warnings;
    expect([await told(0), await told(1)]).toEqual([[], []]);
    git(trees[0]!, 'push', '--quiet', 'origin', 'work');
    expect(() => git(trees[1]!, 'push', '--quiet', 'origin', 'work')).toThrow(/rejected/);
    fetchAll(right);
    expect(await told(1)).toEqual([
      {
        kind: 'picked_up_twice',
        message: expect.stringMatching(
          /^erin picked up the same work as you \(session [0-9a-f]{8}, on origin\/work\)\./,
        ),
      },
    ]);
    git(trees[1]!, 'pull', '--quiet', '--rebase');
    const lola = open(right, { dir: trees[1]!, env: { HANDOFF_IDENTITY: 'lola' } });
    work(lola, { 'b.txt': 'b' });
    const base = git(right.dir, 'rev-parse', 'origin/main');
    await lola.handoff.done({ id: 'T1', summary: 'b' });
    commitAll(lola);
    expect(lola.warnings).toContainEqual(expect.stringContaining('erin picked up the same work'));
    const codes = async () => {
      const { findings } = await open(lola).handoff.gate({ base, head: 'HEAD' });
      return findings.filter(({ severity }) => severity === 'error').map(({ code, hint }) => [code, hint]);
    };
    const stale = ['stale_token', expect.stringContaining('git handoff claim T1')];
    expect(await codes()).toEqual([stale, stale]);
    await open(lola).handoff.task.update({ id: 'T1', status: 'todo' });
    expect((await open(lola).handoff.claim({ id: 'T1' })).token).toBe(3);
    work(lola, { 'c.txt': 'c' });
    await open(lola).handoff.done({ id: 'T1', summary: 'b' });
    commitAll(lola);
    expect(await codes()).toEqual([]);
    git(trees[1]!, 'push', '--quiet', 'origin', 'work');
    fetchAll(left);
    expect(await told(0)).toMatchObject([{ kind: 'picked_up_twice', message: expect.stringContaining('lola') }]);
  });

  test('that share locks: the second is refused at once, and told by whom', async () => {
    const place = fresh();
    await workAndWrap(place.handoff, 'donna');
    const [left, right] = machines(place, 'left', 'right');
    done(left!, 'pickup', '--as', 'erin');
    expect(handoff(right!, 'pickup', '--as', 'lola')).toMatchObject({
      code: 3,
      json: {
        error: { code: 'predecessor_active', data: { identity: 'erin' }, hint: expect.stringContaining('Fetch') },
      },
    });
  });
});
