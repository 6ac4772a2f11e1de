import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { template } from '../threats/forge.ts';
import { run } from './cli.ts';

const fresh = template();

/** The git processes of a verb, those that git starts itself included. */
function started(dir: string, keys: string, verb: readonly string[]): string[] {
  const trace = join(dir, '..', 'trace');
  rmSync(trace, { force: true });
  const { code, stderr } = run(verb, { cwd: dir, env: { HANDOFF_KEYS: keys, GIT_TRACE: trace } });
  expect(code, stderr).toBe(0);
  const lines = existsSync(trace) ? readFileSync(trace, 'utf8') : '';
  return [...lines.matchAll(/built-in: git (\S+)/g)].map(([, command]) => command!);
}

it('no verb of a session starts more than three git processes, and most start one', () => {
  const { dir, keys } = fresh();
  const verbs: [string[], string[]][] = [
    [['start', '--as', 'donna', '--intent', 'count'], ['cat-file']],
    [['note', 'one'], ['cat-file']],
    [['checkpoint'], ['cat-file']],
    [['decide', '--title', 'two', 'three'], ['cat-file']],
    [['wip', 'open', 'four', 'five'], ['cat-file']],
    [['signal', 'send', 'erin', 'six'], ['cat-file']],
    [['heartbeat'], ['cat-file']],
    [['status'], ['cat-file']],
    [['sessions'], ['cat-file']],
    [
      ['note', 'and commit', '--commit'],
      ['cat-file', 'update-ref'],
    ],
    [
      ['wrap', '--message', 'seven'],
      ['cat-file', 'update-ref'],
    ],
    [
      ['pickup', '--as', 'erin'],
      ['cat-file', 'update-ref'],
    ],
    [['log'], ['ls-files', 'cat-file']],
    [['verify'], ['cat-file']],
  ];
  for (const [verb, processes] of verbs) expect(started(dir, keys, verb), verb.join(' ')).toEqual(processes);
});
