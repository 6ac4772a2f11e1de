import { HandoffError } from '../../core/error.ts';

/** How much of ours a file has: nothing, all of it in today's form, or something else. */
export type PartState = 'absent' | 'complete' | 'harmed';

/** What we add to a file that belongs to a user, and how it is taken out again. Both leave everything else as it is, to the byte. */
export interface SettingsPart {
  /** The text with ours in it once, in today's form. Null stands for a file that is not there. */
  added(text: string | null): string;
  /** The text without ours, as it was before; null where the file was made for ours alone. */
  removed(text: string): string | null;
  state(text: string | null): PartState;
}

/** Whoever reads the file names it. */
export function refusal(reason: string, hint: string): HandoffError {
  return new HandoffError('settings_refused', reason, { hint });
}

/** For one whose removal would not give back what was there: better nothing than a guess. */
export function assertGivesBack(part: SettingsPart, before: string | null, after: string): void {
  if (part.removed(after) === before) return;
  throw refusal(
    'could not be changed in a way that can be undone to the byte',
    'Please report it with the file; until then write the entry by hand: docs/agents.md has it.',
  );
}
