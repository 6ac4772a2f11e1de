import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bash, type Run, run } from '../cli/cli.ts';
import { BATON, branch, checkout, commitRecords, judge, merge, START } from '../gate/scenario.ts';
import { type Draft, initialised, type Place, writeSession } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';

// THREATS 48, 61: what the gate lets in may be long and much, and whoever reads it afterwards goes on working.

/** Enough for what a verb needs, and not for all that the records say. */
const LITTLE_MEMORY = '--max-old-space-size=128';

const LONG = 'a'.repeat(250_000);

/** Changes that the gate lets in, each merged before the next, and a clone of that by somebody else. */
async function mergedAndCloned(sessions: Draft[][]): Promise<Place & { clone: string }> {
  const place = await initialised();
  await place.handoff.identity.add({ name: 'erin' });
  for (const [at, drafts] of sessions.entries()) {
    branch(place, `feature-${at}`);
    writeSession(place, [START, ...drafts, BATON], { clock: at * 500 });
    commitRecords(place);
    expect((await judge(place)).findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    checkout(place, 'main');
    merge(place, '--ff-only', `feature-${at}`);
  }
  const clone = join(temporaryDirectory(), 'clone');
  git('/', 'clone', '--quiet', '--no-checkout', place.dir, clone);
  git(clone, 'reset', '--quiet', '--', '.');
  git(clone, 'sparse-checkout', 'set', '--no-cone', '/.handoff/policy', '/.handoff/identities');
  git(clone, 'checkout', '--quiet', 'main');
  return { ...place, clone };
}

function inClone({ clone, env, root }: Place & { clone: string }, ...args: string[]): Run {
  git(clone, 'config', 'handoff.root', root);
  return run(['-C', clone, ...args], { env: { ...env, NODE_OPTIONS: LITTLE_MEMORY } });
}

function stateBytes(clone: string): number {
  const cache = join(clone, '.git/handoff/cache');
  const folder = readdirSync(cache).find((name) => name.startsWith('history-'))!;
  return Math.max(...readdirSync(join(cache, folder)).map((name) => statSync(join(cache, folder, name)).size));
}

describe('records that are long and many', () => {
  const FLOODS: Record<string, (id: string) => Draft[]> = {
    'work in progress and signals': (id) => [
      { kind: 'wip', key: id, state: 'open', text: LONG },
      { kind: 'signal', to: 'erin', text: LONG },
    ],
    'decisions, and notes about steps of tasks': (id) => [
      { kind: 'decision', title: LONG.slice(0, 1000), status: 'accepted', body: LONG },
      { kind: 'task', task_id: id, status: 'blocked', notes: LONG },
    ],
    'checkpoints, and keys that nobody knows': (id) => [
      { kind: 'checkpoint', text: LONG },
      { kind: 'note', text: id, [`x_${id.replaceAll('-', '_')}`]: LONG },
    ],
  };

  it.each(Object.entries(FLOODS))(
    '%s of 250,000 characters each kill no verb in anybody’s clone',
    async (_, flood) => {
      const drafts = (push: number) => Array.from({ length: 100 }, (_, at) => flood(`k-${push}-${at}`)).flat();
      const place = await mergedAndCloned([0, 1].map(drafts));
      for (const args of [
        ['status'],
        ['next'],
        ['verify'],
        ['log', '-n', '5'],
        ['start', '--as', 'erin', '--json'],
        ['wrap', '--as', 'erin', '--message', 'x'],
        ['pickup', '--as', 'erin', '--json'],
      ]) {
        const { code, stdout, stderr } = inClone(place, ...args);
        expect({ args, code, stderr: stderr.slice(-500) }).toEqual({ args, code: 0, stderr: expect.anything() });
        expect(stdout.length).toBeLessThan(64 * 1024);
      }
      expect(existsSync(join(place.clone, '.git/handoff/cache'))).toBe(true);
      expect(stateBytes(place.clone)).toBeLessThan(2 * 1024 ** 2);
    },
    240_000,
  );
});

describe('a cache that is no cache', () => {
  const history = ({ clone }: { clone: string }) => {
    const cache = join(clone, '.git/handoff/cache');
    const folder = join(cache, readdirSync(cache).find((name) => name.startsWith('history-'))!);
    return { cache, folder, file: join(folder, readdirSync(folder)[0]!) };
  };
  const SPOILED: Record<string, (place: { clone: string }) => void> = {
    'a pipe': (place) => {
      const { file } = history(place);
      rmSync(file);
      execFileSync('mkfifo', [file]);
    },
    'a file of another form': (place) => writeFileSync(history(place).file, '{"sessions":"x","history":{}}'),
    'a file that was cut off': (place) => writeFileSync(history(place).file, '{"sessions":'),
    'a list': (place) => writeFileSync(history(place).file, '[]'),
    'a file of many gigabytes': (place) => truncateSync(history(place).file, 5 * 1024 ** 3),
    'a folder': (place) => {
      const { file } = history(place);
      rmSync(file);
      mkdirSync(file);
    },
    'a file where the folder was': (place) => {
      const { folder } = history(place);
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
    'a folder that nobody may write to': (place) => chmodSync(history(place).folder, 0o500),
  };

  it.each(Object.entries(SPOILED))('%s in its place', async (_, spoil) => {
    const place = await mergedAndCloned([[{ kind: 'wip', key: 'k', state: 'open', text: 'x' }]]);
    const before = inClone(place, 'status', '--json');
    expect(before).toMatchObject({ code: 0 });
    spoil(place);
    expect(inClone(place, 'status', '--json')).toEqual(before);
    expect(inClone(place, 'start', '--as', 'erin').code).toBe(0);
  });

  it('a disk on which no file may be longer than a few bytes', async () => {
    const place = await mergedAndCloned([[{ kind: 'wip', key: 'k', state: 'open', text: 'x' }]]);
    git(place.clone, 'config', 'handoff.root', place.root);
    const limited = bash(`ulimit -f 0; trap '' XFSZ; "$@" -C ${place.clone} status --json`, { env: place.env });
    expect(limited).toMatchObject({ code: 0, stdout: inClone(place, 'status', '--json').stdout });
  });
});
