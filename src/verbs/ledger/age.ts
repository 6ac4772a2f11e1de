import { inconsistent } from '../../audit/ledger.ts';
import { HandoffError } from '../../core/error.ts';
import type { LedgerPin } from './pin-file.ts';

/** Whoever keeps us from hearing of anything new is noticed by the time that passes. */
export function assertAge({ size, root, at }: LedgerPin, maxAge: string | undefined, now: Date): void {
  if (maxAge === undefined) return;
  const seconds = (now.getTime() - Date.parse(at)) / 1000;
  if (seconds <= parseAge(maxAge)) return;
  throw inconsistent(`The ledger has not grown beyond ${size} seals since ${at}, which is longer than ${maxAge}.`, {
    size,
    root,
    seen_at: at,
  });
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 };

function parseAge(text: string): number {
  const [, count, unit] = /^([0-9]{1,9})([smhd])$/.exec(text) ?? [];
  if (count && unit) return Number(count) * UNITS[unit]!;
  throw new HandoffError('usage', `Expected a time such as 7d, 12h, 30m or 90s, found ${JSON.stringify(text)}.`, {
    hint: 'git handoff ledger verify --max-age 7d',
  });
}
