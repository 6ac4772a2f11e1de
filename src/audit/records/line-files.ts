import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUnwritable, readCached } from '../tree/cache.ts';

/** Lines that begin with hexadecimal digits, in a file for each beginning. They are only ever added, perhaps twice. */
export interface LineFiles {
  /** At least two digits. */
  beginningWith(digits: string): string[];
  all(): Iterable<string>;
  /** False where they could not be kept, and are only known until this process ends. */
  add(lines: readonly string[]): boolean;
  /** How long each file is. */
  sizes(): number[];
  sizeAt(at: number): number;
}

const NAMES = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

/** Null: in memory. */
export function openLineFiles(folder: string | null): LineFiles {
  const unkept = new Map<string, string[]>();
  const read = (name: string): string => (folder === null ? '' : readCached(join(folder, name)));
  return {
    beginningWith(digits) {
      const name = nameOf(digits);
      const others = (unkept.get(name) ?? []).filter((line) => line.startsWith(digits));
      return [...linesBeginning(read(name), digits), ...others];
    },
    *all() {
      for (const name of NAMES) yield* [...read(name).split('\n'), ...(unkept.get(name) ?? [])];
    },
    add(lines) {
      if (folder !== null && append(folder, lines)) return true;
      for (const [name, group] of groupBy(lines, nameOf)) unkept.set(name, [...(unkept.get(name) ?? []), ...group]);
      return false;
    },
    sizes: () => (folder === null ? [] : NAMES.map((name) => sizeOf(join(folder, name)))),
    sizeAt: (at) => (folder === null ? 0 : sizeOf(join(folder, NAMES[at]!))),
  };
}

/** Whether nothing was cut off since the files had these sizes; or one of them, where only that is to be read. */
export function hasAll(files: LineFiles, sizes: readonly number[], digits?: string): boolean {
  const isRead = (at: number): boolean => digits === undefined || NAMES[at] === nameOf(digits);
  return sizes.every((size, at) => !isRead(at) || files.sizeAt(at) >= size);
}

function nameOf(line: string): string {
  return line.slice(0, 2);
}

function linesBeginning(text: string, digits: string): string[] {
  const found: string[] = [];
  const start = `\n${digits}`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    const end = text.indexOf('\n', at + 1);
    found.push(text.slice(at + 1, end < 0 ? undefined : end));
  }
  return found;
}

/** Each line is written after an LF: if a process died in the middle of a line, the next line still begins on its own. */
function append(folder: string, lines: readonly string[]): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, group] of groupBy(lines, nameOf))
      appendFileSync(join(folder, name), group.map((line) => `\n${line}`).join(''));
    return true;
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return false;
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return 0;
  }
}
