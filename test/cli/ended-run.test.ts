import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { template } from '../threats/forge.ts';
import { begin } from './cli.ts';

const fresh = template(async ({ handoff }) => {
  await handoff.task.add({ id: 'T1', title: 'one' });
});

const WAIT = `require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000)`;

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends the command that --run runs, too, and nothing is recorded',
  async (signal) => {
    const place = fresh();
    await place.handoff.claim({ id: 'T1', as: 'donna' });
    const note = join(place.keys, 'pid');
    const args = [
      '-C',
      place.dir,
      'thought',
      'T1',
      'x',
      '--as',
      'donna',
      '--run',
      '--',
      process.execPath,
      '-e',
      WAIT,
      note,
    ];
    const { child, ended } = begin(args, { env: place.env });
    await vi.waitUntil(() => existsSync(note) && readFileSync(note, 'utf8') !== '', { timeout: 60_000 });
    const running = Number(readFileSync(note, 'utf8'));
    child.kill(signal);
    await ended;
    expect(child.signalCode).toBe(signal);
    await vi.waitUntil(() => !nodeHost.isRunning(running), { timeout: 60_000 });
    expect((await place.handoff.log({ task: 'T1', kind: 'thought' })).records).toEqual([]);
  },
);
