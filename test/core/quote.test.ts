import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { quoteWord } from '../../src/core/text/quote.ts';
import { HOSTILE_IDS } from '../journal/forged-holders.ts';
import { temporaryDirectory } from '../temporary.ts';

// Threat 71: what others named must stay one word in a command that is printed for somebody to type.

const WORDS = [
  ...HOSTILE_IDS.filter((word) => !word.includes('\0')),
  ...[
    '$HOME',
    '~',
    '~root',
    '*',
    '?',
    '[a]',
    '!x',
    '#x',
    'a#b',
    '&',
    '|',
    '>x',
    '<x',
    '(x)',
    '{a,b}',
    'a=b',
    '\\',
    '\t',
  ],
  ...['', ' ', "'", "''", '"', "it's", 'refs/heads/$(touch pwned)', 'feature/`touch pwned`', 'a;b', 'ünïcode'],
];

describe.each(['sh', 'bash'])('%s', (shell) => {
  it('reads back what was quoted, and runs nothing', () => {
    const cwd = temporaryDirectory();
    for (const word of WORDS) {
      const out = execFileSync(shell, ['-c', `printf '%s|' ${quoteWord(word)}`], { cwd, encoding: 'utf8' });
      expect(out).toBe(`${word}|`);
    }
    expect(readdirSync(cwd)).toEqual([]);
  });
});

it('leaves plain words as they are', () => {
  for (const word of ['P0.1.1', '7c1f09aa', 'donna', 'origin', '.handoff/tasks/P0.1.yaml', 'feature/x-1'])
    expect(quoteWord(word)).toBe(word);
});
