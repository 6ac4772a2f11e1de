import { HandoffError } from '../../core/error.ts';
import type { LedgerPin } from './pin-file.ts';

/** Whoever keeps us from hearing of anything new is noticed by the time that passes. */
export function assertAge(pin: LedgerPin | null, maxAge: string | undefined, now: Date): void {
  if (maxAge === undefined) return;
  const longest = parseAge(maxAge);
  if (pin === null) throw noneYet();
  const { size, root, at } = pin;
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  if (seconds <= longest) return;
  throw new HandoffError(
    'ledger_inconsistent',
    `This clone has not seen the ledger grow beyond ${size} seals since ${at}, which is longer than ${maxAge}.`,
    {
      hint: 'git fetch and merge what the remote has; if that is all there is, seal and append: git handoff ledger append',
      data: { size, root, seen_at: at },
    },
  );
}

function noneYet(): HandoffError {
  return new HandoffError(
    'ledger_inconsistent',
    'This clone has seen no ledger that is committed, and so none that has grown.',
    {
      hint: 'git fetch and merge what the remote has, or seal and append: git handoff ledger append',
    },
  );
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 };

function parseAge(text: string): number {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  if (count && unit) return Number(count) * UNITS[unit]!;
  throw new HandoffError('usage', `Expected a time such as 7d, 12h, 30m or 90s, found ${JSON.stringify(text)}.`, {
    hint: 'git handoff ledger verify --max-age 7d',
  });
}
