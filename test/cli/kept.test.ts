import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { temporaryDirectory } from '../temporary.ts';

// What V8 has compiled is kept by the build, in files that verbs share.

const ROOT = resolve(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
const { keptFor, load } = createRequire(import.meta.url)(join(ROOT, 'scripts/program-loader.cjs'));
const require = createRequire(join(DIST, 'cli.cjs'));

const files = COMMANDS.flatMap(({ name, alias }) => [name, ...(alias ? [alias] : [])]).map((verb) => keptFor([verb]));

it('every verb has a file that the build made, and every file a verb', () => {
  const made = readdirSync(DIST).filter((name) => name.endsWith('.v8'));
  expect([...new Set(files)].sort()).toEqual(made.sort());
});

it('the first verb on the command line decides; without one it is what the rest share', () => {
  expect(keptFor(['node', 'cli.cjs', '-C', 'dir', 'ledger', 'append'])).toBe('program.ledger.v8');
  expect(keptFor(['node', 'cli.cjs', 'note', 'the ledger'])).toBe('program.record.v8');
  expect(keptFor(['node', 'cli.cjs'])).toBe('program.rest.v8');
});

it.each([...new Set(files)])('%s is taken by the V8 that it was made by', (file) => {
  expect(load(DIST, file, require).script.cachedDataRejected).toBe(false);
});

it('without any the program says the same', () => {
  const dir = temporaryDirectory();
  for (const name of ['cli.cjs', 'program.cjs']) copyFileSync(join(DIST, name), join(dir, name));
  const help = (from: string) =>
    execFileSync(process.execPath, [join(from, 'cli.cjs'), '--help'], { encoding: 'utf8' });
  expect(help(dir)).toBe(help(DIST));
  expect(help(dir)).toContain('git handoff');
});
