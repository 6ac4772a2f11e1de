import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Place } from '../handoff.ts';
import { git, isolatedEnv } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';

// What a short verb costs is mostly what it loads.

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const LISTS = '[...process.moduleLoadList,...Object.keys(process.getBuiltinModule("module")._cache)]';
const TOLD = `data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(${LISTS})))`;

const fresh = template((place) => {
  defineTask(place, 'T1');
});

/** Node's own modules that were loaded by the end, and the files beside the program. */
function loadedBy(args: readonly string[], env: NodeJS.ProcessEnv = isolatedEnv): string[] {
  const { stderr } = spawnSync(process.execPath, ['--import', TOLD, CLI, ...args], { env, cwd: '/' });
  const list = JSON.parse(stderr.toString().trimEnd().split('\n').at(-1)!) as string[];
  return list.map((name) => name.replace('NativeModule ', '').replace(/^.*\/dist\//, ''));
}

const loadedIn = ({ dir, env }: Place, ...args: string[]) => loadedBy(['-C', dir, ...args], { ...isolatedEnv, ...env });

test('a verb loads the modules of Node that it uses, and no others', () => {
  const loaded = loadedBy(['check-proof', 'there-is-none.yaml']);
  expect(loaded).toContain('crypto');
  for (const name of ['child_process', 'zlib', 'fs/promises', 'perf_hooks']) expect(loaded).not.toContain(name);
});

test('a record loads nothing that starts processes, waits, removes folders or opens a terminal', async () => {
  const place = fresh();
  await open(place).handoff.start({ as: 'donna' });
  const loaded = loadedIn(place, 'note', 'x');
  expect(loaded).toContain('crypto');
  for (const name of [
    'child_process',
    'timers/promises',
    'internal/fs/rimraf',
    'tty',
    'fs/promises',
    'zlib',
    'perf_hooks',
  ])
    expect(loaded).not.toContain(name);
});

test('a task that is done without a file to be read loads no reader of YAML', async () => {
  const place = fresh();
  git(place.dir, 'switch', '--quiet', '--create', 'work');
  await open(place).handoff.claim({ id: 'T1', as: 'donna' });
  work(place, { 'src/a.ts': 'one\n' });
  const loaded = loadedIn(place, 'done', 'T1', 'It is done.');
  expect(loaded).toContain('cli.cjs');
  expect(loaded).not.toContain('yaml.cjs');
});
