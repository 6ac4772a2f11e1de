import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { groupBy } from '../../core/group-by.ts';
import { isUnwritable, readCached } from '../tree/cache.ts';
import type { KeptTrace } from './trace.ts';

export interface Kept {
  key: string;
  trace: KeptTrace;
}

/**
 * Traces by their keys. Nothing is ever taken out, so it may hold traces of other branches, and some twice. Whoever asks keeps only
 * those that the tree in question has: a superfluous trace costs time and changes no answer.
 */
export interface Shards {
  find(keys: readonly string[]): KeptTrace[];
  /** False where it could not be kept, and is only known until this process ends. */
  add(kept: readonly Kept[]): boolean;
}

/** Files of lines, each with what comes under some of the keys: a question reads a small part of all. Null: in memory. */
export function openShards(folder: string | null): Shards {
  const unkept = new Map<string, KeptTrace[]>();
  return {
    find: (keys) => [
      ...(folder === null ? [] : readLines(folder, keys)),
      ...keys.flatMap((key) => unkept.get(key) ?? []),
    ],
    add(kept) {
      if (folder !== null && append(folder, kept)) return true;
      for (const [key, group] of groupBy(kept, (each) => each.key))
        unkept.set(key, [...(unkept.get(key) ?? []), ...group.map(({ trace }) => trace)]);
      return false;
    },
  };
}

function shardOf(folder: string, key: string): string {
  return join(folder, createHash('sha256').update(key).digest('hex').slice(0, 2));
}

/** Each file is read once, however much of it is asked for. */
function readLines(folder: string, keys: readonly string[]): KeptTrace[] {
  const found: KeptTrace[] = [];
  for (const [path, group] of groupBy(new Set(keys), (key) => shardOf(folder, key))) {
    const text = readCached(path);
    for (const key of group) findLines(text, key, (trace) => found.push(trace));
  }
  return found;
}

function findLines(text: string, key: string, add: (trace: KeptTrace) => void): void {
  const start = `\n[${JSON.stringify(key)},`;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) {
    const end = text.indexOf('\n', at + 1);
    const line: Line | null = parseJson(text.slice(at + 1, end < 0 ? undefined : end));
    if (line) add(toTrace(line));
  }
}

/** Each line is written after an LF: if a process died in the middle of a line, the next line still begins on its own. */
function append(folder: string, kept: readonly Kept[]): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [path, lines] of groupBy(kept, ({ key }) => shardOf(folder, key)))
      appendFileSync(path, lines.map((each) => `\n${JSON.stringify(toLine(each))}`).join(''));
    return true;
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    return false;
  }
}

type Line = [key: string, ...Parameters<typeof fromLine>];

function toLine({ key, trace }: Kept): Line {
  const { owner, role, labels, path, tree, blob, record } = trace;
  return [key, owner, role, labels, path, tree, blob, record.kind, record.id, record.fields];
}

function toTrace([, ...rest]: Line): KeptTrace {
  return fromLine(...rest);
}

function fromLine(
  owner: string,
  role: string,
  labels: string[],
  path: string,
  tree: string,
  blob: string,
  kind: KeptTrace['record']['kind'],
  id: string,
  fields: KeptTrace['record']['fields'],
): KeptTrace {
  const record = { kind, id, fields } as KeptTrace['record']; // `toLine` took them from one record
  return { owner, role, labels, path, tree, blob, record };
}
