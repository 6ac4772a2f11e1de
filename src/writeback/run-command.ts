import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:os';
import type { Uncommitted } from '../git/index/uncommitted.ts';
import type { Evidence } from '../journal/drafts/thought-file.ts';

/** A command that is run and not merely claimed. */
export interface CommandToRun {
  /** The program and its arguments, as they are: no shell reads them. */
  command: readonly string[];
  /** Where; default: the top of the work tree. */
  directory?: string;
  /** Told what it prints, as it prints it. */
  onOutput?(bytes: Uint8Array): void;
  /** Told how the command can be sent a signal; what it returns is called once the command has ended. */
  onStart?(send: (signal: NodeJS.Signals) => void): () => void;
  /** Says, before the command runs, why it must not run while something is not committed. */
  refuse?(uncommitted: readonly Uncommitted[]): Error;
  /** Milliseconds between two signs of life of the session. */
  beatEvery?: number;
}

/** A program that was not found, one that may not be run, and one that a signal ended: as shells number them. */
export const NOT_FOUND = 127;
const NOT_RUNNABLE = 126;
const SIGNALLED = 128;

export interface Ran extends Omit<Evidence, 'tree'> {
  /** The system's word for why it could not even begin. */
  notStarted?: string;
}

/** Runs it to its end, whatever that is. The digest is over what it printed, in the order it arrived. */
export async function runCommand(
  { command, directory, onOutput = () => {}, onStart = () => () => {} }: CommandToRun,
  env: NodeJS.ProcessEnv,
): Promise<Ran> {
  const hash = createHash('sha256');
  const started = performance.now();
  const child = spawn(command[0]!, command.slice(1), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    ...(directory === undefined ? {} : { cwd: directory }),
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      onOutput(chunk);
    });
  }
  const hasEnded = onStart((signal) => child.kill(signal));
  const ended = await endOf(child).finally(hasEnded);
  const duration_ms = Math.round(performance.now() - started);
  return { command: [...command], ...ended, duration_ms, output_digest: `sha256:${hash.digest('hex')}` };
}

function endOf(child: ChildProcess): Promise<Pick<Ran, 'exit_code' | 'notStarted'>> {
  return new Promise((resolve) => {
    child.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) =>
      resolve({ exit_code: code === 'ENOENT' ? NOT_FOUND : NOT_RUNNABLE, notStarted: code }),
    );
    child.on('close', (code, signal) => resolve({ exit_code: code ?? SIGNALLED + constants.signals[signal!] }));
  });
}
