import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { isSameSession, type SessionKey } from '../../core/task/state.ts';
import { createFile, guarded } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import { type Holder, isHolder } from './holder.ts';

/** The highest number of a lock: it holds, and the number is the fencing token. SPEC §8.1 */
export interface Hold {
  number: number;
  holder: Holder;
  released: boolean;
}

/** `identity/donna`, `session/<id>`, `task/P0.1`: what can be held. Names are valid file names by SPEC §2.1. */
export type LockName = `identity/${string}` | `session/${string}` | `task/${string}`;

export function readHold(locks: string, name: LockName): Hold | null {
  for (let look = 0; ; look++) {
    const { number, released } = highest(numbersOf(locks, name));
    if (number === 0) return null;
    const path = lockFile(locks, name, number);
    const holder = readHolder(path);
    if (holder) return { number, holder, released };
    if (look === LOOKS) throw unreadable(path);
  }
}

/** Whether a session has ever taken it on this machine, as far as numbers are kept. */
export function wasHeldBy(locks: string, name: LockName, session: SessionKey): boolean {
  const numbers = numbersOf(locks, name).filter(({ released }) => !released);
  const holders = numbers.map(({ number }) => readHolder(lockFile(locks, name, number)));
  return holders.some((holder) => holder !== null && isSameSession(holder, session));
}

/** A number is cleared away only when far higher ones are there: a name that leads nowhere again and again is spoilt. */
const LOOKS = 3;

/**
 * Takes number n of a lock. False when somebody else has it: `link` lets one through, and what is there already is never
 * touched. Whoever slept so long that its number was cleared away meanwhile sees a higher one, and has lost as well.
 */
export function takeHold(locks: string, name: LockName, number: number, holder: Holder): boolean {
  const path = lockFile(locks, name, number);
  if (!guarded(path, () => createFile(path, `${JSON.stringify(holder)}\n`))) return false;
  const numbers = numbersOf(locks, name);
  if (highest(numbers).number !== number) return false;
  clearOld(locks, name, numbers, number);
  return true;
}

/** Ends a hold; the next number may be taken at once. */
export function releaseHold(locks: string, name: LockName, number: number, by: Holder): void {
  const path = releasedFile(locks, name, number);
  guarded(path, () => createFile(path, `${JSON.stringify(by)}\n`));
}

interface Numbered {
  number: number;
  released: boolean;
}

const FILE = /^([0-9]{8})\.(lock|released)$/;

function numbersOf(locks: string, name: LockName): Numbered[] {
  const entries = ifThere(() => readdirSync(join(locks, name))) ?? [];
  return entries.flatMap((entry) => {
    const match = FILE.exec(entry);
    return match ? [{ number: Number(match[1]), released: match[2] === 'released' }] : [];
  });
}

function highest(numbers: readonly Numbered[]): Numbered {
  const number = Math.max(0, ...numbers.filter(({ released }) => !released).map((entry) => entry.number));
  return { number, released: numbers.some((entry) => entry.released && entry.number === number) };
}

const KEPT = 32;

/** Only numbers far below the one that holds: no reader looks at them, and no writer can win with one (see takeHold). */
function clearOld(locks: string, name: LockName, numbers: readonly Numbered[], held: number): void {
  for (const { number, released } of numbers.filter((entry) => entry.number < held - KEPT)) {
    rmSync((released ? releasedFile : lockFile)(locks, name, number), { force: true });
  }
}

/** Null when it was cleared away between looking and reading: then a higher number is there. */
function readHolder(path: string): Holder | null {
  const text = readStateText(path);
  return text === null ? null : parseHolder(text, path);
}

function parseHolder(text: string, path: string): Holder {
  const holder = parseJson<unknown>(text);
  if (isHolder(holder)) return holder;
  throw unreadable(path);
}

function lockFile(locks: string, name: LockName, number: number): string {
  return join(locks, name, `${String(number).padStart(8, '0')}.lock`);
}

function releasedFile(locks: string, name: LockName, number: number): string {
  return join(locks, name, `${String(number).padStart(8, '0')}.released`);
}

function unreadable(path: string): HandoffError {
  return new HandoffError('io', `The lock ${path} does not say who holds it.`, {
    hint: 'Make sure that nobody works with it, then move the file away.',
    data: { path },
  });
}
