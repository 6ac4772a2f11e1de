import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isolatedEnv } from '../temporary.ts';

// What a short verb costs is mostly what it loads.

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const TOLD = 'data:text/javascript,process.on("exit",()=>console.error(JSON.stringify(process.moduleLoadList)))';

/** Node's own modules that were loaded by the end. */
function loadedBy(...args: string[]): string[] {
  const { stderr } = spawnSync(process.execPath, ['--import', TOLD, CLI, ...args], { env: isolatedEnv, cwd: '/' });
  const list = JSON.parse(stderr.toString().trimEnd().split('\n').at(-1)!) as string[];
  return list.map((name) => name.replace('NativeModule ', ''));
}

test('a verb loads the modules of Node that it uses, and no others', () => {
  const loaded = loadedBy('check-proof', 'there-is-none.yaml');
  expect(loaded).toContain('crypto');
  for (const name of ['child_process', 'zlib', 'fs/promises', 'perf_hooks']) expect(loaded).not.toContain(name);
});
