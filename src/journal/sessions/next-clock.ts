import { hasCode } from '../../core/error-code.ts';
import { parseSessionRecord } from '../../core/record/record.ts';
import type { Messages, StateDirectory } from '../../repository/parts.ts';
import { readClock, rememberClock } from './clock.ts';
import type { JournalEntry } from './records.ts';
import { dirsOf } from './session-state.ts';

/** SPEC §6.4: one more than the highest clock seen anywhere on this machine. */
export function nextClock(repository: StateDirectory, tip: JournalEntry | null): number {
  const own = tip && 'bytes' in tip ? parseSessionRecord(tip.bytes).fields.clock : 0;
  return Math.max(own, readClock(dirsOf(repository))) + 1;
}

/** The record that raised the clock is in the journal or in the tree. If the clock cannot be written now, the next reader of that record raises it. */
export function tryRememberClock(repository: StateDirectory & Messages, clock: number): void {
  try {
    rememberClock(dirsOf(repository), clock);
  } catch (error) {
    if (!hasCode(error)) throw error;
    repository.warn(`The clock could not be raised to ${clock}: ${error.message}`);
  }
}
