import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pathPattern } from '../../src/core/writeback/path-pattern.ts';

/** The same as a regular expression: obvious, and slow where several `*` can share the letters of a name. */
function asExpression(pattern: string, isFile: boolean): RegExp {
  const parts = pattern.split(/(\*\*\/|\*\*|\*)/).map((part) => {
    if (part === '**/') return '(?:[^/]*/)*';
    if (part === '**') return '.*';
    return part === '*' ? '[^/]*' : part.replace(/[.]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}${isFile ? '$' : '(?:/|$)'}`, 's');
}

it('says what the expression says, of every pattern and path', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '*'), maxLength: 9 });
  const path = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '\n'), maxLength: 12 });
  fc.assert(
    fc.property(pattern, path, fc.boolean(), (pattern, path, isFile) => {
      expect(pathPattern(pattern, isFile)(path)).toBe(asExpression(pattern, isFile).test(path));
    }),
    {
      numRuns: 20_000,
      examples: [
        ['a**/b', 'a/b', true],
        ['**/*-*.a', 'a/b-.a', true],
        ['*', '', false],
      ],
    },
  );
});

it('comes to an end for a name that several * can share in more ways than anybody can try', () => {
  const shared = '-'.repeat(20_000);
  for (const isFile of [true, false]) {
    expect(pathPattern('**/*-*-*-*-*-*.txt', isFile)(shared)).toBe(false);
    expect(pathPattern('**/*-*-*-*-*-*.txt', isFile)(`${shared}.txt`)).toBe(true);
  }
});
