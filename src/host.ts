import { readFileSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { kill, pid } from 'node:process';
import type { Host } from './journal/heartbeat.ts';

/** The machine this runs on. */
export const nodeHost: Host = { name: hostname(), pid, isRunning, uptime, bootId };

/** Signal 0 asks and does nothing. Somebody else's process is one all the same. */
function isRunning(other: number): boolean {
  try {
    kill(other, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Linux tells; elsewhere nobody does. */
function bootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}
