import { describe, expect, it } from 'vitest';
import { decodeName, decodeNames } from '../../src/git/objects/name-text.ts';
import { compareCommits, compareTags, compareTrees } from './readers.ts';

// THREATS 45. test/git/readers-many.test.ts compares thousands.

describe('objects that nobody would write are read as git reads them, or refused', () => {
  it('commits', () => {
    const { read, refused } = compareCommits({ count: 400, seed: 1 });
    expect(Math.min(read, refused)).toBeGreaterThan(50);
  });

  it('trees', () => {
    const { read, refused } = compareTrees({ count: 150, seed: 2 });
    expect(Math.min(read, refused)).toBeGreaterThan(20);
  });

  it('tags', async () => {
    const { read, refused } = await compareTags({ count: 100, seed: 3 });
    expect(Math.min(read, refused)).toBeGreaterThan(5);
  });
});

describe('names that are no UTF-8', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1');

  it('never become one another, nor one that is', () => {
    const names = ['\xff', '\xfe', '\xc3', 'a\xff', '\xef\xbf\xbd', '\xef\xbf\xbdff', 'ff', '\xc3\xbc', '\xc3\xbc\xff'];
    expect(new Set(names.map((name) => decodeName(bytes(name)))).size).toBe(names.length);
    expect(decodeName(bytes('caf\xe9'))).toBe('caf\ufffde9');
    expect(decodeName(Buffer.from('café'))).toBe('café');
  });

  it('are told apart in a list', () => {
    expect(decodeNames(bytes('a\0\xff\0\xfe\0'))).toEqual(['a', '\ufffdff', '\ufffdfe']);
    expect(decodeNames(Buffer.from('ü\0b\0'))).toEqual(['ü', 'b']);
  });
});
