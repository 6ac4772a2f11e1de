import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Handoff } from '../../src/index.ts';
import type { Place } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open } from './agents.ts';

// Where git looks for the configuration of the whole machine is asked once (decision 0009).

const fresh = template(async () => {});
const memory = ({ dir }: Place) => join(dir, '.git/handoff/system-config.json');

type Call = (handoff: Handoff) => Promise<unknown>;
const start: Call = (handoff) => handoff.start({ as: 'donna' });
const note: Call = (handoff) => handoff.note({ text: 'one', as: 'donna' });

/** As on a machine of somebody who has set nothing. */
async function started(place: Place, call: Call): Promise<string[]> {
  const trace = join(place.dir, '..', 'trace');
  rmSync(trace, { force: true });
  const { handoff } = open(place, { env: { GIT_TRACE: trace, GIT_CONFIG_NOSYSTEM: undefined } });
  await call(handoff);
  await handoff.close();
  const lines = existsSync(trace) ? readFileSync(trace, 'utf8') : '';
  return [...lines.matchAll(/built-in: git (\S+)/g)].map(([, command]) => command!).sort();
}

it.runIf(process.platform === 'linux')('is asked when a session begins, and a note then starts no git', async () => {
  const place = fresh();
  expect(await started(place, start)).toEqual(['cat-file', 'config']);
  expect(await started(place, note)).toEqual([]);
  expect(await started(place, (handoff) => handoff.wrap({ as: 'donna', message: 'x' }))).toEqual([
    'cat-file',
    'status',
  ]);
  expect(await started(place, start)).toEqual(['cat-file']);
});

it.runIf(process.platform === 'linux')('is not believed where another git, or nobody of us, said it', async () => {
  const place = fresh();
  await started(place, start);
  const { program, system } = JSON.parse(readFileSync(memory(place), 'utf8'));
  const lies = ['', 'null', '[]', '{"program":1}', JSON.stringify({ program, system: 'config' })];
  for (const text of [...lies, JSON.stringify({ program: program.replace(/\d+$/, '1'), system })]) {
    writeFileSync(memory(place), text);
    expect(await started(place, note), text).toEqual(['cat-file']);
  }
  const elsewhere = join(place.dir, '../elsewhere');
  writeFileSync(elsewhere, JSON.stringify({ program, system }));
  rmSync(memory(place));
  symlinkSync(elsewhere, memory(place));
  expect(await started(place, note)).toEqual(['cat-file']);
});
