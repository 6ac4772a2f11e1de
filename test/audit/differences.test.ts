import { describe, expect, it } from 'vitest';
import { unlike } from '../../src/audit/delta/differences.ts';
import type { Entry } from '../../src/audit/source/source.ts';

function entries(count: number): Entry[] {
  return Array.from({ length: count }, (_, n) => ({
    path: `f${n}`,
    name: `f${n}`,
    mode: '100644',
    oid: 'a'.repeat(40),
  }));
}

describe('what of a root is new', () => {
  it('is what has another name, mode or content', () => {
    const [one, two] = entries(2) as [Entry, Entry];
    const changed = [{ ...one, mode: '100755' }, { ...one, oid: 'b'.repeat(40) }, two];
    expect([one, ...changed].filter(unlike([one]))).toEqual(changed);
  });

  // THREATS 70
  it('is found by looking at each entry once', () => {
    const looks = (count: number): number => {
      let looked = 0;
      const get = (of: Entry, key: string | symbol): unknown => {
        looked++;
        return Reflect.get(of, key);
      };
      const counted = entries(count).map((entry) => new Proxy(entry, { get }));
      expect(counted.filter(unlike(counted))).toEqual([]);
      return looked;
    };
    expect(looks(4000) / looks(2000)).toBeLessThanOrEqual(2.2);
  });
});
