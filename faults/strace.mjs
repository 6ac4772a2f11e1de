// Runs a verb under strace: once to see what it does to the disk, then again and again with one step broken.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, check } from './place.mjs';

const SYSCALLS = ['openat', 'write', 'fsync', 'link', 'rename', 'unlink', 'mkdir'];
// One thread for the file system, so that its steps come in the same order every time.
export const ONE_THREAD = { UV_THREADPOOL_SIZE: '1' };

/** The steps of a verb that change something in the repository: `{ syscall, when, text }`, `when` counts per thread. */
export async function steps(place, args) {
  const { run, lines } = await traced(place, args, ['-e', `trace=${SYSCALLS.join(',')}`]);
  check(run.code === 0, `${args.join(' ')} does not even work when nothing is broken`, run);
  const counts = new Map();
  return lines.flatMap((line) => {
    const [, thread, syscall] = /^(\d+) +(\w+)\(/.exec(line) ?? [];
    if (!syscall) return [];
    const when = (counts.get(thread + syscall) ?? 0) + 1;
    counts.set(thread + syscall, when);
    const changes = line.includes(place.dir) && (syscall !== 'openat' || line.includes('O_CREAT'));
    return changes ? [{ syscall, when, text: line.replaceAll(place.dir, '').slice(0, 160) }] : [];
  });
}

/** `fault`: `signal=SIGKILL`, `signal=SIGINT`, `error=EIO`. `hit` is the line that was struck; null when the verb came through. */
export async function broken(place, args, { syscall, when }, fault) {
  const flags = ['-e', `trace=${syscall}`, '-e', `inject=${syscall}:${fault}:when=${when}`];
  const { run, lines } = await traced(place, args, flags);
  const hit = lines.find((line) => /INJECTED|killed by SIGKILL|--- SIGINT /.test(line)) ?? null;
  return { run, hit };
}

/** `-b execve` leaves git alone: what a verb does is broken, not what git does. */
async function traced(place, args, flags) {
  const log = join(place.base, 'strace.log');
  const through = ['strace', '-f', '-y', '-s', '16', '-qq', '-b', 'execve', '-o', log, ...flags];
  const run = await attempt(place, args, { env: ONE_THREAD, through });
  const lines = readFileSync(log, 'utf8').split('\n');
  rmSync(log);
  return { run, lines };
}
