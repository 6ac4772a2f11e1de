import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { geteuid, kill, pid } from 'node:process';
import { hasCode } from './core/error-code.ts';
import type { Host } from './disk/moment.ts';

/** The machine this runs on. */
export const nodeHost: Host = {
  name: hostname(),
  pid,
  get space() {
    return createHash('sha256').update(`${hostname()}\0${bootId()}\0${processNumbers()}`).digest('hex').slice(0, 8);
  },
  owner: geteuid?.() ?? null,
  isRunning,
  uptime,
  bootId,
};

/** Signal 0 asks and does nothing. Somebody else's process is one all the same; one that nobody has waited for is none any more. */
function isRunning(other: number): boolean {
  try {
    kill(other, 0);
    return !isZombie(other);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Linux tells: the state comes after the name, which stands in brackets and may have any in it. */
function isZombie(other: number): boolean {
  try {
    return /^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${other}/stat`, 'latin1'));
  } catch (error) {
    if (!hasCode(error)) throw error;
    return false;
  }
}

let boot: string | null | undefined;

/** No process outlives a boot. */
function bootId(): string | null {
  boot ??= readBootId();
  return boot;
}

/** Linux tells; elsewhere nobody does. */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || null;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null;
  }
}

/** Two containers of one machine count their processes separately. */
function processNumbers(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch (error) {
    if (!hasCode(error)) throw error;
    return '';
  }
}
