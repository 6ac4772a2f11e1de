import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { markedSection } from '../../src/runtimes/settings/marked.ts';
import { SettingsPlan } from '../../src/verbs/agents/settings-plan.ts';
import { writePlan } from '../../src/verbs/agents/settings-write.ts';
import { temporaryDirectory } from '../temporary.ts';

const part = markedSection('ours', ['line']);

/** A plan of the same part for each name, in a folder of its own. */
function plan(...names: string[]) {
  const top = temporaryDirectory();
  const boundary = { roots: [top], name: 'here' };
  const made = new SettingsPlan({ top, boundary });
  return {
    top,
    add: () => names.map((name) => made.add({ use: 'text', paths: [name], part })),
    write: () => writePlan(made.files, boundary),
    read: (name: string) => readFileSync(join(top, name), 'utf8'),
  };
}

test('a file that a program has written meanwhile is not overwritten, and no other is written', () => {
  const { top, add, write, read } = plan('a.md', 'b.md');
  writeFileSync(join(top, 'a.md'), 'a\n');
  writeFileSync(join(top, 'b.md'), 'b\n');
  add();
  writeFileSync(join(top, 'b.md'), 'b, and more\n');
  expect(write).toThrow(expect.objectContaining({ code: 'settings_refused', data: { path: join(top, 'b.md') } }));
  expect([read('a.md'), read('b.md')]).toEqual(['a\n', 'b, and more\n']);
});

test('a file that appeared meanwhile is not overwritten', () => {
  const { top, add, write, read } = plan('a.md', 'b.md');
  add();
  writeFileSync(join(top, 'b.md'), 'theirs\n');
  expect(write).toThrow(expect.objectContaining({ code: 'settings_refused' }));
  expect(() => read('a.md')).toThrow('ENOENT');
  expect(read('b.md')).toBe('theirs\n');
});

test('where one cannot be written, those before it are put back', () => {
  const { top, add, write, read } = plan('a.md', 'new/c.md', 'b/x.md');
  writeFileSync(join(top, 'a.md'), 'a\n');
  chmodSync(join(top, 'a.md'), 0o640);
  add();
  writeFileSync(join(top, 'b'), 'a file where a folder was to be made');
  expect(write).toThrow(expect.objectContaining({ code: 'io' }));
  expect(read('a.md')).toBe('a\n');
  expect(() => read('new/c.md')).toThrow('ENOENT');
});

test('two names of one file are one file', () => {
  const { top, add, write, read } = plan('a.md', './sub/../a.md');
  mkdirSync(join(top, 'sub'));
  const [one, other] = add();
  write();
  expect(one).toBe(other);
  expect(read('a.md')).toBe('<!-- ours: begin -->\nline\n<!-- ours: end -->\n');
});
