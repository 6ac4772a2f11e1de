import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hasCode } from '../core/error-code.ts';
import type { Host } from '../disk/moment.ts';

/** A process for good: its number alone may be another one's by now. */
export interface ProcessMark {
  pid: number;
  /** The machine, its start and its process numbers, as `Host.space` has it. */
  space: string;
  /** When it began, in the system's own words. */
  started: string;
}

interface ProcessInfo {
  parent: number;
  /** Its process group, and the one that reads from its terminal now; -1 without a terminal. */
  group: number;
  foreground: number;
  started: string;
}

/** Null where no such process runs. One that has ended and that nobody has waited for is none. */
function processInfo(pid: number): ProcessInfo | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  return HAS_PROC ? fromProc(pid) : fromPs(pid);
}

export function markProcess({ space }: Pick<Host, 'space'>, pid: number): ProcessMark | null {
  const info = processInfo(pid);
  return info && { pid, space, started: info.started };
}

/** As it was started, or as its last exec left it; empty where nobody tells. */
export function commandLineOf(pid: number): string {
  const own = HAS_PROC ? readProc(`/proc/${pid}/cmdline`) : ps('args=', pid);
  return (own ?? '').replaceAll('\0', ' ').trim();
}

/** Whether that very process still runs here. */
export function isRunning({ space }: Pick<Host, 'space'>, mark: ProcessMark): boolean {
  return mark.space === space && processInfo(mark.pid)?.started === mark.started;
}

/** Whether what is typed into its terminal reaches it, and neither a shell that has stopped it nor a program that it has started. */
export function isInForeground({ space }: Pick<Host, 'space'>, mark: ProcessMark): boolean {
  const info = mark.space === space ? processInfo(mark.pid) : null;
  return info !== null && info.started === mark.started && info.group === info.foreground;
}

/** The process group that reads from the same terminal as a process; it has the number of the process that leads it. */
export function foregroundOf(pid: number): number {
  return processInfo(pid)?.foreground ?? -1;
}

/** The line of parents, nearest first, without the process itself. */
export function ancestors(pid: number): number[] {
  const found: number[] = [];
  for (let at = processInfo(pid)?.parent ?? 0; at > 1 && found.length < MOST; at = processInfo(at)?.parent ?? 0)
    found.push(at);
  return found;
}

const MOST = 64;

const HAS_PROC = readProc('/proc/self/stat') !== null;

/** The name stands in brackets and may have any in it. proc(5): state ppid pgrp session tty tpgid …, and the 22nd is the start. */
function fromProc(pid: number): ProcessInfo | null {
  const stat = readProc(`/proc/${pid}/stat`);
  const [state, parent, group, , , foreground, ...more] = (stat ?? '').replace(/^.*\) /s, '').split(' ');
  const started = more[13];
  if (!state || started === undefined || 'ZX'.includes(state)) return null;
  return { parent: Number(parent), group: Number(group), foreground: Number(foreground), started };
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (!hasCode(error)) throw error;
    return null;
  }
}

function fromPs(pid: number): ProcessInfo | null {
  const line = ps('state=,ppid=,pgid=,tpgid=,lstart=', pid);
  const [, state, parent, group, foreground, started] =
    /^\s*(\S+)\s+(\d+)\s+(\d+)\s+(-?\d+)\s+(\S.*\S)\s*$/.exec(line) ?? [];
  if (!state || !started || state.startsWith('Z')) return null;
  return { parent: Number(parent), group: Number(group), foreground: Number(foreground), started };
}

function ps(columns: string, pid: number): string {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C' };
  return spawnSync('ps', ['-o', columns, '-p', String(pid)], { env, encoding: 'utf8' }).stdout ?? '';
}
