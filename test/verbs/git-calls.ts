import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Handoff } from '../../src/index.ts';
import type { Place } from '../handoff.ts';
import { open } from './agents.ts';

export type Call = (handoff: Handoff) => Promise<unknown>;

/** A `git` before all others on the PATH, which writes down what it was started for. */
export function shim({ dir }: Place): { env: NodeJS.ProcessEnv; started(): string[] } {
  const folder = join(dir, '../shim');
  const calls = join(folder, 'calls');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'git'), `#!/bin/sh\nprintf '%s\\n' "$*" >> '${calls}'\nexec '${real}' "$@"\n`);
  chmodSync(join(folder, 'git'), 0o755);
  return {
    env: { PATH: `${folder}:${process.env.PATH}` },
    started() {
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').slice(0, -1) : [];
      rmSync(calls, { force: true });
      return lines
        .map(
          (line) =>
            line
              .replace(/-C \S+|--no-\S+|-c \S+/g, '')
              .trim()
              .split(/\s+/)[0]!,
        )
        .sort();
    },
  };
}

export async function expectStarted(place: Place, name: string, call: Call, processes: string[]): Promise<void> {
  const { env, started } = shim(place);
  const { handoff } = open(place, { env });
  await call(handoff);
  await handoff.close();
  expect(started(), name).toEqual(processes);
}
