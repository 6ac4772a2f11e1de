import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLinked, readState } from '../../src/disk/state-file.ts';
import type { Place } from '../handoff.ts';
import { temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';

// THREATS 70: whoever may write to the state directory must not make everybody wait for ever.

const fresh = template();
const CLI = join(import.meta.dirname, '../../dist/cli.cjs');

function pipe(path: string): void {
  execFileSync('mkfifo', [path]);
}

describe('a file of the state directory', () => {
  it('is read, or is not there', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'file'), 'text');
    expect(readState(join(dir, 'file'))?.toString()).toBe('text');
    expect(readState(join(dir, 'none'))).toBeNull();
    expect(readState(join(dir, 'file/below'))).toBeNull();
  });

  it.each<[string, (path: string) => void]>([
    ['a pipe', pipe],
    ['a folder', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('/etc/hostname', path)],
    ['a link to itself', (path) => symlinkSync(path, path)],
    ['a device', (path) => symlinkSync('/dev/zero', path)],
    [
      'larger than anything we write',
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 2 ** 40);
      },
    ],
  ])('that is %s is an error, at once', (_, make) => {
    const path = join(temporaryDirectory(), 'file');
    make(path);
    const expected = { code: 'io', hint: expect.any(String), data: { path } };
    expect(() => readState(path)).toThrow(expect.objectContaining(expected));
  });

  it('may be a link where a person keeps it, and still no pipe and no device', () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'file'), 'text');
    symlinkSync(join(dir, 'file'), join(dir, 'link'));
    expect(readLinked(join(dir, 'link'))?.toString()).toBe('text');
    symlinkSync('/dev/zero', join(dir, 'zero'));
    expect(() => readLinked(join(dir, 'zero'))).toThrow(expect.objectContaining({ code: 'io' }));
  });
});

/** Every file there is, by its path in the folder. */
function filesIn(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).filter((name) => statSync(join(folder, name)).isFile());
}

function run({ dir, env }: Place, args: string[]): { status: number | null; stdout: string } {
  const flags = ['-C', dir, ...args, '--json'];
  return spawnSync(process.execPath, [CLI, ...flags], { env, encoding: 'utf8', timeout: 30_000 });
}

describe('pipes in the place of state files', () => {
  it('make no verb wait, whichever file it is', async () => {
    const place = fresh();
    await place.handoff.start({ as: 'donna' });
    run(place, ['status']);
    const state = join(place.dir, '.git/handoff');
    const files = filesIn(state).filter((name) => !name.startsWith('cache/'));
    expect(files.length).toBeGreaterThan(4);
    for (const name of files) {
      const path = join(state, name);
      renameSync(path, `${path}.kept`);
      pipe(path);
      const { status, stdout } = run(place, ['status']);
      expect([name, status], stdout).toEqual([name, expect.toSatisfy((code) => code !== null && code <= 4)]);
      JSON.parse(stdout);
      rmSync(path);
      renameSync(`${path}.kept`, path);
    }
    expect(run(place, ['status']).status).toBe(0);
  });

  it('nor as a key', async () => {
    const place = fresh();
    const key = join(place.keys, place.root.slice(0, 12), 'donna.pem');
    rmSync(key);
    pipe(key);
    const { status, stdout } = run(place, ['start', '--as', 'donna']);
    expect([status, JSON.parse(stdout)]).toMatchObject([expect.any(Number), { error: { code: 'no_key' } }]);
  });
});
