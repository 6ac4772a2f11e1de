import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { preReceive } from '../../src/hooks/pre-receive.ts';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt, type Repository } from '../../src/repository/repository.ts';
import { code, headOf, policy } from '../gate/scenario.ts';
import type { Place } from '../handoff.ts';
import { git, gitInput, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { writeHook } from './hooked.ts';
import { NOTHING } from './raw-push.ts';

// THREATS 66: a push of 1,000 refs to a project with 20 policies took 14 s: every policy was judged for every ref.

const POLICIES = 20;
const place = template((here) => {
  for (let prior = 1; prior < POLICIES; prior++) policy(here, { stale_after: 60 + prior }, undefined, prior);
});

type Count = Record<string, number>;

/** The repository, and how often its store was asked for what. */
function counted(dir: string): { repository: Repository; count: Count } {
  const repository = openRepositoryAt(dir, { env: isolatedEnv, host: nodeHost });
  onTestFinished(() => repository.close());
  const count: Count = {};
  const store = new Proxy(repository.store, {
    get(target, name: string & keyof Repository['store']) {
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        count[name] = (count[name] ?? 0) + 1;
        return method.apply(target, args);
      };
    },
  });
  return { repository: { ...repository, store }, count };
}

/** What the hook asks for when that many refs are pushed at once. */
async function costOf(server: string, lines: readonly string[]): Promise<Count> {
  const { repository, count } = counted(server);
  const call = { args: [], env: {}, readInput: async () => lines.map((line) => `${line}\n`).join('') };
  const judged = await preReceive(repository, call);
  expect(judged.filter(({ pass }) => !pass)).toEqual([]);
  expect(judged.length).toBe(lines.length);
  return count;
}

function withServer({ dir, root }: Place): string {
  const server = join(dir, '../server.git');
  git('/', 'clone', '--quiet', '--bare', dir, server);
  git(server, 'config', 'handoff.root', root);
  return server;
}

/** Branches of the server that each have one file more in the folder of policies: no two of these folders are alike. */
function withBranches(server: string, number: number, from = 'main'): string[] {
  const head = git(server, 'rev-parse', from);
  const stream = Array.from({ length: number }, (_, at) =>
    [
      `commit refs/heads/b${at}`,
      'committer Ada <ada@example.org> 0 +0000',
      'data 0',
      `from ${head}`,
      `M 100644 inline .handoff/policy/00${POLICIES + 1}.yaml`,
      `data ${String(at).length}`,
      String(at),
      '',
    ].join('\n'),
  );
  gitInput(server, stream.join(''), 'fast-import', '--quiet', '--force');
  const oids = git(server, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads/b*').split('\n');
  return oids.map((line) => `${line.split(' ')[0]} ${head} ${line.split(' ')[1]}`);
}

const total = (count: Count) => Object.values(count).reduce((sum, each) => sum + each, 0);

/** How many processes of git that read objects the hook starts. */
async function readersFor(server: string, lines: readonly string[]): Promise<number> {
  const log = join(temporaryDirectory(), 'started');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const bin = temporaryDirectory();
  const script = `#!/bin/sh\ncase " $* " in *' cat-file '*) echo >>${log} ;; esac\nexec ${real} "$@"\n`;
  writeHook(join(bin, 'git'), script);
  const env = { ...isolatedEnv, PATH: `${bin}:${isolatedEnv.PATH}` };
  const repository = openRepositoryAt(server, { env, host: nodeHost });
  onTestFinished(() => repository.close());
  const readInput = async () => lines.map((line) => `${line}\n`).join('');
  await preReceive(repository, { args: [], env: {}, readInput });
  return readFileSync(log, 'utf8').length;
}

describe('what a server reads for a push', () => {
  it('of locks is read by as many processes as for one', async () => {
    const server = withServer(place());
    const now = git(server, 'rev-parse', 'main');
    const lines = (number: number) =>
      Array.from({ length: number }, (_, at) => `${NOTHING} ${now} refs/handoff/locks/task/T${at}/00000001`);
    expect(await readersFor(server, lines(100))).toBe(await readersFor(server, lines(1)));
  });

  it('of new branches does not grow with their number', async () => {
    const here = place();
    const now = code(here, { a: 'a\n' });
    git(here.dir, 'checkout', '--quiet', '--detach');
    git(here.dir, 'branch', '-f', 'main', headOf(here.dir));
    const server = withServer(here);
    const lines = (number: number) => Array.from({ length: number }, (_, at) => `${NOTHING} ${now} refs/heads/n${at}`);
    const [few, many] = [await costOf(server, lines(10)), await costOf(server, lines(1000))];
    expect(many).toEqual(few);
    expect(few.readBlob).toBe(POLICIES);
  });

  it('of tags and other refs does not grow with their number either', async () => {
    const server = withServer(place());
    const now = git(server, 'rev-parse', 'main');
    const lines = (number: number) => Array.from({ length: number }, (_, at) => `${NOTHING} ${now} refs/tags/n${at}`);
    expect(await costOf(server, lines(1000))).toEqual(await costOf(server, lines(10)));
  });

  it('of branches with a policy each, of which all but the last is known, is as much as there are branches', async () => {
    const server = withServer(place());
    const lines = withBranches(server, 200);
    const [half, whole] = [await costOf(server, lines.slice(0, 100)), await costOf(server, lines)];
    expect(whole.readBlob).toBe(POLICIES + 200);
    expect(total(whole) / total(half)).toBeLessThan(2.2);
  });

  it('where the trunk has to be looked for among many branches, is as much as there are', async () => {
    const server = withServer(place());
    withBranches(server, 100);
    git(server, 'symbolic-ref', 'HEAD', 'refs/heads/absent');
    git(server, 'branch', '--move', 'main', 'zzz');
    const line = [`${NOTHING} ${git(server, 'rev-parse', 'zzz')} refs/heads/new`];
    const half = await costOf(server, line);
    withBranches(server, 200, 'zzz');
    const whole = await costOf(server, line);
    expect(whole.readBlob).toBe(POLICIES + 200);
    expect(total(whole) / total(half)).toBeLessThan(2.2);
  });
});
