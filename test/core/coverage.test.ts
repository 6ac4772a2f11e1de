import { expect, test } from 'vitest';
import { exemption } from '../../src/core/writeback/exemption.ts';

test.each([
  ['package-lock.json', ['package-lock.json'], ['a/package-lock.json', 'package-lock.jsonx', 'xpackage-lock.json']],
  ['docs', ['docs', 'docs/a', 'docs/a/b'], ['docsx', 'a/docs']],
  ['docs/', ['docs/a', 'docs/a/b'], ['docsx/a']],
  ['*.md', ['a.md', '.md'], ['a/b.md', 'README.md/index.js', 'amd']],
  ['**/*.md', ['a.md', 'a/b.md', 'a/b/c.md'], ['a.md/index.js', 'a/bmd']],
  ['docs/**', ['docs/a', 'docs/a/b.ts'], ['docs', 'docsx/a']],
  ['a+b(c)', ['a+b(c)', 'a+b(c)/d'], ['aab(c)', 'abc']],
])('%s', (pattern, inside, outside) => {
  const isExempt = exemption([pattern]);
  expect(inside.filter((path) => !isExempt(path))).toEqual([]);
  expect(outside.filter(isExempt)).toEqual([]);
});

test('nothing is exempt where nothing is said', () => {
  expect(exemption([])('a')).toBe(false);
});
