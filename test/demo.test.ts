import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
let lines: string[] = [];

beforeAll(() => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['examples/demo.mjs'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  lines = stdout.trimEnd().split('\n');
});

describe('npm run demo', () => {
  it('has fewer than 80 lines, with the dozen that npm prints before them', () => {
    expect(lines.length).toBeLessThan(80 - 12);
  });

  it('says what it shows before it shows it', () => {
    const headings = lines.flatMap((line, at) => (line.startsWith('— ') ? [at] : []));
    expect(headings.length).toBeGreaterThan(4);
    for (const at of headings) expect(lines[at + 1]).toMatch(/^\$ /);
    expect(lines.findIndex((line) => line.startsWith('$ '))).toBeGreaterThan(headings[0]!);
  });

  it('prints nothing but what a command above it has printed', () => {
    const answers = lines.flatMap((line, at) => (line.startsWith('  ') ? [at] : []));
    expect(answers.length).toBeGreaterThan(10);
    for (const at of answers) expect(lines[at - 1]).toMatch(/^(?:\$ | {2})/);
    const others = lines.slice(1, -1).filter((line) => !/^(?:$|— |\$ | {2})/.test(line));
    expect(others).toEqual([]);
  });

  it('names no file of the machine it ran on', () => {
    expect(lines.filter((line) => line.includes(ROOT) || line.includes('undefined'))).toEqual([]);
  });
});
