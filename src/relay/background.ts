import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Program } from '../repository/repository.ts';

/** Starts this program once more, so that it outlives whoever asked and the terminal that they sit at. */
export function startBehind({ node, hook }: Program, args: readonly string[], env: NodeJS.ProcessEnv): void {
  const program = join(dirname(hook), 'cli.cjs');
  const child = spawn(node, [program, ...args], { env, detached: true, stdio: 'ignore', windowsHide: true, cwd: '/' });
  child.on('error', () => {}); // it is looked for by whoever needs it next
  child.unref();
}

/** Longer than a notice takes. Milliseconds. */
const PATIENCE = 10_000;

/** Runs a program that somebody has set up to be told, and waits for it no longer than it may take. */
export function runBeside(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input: string,
): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
      timeout: PATIENCE,
    });
    child.on('error', () => resolve());
    child.on('close', () => resolve());
    child.stdin.on('error', () => {}); // it does not read what it is told
    child.stdin.end(input);
  });
}
