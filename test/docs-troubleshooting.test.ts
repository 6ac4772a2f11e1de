import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, HandoffError } from '../src/core/error.ts';

const ROOT = join(import.meta.dirname, '..');
const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8');

/** The table of codes is no value that could be imported, so that nobody relies on its order: its source is read. */
const table = readFileSync(join(ROOT, 'src/core/error.ts'), 'utf8').split('const EXIT = {')[1]!.split('} as const')[0]!;
const codes = [...table.matchAll(/^ {2}([a-z_]+): [1-4],$/gm)].map(([, code]) => code as ErrorCode);

interface Entry {
  code: string;
  exit: number;
  text: string;
}

const entries: Entry[] = page.split(/^## Exit /m).flatMap((section, at) => {
  const exit = Number(section[0]);
  return at === 0
    ? []
    : section
        .split(/^### /m)
        .slice(1)
        .map((text) => ({ code: text.split('\n', 1)[0]!, exit, text }));
});

describe('docs/troubleshooting.md', () => {
  it('has the codes that exist, each once, and no other', () => {
    expect(codes.length).toBeGreaterThan(60);
    expect(entries.map(({ code }) => code).sort()).toEqual([...codes].sort());
    expect(page.match(/^### /gm)).toHaveLength(entries.length);
  });

  it('has each of them under its exit code', () => {
    const exitOf = (code: string) => new HandoffError(code as ErrorCode, '').exitCode;
    expect(entries.filter(({ code, exit }) => exitOf(code) !== exit)).toEqual([]);
  });

  it.each(entries)('says of $code what it means, why it happens and what to type', ({ text }) => {
    expect(text).toMatch(/^\w+\n\n- Means: \S[\s\S]+\n- Why: \S[\s\S]+\n- Type: \S/);
    const type = text.split('\n- Type: ')[1]!;
    if (!/^(?:what the hint says|the same command)/.test(type)) expect(type).toMatch(/`[^`]+`/);
  });
});
