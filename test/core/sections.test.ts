import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { missingSections } from '../../src/core/text/sections.ts';

const SECTIONS = ['current work', 'progress', 'decisions', 'blockers', 'files', 'next steps'];
const has = (body: string, name: string) => missingSections(body, [name]).length === 0;

describe('missingSections', () => {
  test('names what is missing, in the order of the policy', () => {
    expect(missingSections('# Progress\n\n## Files\n', SECTIONS)).toEqual([
      'current work',
      'decisions',
      'blockers',
      'next steps',
    ]);
    expect(missingSections('', SECTIONS)).toEqual(SECTIONS);
    expect(missingSections('', [])).toEqual([]);
  });

  test.each([
    ['every level of ATX', SECTIONS.map((name, level) => `${'#'.repeat(level + 1)} ${name}\ntext`).join('\n')],
    [
      'setext, of one and of several lines',
      'Current work\n===\n\nProgress,\ndecisions\n---\n\nBlockers\n-\nFiles\n =====\n\nNext\nsteps\n===',
    ],
    [
      'capitals and punctuation',
      '# CURRENT-WORK:\n## **Progress**\n### 3. Decisions!\n# `Blockers`\n# Files (changed)\n# Next_Steps ##',
    ],
    ['one heading for several', '# Current work & progress, decisions / blockers; files → next steps'],
  ])('finds %s', (_, body) => {
    expect(missingSections(body, SECTIONS)).toEqual([]);
  });

  test.each([
    ['a word in a paragraph', 'The files are these.\n'],
    ['a hash without a space', '#files\n'],
    ['seven hashes', '####### files\n'],
    ['an indented line', '    # files\n\n\t# files\n'],
    ['a part of another word', '# Profiles\n'],
    ['words in another order', '# steps next\n'],
    ['fenced code', '```\n# files\n# next steps\n```\n'],
    ['code fenced by tildes', '~~~md\n# files\n```\n# next steps\n~~~\n'],
    ['a fence that a shorter one does not close', '````\n```\n# files\n# next steps\n````\n'],
    ['a fence that is never closed', '```sh\n# files\n# next steps\n'],
    ['an item above a rule', '- files\n---\n\n1. next steps\n---\n'],
    ['a quote above a rule', '> files\n---\n> next steps\n---\n'],
    ['two rules', '***\n---\nfiles\n\n---\nnext steps\n'],
  ])('does not take %s for a heading', (_, body) => {
    expect(missingSections(body, ['files', 'next steps'])).toEqual(['files', 'next steps']);
  });

  test('sees headings after code, and code within a paragraph is no block', () => {
    expect(has('```\ncode\n```\n# Files\n', 'files')).toBe(true);
    expect(has('``` a ``` b\n# Files\n', 'files')).toBe(true);
    expect(has('text\n    more\n# Files\n', 'files')).toBe(true);
  });

  test('letters beyond ASCII are letters', () => {
    expect(has('# Nächste Schritte\n', 'nächste schritte')).toBe(true);
    expect(has('# Na\u0308chste Schritte\n', 'NÄCHSTE SCHRITTE')).toBe(true);
    expect(has('# 次の手順\n', '次の手順')).toBe(true);
  });

  test('a heading for each section is always enough, whatever stands below it', () => {
    const prose = fc.string({ unit: 'binary' }).map((text) => text.replace(/[`~]/g, ''));
    fc.assert(
      fc.property(fc.array(prose, { minLength: 6, maxLength: 6 }), (texts) => {
        const body = SECTIONS.map((name, at) => `## ${name}\n${texts[at]}\n`).join('\n');
        expect(missingSections(body, SECTIONS)).toEqual([]);
      }),
    );
  });

  test.each(['a\n', '#', '# ', '`', '```\n', '~~~ \n', '- ', '-', '* * ', '=', '\t', ' ', '> ', '1. ', '``` `'])(
    'a quarter of a mebibyte of %j takes no time',
    (fragment) => {
      const body = fragment.repeat(262_144 / fragment.length);
      expect(missingSections(body, ['files'])).toEqual(['files']);
      expect(missingSections(`${body}x\``, ['files'])).toEqual(['files']);
    },
  );
});
