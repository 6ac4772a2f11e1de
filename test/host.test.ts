import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { nodeHost } from '../src/host.ts';

/** A shell that prints the number of a child, and becomes another program, which waits for no child. */
async function childOf(script: string): Promise<number> {
  const shell = spawn('sh', ['-c', `${script} & echo $!; exec sleep 60`]);
  onTestFinished(() => void shell.kill());
  const [line] = await once(shell.stdout, 'data');
  return Number(line);
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition() && waited < 5000; waited += 20) await new Promise((next) => setTimeout(next, 20));
}

test('a process runs until it has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)']);
  expect(nodeHost.isRunning(child.pid!)).toBe(true);
  child.kill();
  await once(child, 'exit');
  expect(nodeHost.isRunning(child.pid!)).toBe(false);
});

test.runIf(existsSync('/proc/self/stat'))('one that nobody has waited for runs no more', async () => {
  const pid = await childOf('sleep 0.3'); // by then the shell is another program
  await until(() => !nodeHost.isRunning(pid));
  expect(nodeHost.isRunning(pid)).toBe(false);
  process.kill(pid, 0); // and yet it is there
});
