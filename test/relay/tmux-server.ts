import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { disposableDirectory } from '../temporary.ts';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** Agents, drivers and a terminal wait for each other by the clock: where a machine was too busy for them, a test is tried once more. */
export const BUSY = { retry: 1 };

export interface TmuxServer {
  socket: string;
  env: NodeJS.ProcessEnv;
  /** What tmux itself prints, asked past our code. */
  ask(...args: string[]): string;
}

/** A server of this test alone, with no configuration of whoever runs it. `atEnd`: afterAll, or onTestFinished within a test. */
export function tmuxServer(atEnd: (end: () => void) => void): TmuxServer {
  const { path: home, remove } = disposableDirectory();
  const socket = join(home, 'tmux.socket');
  const { TMUX: _, TMUX_PANE: __, ...rest } = process.env;
  const env = { ...rest, HOME: home, SHELL: '/bin/sh', HANDOFF_TMUX_SOCKET: socket };
  const ask = (...args: string[]): string =>
    spawnSync('tmux', ['-S', socket, ...args], { env, encoding: 'utf8' }).stdout;
  atEnd(() => {
    // a driver that is under way when its agent goes may start the server once more
    for (let tries = 0; tries < 4; tries++) {
      ask('kill-server');
      pause(100);
    }
    remove();
  });
  return { socket, env, ask };
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Until it is so: whoever waits says what for. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1500; tries++) {
    if (await isSo()) return;
    await sleep(20);
  }
  throw new Error(`It never came that ${what}.`);
}
