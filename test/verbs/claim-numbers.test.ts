import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commitAll, type Draft, type Place, writeSession } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';
import { isSpent, lockRefs, once } from './machines.ts';

// Records may carry any number of a task's lock. Whoever claims the task passes them, and does not pay for each.

const TASK = 'P0.1.1';
const fresh = template(({ handoff }) => handoff.task.add({ id: TASK, title: 'Package setup' }));

/** One number after the other, as notes of one session. */
const notes = (numbers: readonly number[]): Draft[] => [
  { kind: 'start' },
  ...numbers.map((token) => ({ kind: 'note' as const, text: 'x', lock: { task: TASK, token } })),
];
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

interface Machine {
  at: Place;
  bare: string;
  /** The names of the git commands that were started since, which talk to the remote. */
  conversations(): string[];
}

/** donna at work in a clone, with the remote that has her locks. */
async function donna(place: Place): Promise<Machine> {
  commitAll(place);
  const bare = join(place.dir, '../origin.git');
  git('/', 'clone', '--quiet', '--bare', place.dir, bare);
  const dir = join(place.dir, '../donna');
  git('/', 'clone', '--quiet', bare, dir);
  git(dir, 'config', 'handoff.remote', 'origin');
  const trace = join(place.dir, '../trace');
  const at = open(place, { dir, env: { GIT_TRACE: trace, HANDOFF_IDENTITY: 'donna' } });
  await at.handoff.start();
  rmSync(trace, { force: true });
  const conversations = () => {
    const lines = existsSync(trace) ? readFileSync(trace, 'utf8') : '';
    return [...lines.matchAll(/built-in: git (push|fetch|ls-remote)/g)].map(([, command]) => command!);
  };
  return { at, bare, conversations };
}

const pushes = (all: readonly string[]) => all.filter((each) => each === 'push').length;

describe('a claim passes the numbers that records carry', () => {
  it.each([1, 8, 64])('%i in a row, for the price of one', async (count) => {
    const place = fresh();
    writeSession(place, notes(upTo(count)), { identity: 'erin' });
    const { at, bare, conversations } = await donna(place);
    expect(await at.handoff.claim({ id: TASK })).toMatchObject({ token: count + 1 });
    expect(pushes(conversations())).toBe(2);
    expect(conversations().length).toBeLessThanOrEqual(10);
    const last = String(count + 1).padStart(8, '0');
    expect(lockRefs({ bare, dir: '', env: {} }, `task/${TASK}`)).toEqual(['00000001', last]);
  });

  it('none: with one push', async () => {
    const { at, conversations } = await donna(fresh());
    expect(await at.handoff.claim({ id: TASK })).toMatchObject({ token: 1 });
    expect(pushes(conversations())).toBe(1);
  });

  it('of two identities, further than a server takes at once: in as many steps as that needs', async () => {
    const place = fresh();
    writeSession(place, notes([...upTo(60), 64]), { identity: 'erin' });
    writeSession(place, notes([128]), { identity: 'maintainer' });
    const { at, bare, conversations } = await donna(place);
    expect(await at.handoff.claim({ id: TASK })).toMatchObject({ token: 129 });
    expect(pushes(conversations())).toBe(3);
    expect(lockRefs({ bare, dir: '', env: {} }, `task/${TASK}`)).toEqual(['00000001', '00000065', '00000129']);
  });

  it('cut off on the way, it goes on from the number that it had', async () => {
    const place = fresh();
    writeSession(place, notes(upTo(8)), { identity: 'erin' });
    const { at, bare } = await donna(place);
    const machine = { bare, dir: '', env: {} };
    once(machine, 'pre-receive', `echo "$input" | grep -q ${TASK}/00000009`, 'exit 1');
    await expect(at.handoff.claim({ id: TASK })).rejects.toMatchObject({ code: 'io' });
    expect(isSpent(machine)).toBe(true);
    expect(await at.handoff.claim({ id: TASK })).toMatchObject({ token: 9 });
  });
});
