import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { isRecordKind, type RecordKind } from '../../core/record/kinds.ts';
import { cutSignature } from '../../core/record/signed-parts.ts';
import { createFile, guarded } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readState } from '../../disk/state-file.ts';
import { parseState, type StateDirs } from './registry.ts';

/**
 * A session's records outside the tree, SPEC §8.3: one file per number, made by `link`, so that two writers never get the
 * same number and nothing that was acknowledged depends on the work tree. A number can also hold the end that somebody
 * else put to the session: from then on there is no number left to write.
 */
export type JournalEntry = RecordEntry | { number: number; end: End };

interface RecordEntry {
  number: number;
  bytes: Uint8Array;
  kind: RecordKind;
}

export type SealEntry = RecordEntry & { kind: 'seal' };

/** Who took the session over, or ended it. */
export interface End {
  session_id: string | null;
  identity: string;
  reason: string;
  at: string;
}

export function readTip(dirs: StateDirs, id: string): JournalEntry | null {
  const numbers = recordNumbers(dirs, id);
  return numbers.length === 0 ? null : readEntry(dirs, id, numbers.at(-1)!);
}

export function readEntry(dirs: StateDirs, id: string, number: number): JournalEntry {
  const path = recordFile(dirs, id, number);
  const bytes = readState(path) ?? readFileSync(path); // which says that it is gone
  if (bytes[0] === BRACE)
    return {
      number,
      end: parseState<End>(bytes.toString('utf8'), recordFile(dirs, id, number), ['identity', 'reason']),
    };
  return { number, bytes, kind: kindOf(bytes, recordFile(dirs, id, number)) };
}

const BRACE = 0x7b;

/** The last record, whether or not somebody has put an end to the session. */
export function lastRecord(dirs: StateDirs, id: string): JournalEntry | null {
  const tip = readTip(dirs, id);
  return tip && 'end' in tip && tip.number > 1 ? readEntry(dirs, id, tip.number - 1) : tip;
}

/** In order. Numbers are only ever added, so a listing is enough. */
export function recordNumbers(dirs: StateDirs, id: string): number[] {
  const names = ifThere(() => readdirSync(join(dirs.sessions, id, 'records'))) ?? [];
  return names
    .filter((name) => /^[0-9]{6}$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** True once it is on disk for good; false when another writer has the number. */
export function appendRecord(dirs: StateDirs, id: string, number: number, bytes: Uint8Array): boolean {
  const path = recordFile(dirs, id, number);
  return guarded(path, () => createFile(path, bytes));
}

/** Nobody can write a record of this session any more, not even a writer that was asleep and has checked everything. */
export function endSession(dirs: StateDirs, id: string, end: End): void {
  for (;;) {
    const tip = readTip(dirs, id);
    if (tip && 'end' in tip) return;
    const path = recordFile(dirs, id, (tip?.number ?? 0) + 1);
    if (guarded(path, () => createFile(path, JSON.stringify(end)))) return;
  }
}

/** Whether the session was wrapped: a baton, and nothing after it but seals. */
export function isWrapped(dirs: StateDirs, id: string): boolean {
  const last = lastButSeals(dirs, id);
  return last !== null && 'kind' in last && last.kind === 'baton';
}

/** The last entry that is no seal. */
export function lastButSeals(dirs: StateDirs, id: string): JournalEntry | null {
  return findLast(dirs, id, (entry) => !isSeal(entry));
}

/** The newest seal, whatever came after it. */
export function lastSeal(dirs: StateDirs, id: string): SealEntry | null {
  const found = findLast(dirs, id, isSeal);
  return found && isSeal(found) ? found : null;
}

export function isSeal(entry: JournalEntry): entry is SealEntry {
  return 'kind' in entry && entry.kind === 'seal';
}

function findLast(dirs: StateDirs, id: string, isWanted: (entry: JournalEntry) => boolean): JournalEntry | null {
  for (const number of recordNumbers(dirs, id).reverse()) {
    const entry = readEntry(dirs, id, number);
    if (isWanted(entry)) return entry;
  }
  return null;
}

/** Whether nothing can be added to it any more: it was wrapped, or somebody put an end to it. */
export function isOver(dirs: StateDirs, id: string): boolean {
  const tip = readTip(dirs, id);
  return tip !== null && ('end' in tip || isWrapped(dirs, id));
}

function kindOf(bytes: Buffer, path: string): RecordKind {
  const kind = /^(?:---\n)?handoff: 1\nkind: ([a-z]+)\n/.exec(bytes.toString('latin1', 0, 64))?.[1] ?? '';
  if (isRecordKind(kind) && cutSignature(bytes)) return kind; // one that was cut off would be put in the place of a whole one
  throw new HandoffError('io', `${path} is no record: the journal of this session was damaged.`, {
    hint: 'Compare it with the file of that number in the work tree or in git, and put that in its place.',
    data: { path },
  });
}

function recordFile(dirs: StateDirs, id: string, number: number): string {
  return join(dirs.sessions, id, 'records', String(number).padStart(6, '0'));
}
