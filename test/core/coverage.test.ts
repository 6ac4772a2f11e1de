import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exemptFolders, exemption } from '../../src/core/writeback/exemption.ts';

test.each([
  ['package-lock.json', ['package-lock.json'], ['a/package-lock.json', 'package-lock.jsonx', 'xpackage-lock.json']],
  ['docs', ['docs'], ['docs/a', 'docsx', 'a/docs']],
  ['docs/', ['docs/a', 'docs/a/b'], ['docsx/a']],
  ['*.md', ['a.md', '.md'], ['a/b.md', 'README.md/index.js', 'amd']],
  ['**/*.md', ['a.md', 'a/b.md', 'a/b/c.md'], ['a.md/index.js', 'a/bmd']],
  ['docs/**', ['docs/a', 'docs/a/b.ts'], ['docs', 'docsx/a']],
  ['a+b(c)/', ['a+b(c)', 'a+b(c)/d'], ['aab(c)', 'abc']],
])('%s', (pattern, inside, outside) => {
  const isExempt = exemption([pattern]);
  expect(inside.filter((path) => !isExempt(path))).toEqual([]);
  expect(outside.filter(isExempt)).toEqual([]);
});

test('nothing is exempt where nothing is said', () => {
  expect(exemption([])('a')).toBe(false);
});

test('a folder in which something is exempt is one that is looked into', () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'a.b', '.');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
  const part = fc.constantFrom('a', 'b', 'ab', '*', '**', 'a*', '*.b');
  const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(path, pattern, fc.boolean(), (file, each, isFolder) => {
      const patterns = [isFolder ? `${each}/` : each];
      const folders = [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index + 1));
      return !exemption(patterns)(file) || folders.every(exemptFolders(patterns));
    }),
    { numRuns: 2000 },
  );
  expect(exemptFolders(['docs/**'])('src/')).toBe(false);
  expect(exemptFolders([])('src/')).toBe(false);
});
