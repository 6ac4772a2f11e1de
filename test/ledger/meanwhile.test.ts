import { spawnSync } from 'node:child_process';
import fs, { appendFileSync, chmodSync, cpSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Place, writeBytes } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { findings, reopen, template } from '../threats/forge.ts';
import { changes } from '../verbs/agents.ts';
import { commitSealed } from './sealed.ts';

vi.setConfig({ testTimeout: 240_000 });

// Somebody uses git in the same work tree between any two steps of an append.

/** The ledger has one seal; two more have arrived, and somebody is at work on a file of theirs. */
const fresh = template(async (place) => {
  writeBytes(place.dir, 'code.txt', 'code\n');
  git(place.dir, 'add', 'code.txt');
  commitSealed(place);
  await place.handoff.ledger.append();
  commitSealed(place, 2);
  writeBytes(place.dir, 'code.txt', 'changed\n');
});

const STEPS = ['renameSync', 'linkSync', 'rmSync', 'mkdirSync', 'openSync'] as const;

function isReading(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0 : flags === 'r';
}

/** Calls `work` before each step that this process makes on the files below a folder. */
async function betweenSteps<T>(dir: string, work: (step: number) => void, run: () => Promise<T>): Promise<T> {
  const original = Object.fromEntries(STEPS.map((name) => [name, fs[name]]));
  let step = 0;
  for (const name of STEPS) {
    const call = fs[name] as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [name]: (...args: unknown[]) => {
        if (String(args[0]).startsWith(dir) && !(name === 'openSync' && isReading(args[1]))) work(++step);
        return call(...args);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    Object.assign(fs, original);
    syncBuiltinESMExports();
  }
}

/** What git refuses, since something is locked, was not done. */
function tryGit(dir: string, ...args: string[]): boolean {
  return spawnSync('git', ['-C', dir, ...args], { env: isolatedEnv }).status === 0;
}

const MEANWHILE: [string, (dir: string) => void][] = [
  ['commits all that is changed', (dir) => tryGit(dir, 'commit', '--quiet', '--all', '--message', 'work')],
  ['commits what is staged', (dir) => tryGit(dir, 'commit', '--quiet', '--message', 'work')],
  ['throws away all that is changed', (dir) => tryGit(dir, 'reset', '--quiet', '--hard')],
  [
    'puts all that is changed aside, and takes it out again',
    (dir) => {
      tryGit(dir, 'stash', '--quiet');
      tryGit(dir, 'stash', 'pop', '--quiet');
    },
  ],
];

/** The size that the checkpoint of a commit says, where its files are those of that size. */
function sizeAt({ dir }: Place, commit: string): number {
  const [, size] = git(dir, 'cat-file', '-p', `${commit}:.handoff/ledger/checkpoint`).split('\n');
  const files = git(dir, 'ls-tree', '-r', '--name-only', `${commit}:.handoff/ledger`).split('\n');
  expect(files).toEqual(['checkpoint', `tile/0/000.p/${size}`, `tile/entries/000.p/${size}`]);
  return Number(size);
}

/** Where there is somebody else's hook, and an index that only git should write. */
function leaveToGit({ dir }: Place): void {
  writeBytes(dir, '.git/hooks/commit-msg', '#!/bin/sh\n');
  chmodSync(join(dir, '.git/hooks/commit-msg'), 0o755);
  git(dir, 'config', 'index.version', '3');
}

describe.each(MEANWHILE)('somebody %s', (_, meanwhile) => {
  const append = (place: Place) => reopen(place).handoff.ledger.append();

  /** Whether there was such a step. */
  async function appended(place: Place, at: number): Promise<boolean> {
    const head = git(place.dir, 'rev-parse', 'HEAD');
    let isReached = false;
    const work = (step: number): void => {
      if (step !== at) return;
      isReached = true;
      meanwhile(place.dir);
    };
    const result = await betweenSteps(place.dir, work, () => append(place)).catch((error) => error.code);
    if (result === 'io') await append(place);
    else expect(result).toMatchObject({ size: 3, appended: 2 });
    const made = git(place.dir, 'rev-list', '--reverse', `${head}..HEAD`).split('\n');
    const sizes = made.map((commit) => sizeAt(place, commit));
    expect(sizes.at(-1), `after ${JSON.stringify(result)}`).toBe(3);
    expect(changes(place).filter((line) => !line.endsWith(' code.txt'))).toEqual([]);
    appendFileSync(join(place.dir, 'code.txt'), 'more\n');
    git(place.dir, 'commit', '--quiet', '--all', '--message', 'more work');
    expect(sizeAt(place, 'HEAD')).toBe(3);
    expect(await findings(place)).toEqual([]);
    return isReached;
  }

  test.each<[string, (place: Place) => void]>([
    ['here', () => {}],
    ['by git', leaveToGit],
  ])('an append that is made %s is committed whole, and what it leaves is what HEAD has', async (__, prepare) => {
    const { dir, ...place } = fresh();
    prepare({ dir, ...place });
    for (let at = 1, isReached = true; isReached; at++) {
      const copy = join(temporaryDirectory(), 'work');
      cpSync(dir, copy, { recursive: true, preserveTimestamps: true });
      try {
        isReached = await appended({ ...place, dir: copy }, at);
      } catch (cause) {
        throw new Error(`at step ${at}: ${(cause as Error).message}`, { cause });
      }
      rmSync(copy, { recursive: true });
    }
  });
});

test('somebody checks out another branch between any two steps of an append, or of one that has nothing to do', async () => {
  const { dir, ...place } = fresh();
  git(dir, 'checkout', '--quiet', '--', 'code.txt');
  git(dir, 'branch', 'side', 'HEAD~1');
  for (const isIdle of [false, true]) {
    if (isIdle) await reopen({ dir, ...place }).handoff.ledger.append();
    for (let at = 1, isReached = true; isReached; at++) {
      const here = { ...place, dir: join(temporaryDirectory(), 'work') };
      cpSync(dir, here.dir, { recursive: true, preserveTimestamps: true });
      isReached = false;
      let isSwitched = true;
      const work = (step: number): void => {
        if (step !== at) return;
        isReached = true;
        isSwitched = tryGit(here.dir, 'switch', '--quiet', 'side');
      };
      const append = () => reopen(here).handoff.ledger.append();
      const result = await betweenSteps(here.dir, work, append).catch((error) => error.code);
      // where HEAD is locked for longer than git waits, git has changed all but HEAD, and says so
      if (isSwitched) expect(changes(here), `at step ${at}, ${JSON.stringify(result)}`).toEqual([]);
      git(here.dir, 'switch', '--quiet', '--force', 'main');
      if (typeof result === 'object') expect(sizeAt(here, 'main')).toBe(3);
      rmSync(here.dir, { recursive: true });
    }
  }
});

test('where somebody has the index once the branch was moved, the append counts', async () => {
  const place = fresh();
  const lock = join(place.dir, '.git/index.lock');
  const head = git(place.dir, 'rev-parse', 'HEAD');
  const work = (): void => {
    if (git(place.dir, 'rev-parse', 'HEAD') === head || fs.existsSync(lock)) return;
    fs.writeFileSync(join(place.dir, '.handoff/ledger/tile/0/000.p/3'), 'half'); // so that there is something to stage
    fs.writeFileSync(lock, 'theirs');
  };
  const here = reopen(place);
  expect(await betweenSteps(place.dir, work, () => here.handoff.ledger.append())).toMatchObject({ size: 3 });
  expect(here.warnings.join()).toContain('not staged');
  rmSync(lock);
  expect(JSON.parse(fs.readFileSync(join(place.dir, '.git/handoff/ledger.json'), 'utf8'))).toMatchObject({ size: 3 });
});
