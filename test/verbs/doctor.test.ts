import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run } from '../cli/cli.ts';
import { initialised, newKey, openPlace, type Place } from '../handoff.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';

const NAMES = ['git', 'repository', 'policy', 'root', 'identity', 'key', 'hooks', 'remote'];

interface Told {
  ok: boolean;
  checks: { name: string; ok: boolean; detail: string; fix: string | null }[];
}

/** As a person asks: what is published, in a process of its own. */
function ask({ dir, env }: Pick<Place, 'dir' | 'env'>, ...words: string[]): Told & { code: number | null } {
  const { code, stdout } = run(['doctor', '--json', ...words], { cwd: dir, env });
  return { code, ...JSON.parse(stdout) };
}

const wrong = ({ checks }: Told) => checks.filter(({ ok }) => !ok).map(({ name }) => name);

async function healthy(): Promise<Place> {
  const place = await initialised();
  git(place.dir, 'config', 'handoff.identity', 'donna');
  expect(run(['hooks', 'install'], { cwd: place.dir, env: place.env }).code).toBe(0);
  return place;
}

describe('where all is well', () => {
  test('every check says what it found, and the exit code is 0', async () => {
    const place = await healthy();
    const told = ask(place);
    expect(told).toMatchObject({ code: 0, ok: true });
    expect(told.checks.map(({ name }) => name)).toEqual(NAMES);
    expect(told.checks[4]).toMatchObject({ name: 'identity', detail: 'donna, agent', fix: null });
    expect(run(['doctor'], { cwd: place.dir, env: place.env }).stdout).toMatch(/All is well\.\n$/);
  });

  test('nothing is changed, not even a root pinned', async () => {
    const place = await healthy();
    git(place.dir, 'config', '--unset', 'handoff.root');
    const before = everyFile(place.dir);
    expect(ask(place).checks.find(({ name }) => name === 'root')).toMatchObject({
      ok: true,
      detail: expect.stringContaining('compare it'),
      fix: `git handoff trust --root ${place.root}`,
    });
    expect(everyFile(place.dir)).toEqual(before);
  });

  test('where somebody else has hooks, and ours were never installed', async () => {
    const place = await initialised();
    git(place.dir, 'config', 'handoff.identity', 'donna');
    run(['hooks', 'uninstall'], { cwd: place.dir, env: place.env });
    writeFileSync(join(place.dir, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const told = ask(place);
    expect(told).toMatchObject({ code: 0, ok: true });
    expect(told.checks.find(({ name }) => name === 'hooks')).toMatchObject({ fix: 'git handoff hooks install' });
  });

  test('on a server, in another work tree, and on a detached HEAD', async () => {
    const place = await healthy();
    const server = join(place.dir, '../server.git');
    git('/', 'clone', '--quiet', '--bare', place.dir, server);
    expect(run(['hooks', 'install', '--server'], { cwd: server, env: place.env }).code).toBe(0);
    expect(ask({ dir: server, env: place.env })).toMatchObject({ code: 0, ok: true });
    git(place.dir, 'worktree', 'add', '--quiet', '--detach', '../other tree');
    expect(ask({ dir: join(place.dir, '../other tree'), env: place.env })).toMatchObject({ code: 0, ok: true });
  });
});

interface Fault {
  name: string;
  /** What is wrong then, in this order. */
  wrong: string[];
  cause(place: Place): void;
  /** What is typed: the fix of the first one, unless that asks a person for something. */
  typed?(place: Place, fix: string): void;
}

const shell = ({ dir, env }: Place, command: string): void => {
  const [program, ...words] = command.split(' ');
  if (program !== 'git') throw new Error(`No command: ${command}`);
  if (words[0] === 'handoff') expect(run(words.slice(1), { cwd: dir, env })).toMatchObject({ code: 0 });
  else git(dir, ...words);
};

const FAULTS: Fault[] = [
  {
    name: 'a hook that another tool has written anew',
    wrong: ['hooks'],
    cause: ({ dir }) => writeFileSync(join(dir, '.git/hooks/pre-commit'), '#!/bin/sh\nexit 0\n'),
    typed: shell,
  },
  {
    name: 'a hook that git may not run',
    wrong: ['hooks'],
    cause: ({ dir }) => chmodSync(join(dir, '.git/hooks/pre-push'), 0o644),
    typed: shell,
  },
  {
    name: 'a hook that is gone',
    wrong: ['hooks'],
    cause: ({ dir }) => rmSync(join(dir, '.git/hooks/reference-transaction')),
    typed: shell,
  },
  {
    name: 'a remote for locks that does not exist',
    wrong: ['remote'],
    cause: ({ dir }) => git(dir, 'config', 'handoff.remote', 'upstream'),
    typed: shell,
  },
  {
    name: 'the same, where there is another one',
    wrong: ['remote'],
    cause: ({ dir }) => {
      git(dir, 'remote', 'add', 'origin', '../elsewhere.git');
      git(dir, 'config', 'handoff.remote', 'upstream');
    },
    typed: shell,
  },
  {
    name: 'a key that is not on this machine',
    wrong: ['key'],
    cause: ({ keys, root }) => rmSync(join(keys, root.slice(0, 12), 'donna.pem')),
  },
  {
    name: 'a key that is none',
    wrong: ['key'],
    cause: ({ keys, root }) => writeFileSync(join(keys, root.slice(0, 12), 'donna.pem'), 'no key\n'),
  },
  {
    name: 'a key of somebody else',
    wrong: ['key'],
    cause: ({ keys, root }) =>
      writeFileSync(join(keys, root.slice(0, 12), 'donna.pem'), newKey().export({ type: 'pkcs8', format: 'pem' })),
  },
  {
    name: 'an identity that nobody signed in',
    wrong: ['identity'],
    cause: ({ dir }) => git(dir, 'config', 'handoff.identity', 'nobody'),
  },
  {
    name: 'an identity that can be no name',
    wrong: ['identity'],
    cause: ({ dir }) => git(dir, 'config', 'handoff.identity', '../x'),
  },
  {
    name: 'another root than the one that is pinned',
    wrong: ['policy'],
    cause: ({ dir }) => git(dir, 'config', 'handoff.root', '0'.repeat(64)),
  },
  {
    name: 'a policy that was changed',
    wrong: ['policy'],
    cause: ({ dir }) => {
      const path = join(dir, '.handoff/policy/0001.yaml');
      writeFileSync(path, readFileSync(path, 'utf8').replace('version: 1', 'version: 2'));
    },
    typed: ({ dir }) => git(dir, 'checkout', '--quiet', '--', '.handoff'),
  },
];

describe('what is wrong', () => {
  test.each(FAULTS)('$name', async ({ wrong: expected, cause, typed }) => {
    const place = await healthy();
    cause(place);
    const told = ask(place);
    expect(told).toMatchObject({ code: 1, ok: false });
    expect(wrong(told)).toEqual(expected);
    const [first] = told.checks.filter(({ ok }) => !ok);
    expect(first!.fix).toBeTruthy();
    if (!typed) return;
    typed(place, first!.fix!);
    expect(ask(place)).toMatchObject({ code: 0, ok: true });
  });

  test('a repository without a policy is to be initialised first', () => {
    const dir = temporaryDirectory();
    git(dir, 'init', '--quiet', '--initial-branch=main');
    const told = ask({ dir, env: isolatedEnv });
    expect(told).toMatchObject({ code: 1, ok: false });
    expect(wrong(told)).toEqual(['policy']);
    expect(told.checks.find(({ name }) => name === 'policy')!.fix).toContain('git handoff init');
  });

  test('a folder that is no repository', () => {
    const told = ask({ dir: temporaryDirectory(), env: isolatedEnv });
    expect(told).toMatchObject({ code: 1, ok: false, checks: [{ name: 'repository', ok: false }] });
  });

  test('two sessions, and nobody named', async () => {
    const place = await healthy();
    git(place.dir, 'config', '--unset', 'handoff.identity');
    await place.handoff.identity.add({ name: 'lola' });
    const other = openPlace(place.dir, place.keys, place.root);
    await place.handoff.start({ as: 'donna' });
    await other.handoff.start({ as: 'lola' });
    expect(wrong(ask(place))).toEqual(['identity']);
    expect(wrong(ask(place, '--as', 'lola'))).toEqual([]);
  });

  test('a history that was cut off is told, and how to have it all', async () => {
    const place = await healthy();
    const shallow = join(place.dir, '../shallow');
    git('/', 'clone', '--quiet', '--depth=1', `file://${place.dir}`, shallow);
    const { checks } = ask({ dir: shallow, env: place.env });
    expect(checks[1]).toMatchObject({ name: 'repository', ok: true, fix: 'git fetch --unshallow' });
  });
});

/** Names, sizes and times of all files. */
function everyFile(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((path) => {
      const { size, mtimeMs } = statSync(join(dir, path));
      return `${path} ${size} ${mtimeMs}`;
    })
    .sort();
}
