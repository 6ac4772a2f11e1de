import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, openBudget, whileTime } from '../../src/core/budget.ts';
import { readLimits, withinBudget } from '../../src/gate/budget.ts';
import { toConfig } from '../../src/git/config.ts';
import { openStop } from '../../src/git/stop.ts';

const config = (name: string, value: string) => toConfig([[`handoff.budget.${name}`, value]]);

describe('limits in the configuration', () => {
  it('are the usual ones where nobody has set any', () => {
    expect(readLimits(toConfig([]))).toEqual(DEFAULT_LIMITS);
  });

  it.each([
    ['seconds', '5', 5],
    ['merges', '1k', 1024],
    ['bytes', '2M', 2 * 1024 ** 2],
    ['bytes', '1g', 1024 ** 3],
  ])('%s = %s', (name, value, expected) => {
    expect(readLimits(config(name, value))).toEqual({ ...DEFAULT_LIMITS, [name]: expected });
  });

  // a limit that is misread as none, or as the usual one, is one that nobody notices
  it.each(['', '0', '-1', '1.5', 'none', 'Infinity', '1e9', '0x10', '99999999999', '1 k', '5s'])(
    'refuse %j',
    (value) => {
      expect(() => readLimits(config('refs', value))).toThrow(/^handoff\.budget\.refs: expected a number from 1 on/);
    },
  );
});

describe('a judgement within its budget', () => {
  const refuse = ({ code }: { code: string }) => code;

  it('is given up when it only waits, and what it started is told to end', async () => {
    const stop = openStop();
    const budget = openBudget({ ...DEFAULT_LIMITS, seconds: 0.01 }, () => performance.now());
    const never = new Promise<string>(() => {});
    expect(await withinBudget(budget, stop, () => never, refuse)).toBe('over_budget');
    expect(stop.isStopped).toBe(true);
  });

  it('is given up when it asks and is told no', async () => {
    const budget = openBudget({ ...DEFAULT_LIMITS, merges: 1 }, () => 0);
    const judge = async () => {
      budget.spend('merges', 2);
      return 'judged';
    };
    expect(await withinBudget(budget, openStop(), judge, refuse)).toBe('too_many_merges');
  });

  it('is given up when it computes beyond the end, and lets no timer fire', async () => {
    const stop = openStop();
    const budget = openBudget({ ...DEFAULT_LIMITS, seconds: 0.01 }, () => performance.now());
    const judge = async () => {
      for (const end = performance.now() + 30; performance.now() < end; ) await Promise.resolve();
      return 'judged';
    };
    expect(await withinBudget(budget, stop, judge, refuse)).toBe('over_budget');
    expect(stop.isStopped).toBe(true);
  });

  it('goes through its items only while there is time', () => {
    let now = 0;
    const budget = openBudget({ ...DEFAULT_LIMITS, seconds: 3 }, () => now);
    const seen: number[] = [];
    const judge = () => {
      for (const item of whileTime(budget, [0, 1, 2, 3, 4])) {
        seen.push(item);
        now += 1000;
      }
    };
    expect(judge).toThrow('expected a verdict within 3 seconds');
    expect(seen).toEqual([0, 1, 2]);
  });

  it('answers, or fails, as it would alone', async () => {
    const budget = openBudget(DEFAULT_LIMITS, () => 0);
    const stop = openStop();
    expect(await withinBudget(budget, stop, async () => 'judged', refuse)).toBe('judged');
    const failing = () => Promise.reject(new Error('a fault of ours'));
    await expect(withinBudget(budget, stop, failing, refuse)).rejects.toThrow('a fault of ours');
    expect(stop.isStopped).toBe(false);
  });
});
