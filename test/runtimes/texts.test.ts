import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from '../../src/cli/program.ts';
import { claudePlugin } from '../../src/runtimes/claude-plugin.ts';
import { PROGRAMS } from '../../src/runtimes/programs.ts';
import { agentsSection, SKILL } from '../../src/runtimes/texts.ts';

const ROOT = join(import.meta.dirname, '../..');

test('examples/claude-plugin has what the source says, and nothing else: npm run docs writes it', () => {
  const folder = join(ROOT, 'examples/claude-plugin');
  const names = (readdirSync(folder, { recursive: true }) as string[]).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const found = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const { 'README.md': _, ...written } = found;
  expect(written).toEqual(claudePlugin(version));
});

test('the skill has at most 600 words, and one text for every program', () => {
  expect(SKILL.split(/\s+/).filter((word) => /\w/.test(word)).length).toBeLessThanOrEqual(600);
  const wish = { digest: () => '0000000000000000' };
  const skills = PROGRAMS.flatMap((program) =>
    program.project(wish).filter(({ paths }) => paths[0]!.endsWith('SKILL.md')),
  );
  expect(skills).toHaveLength(PROGRAMS.length);
  expect(new Set(skills.map(({ part }) => part.added(null))).size).toBe(1);
});

/** A text that tells an agent to type what does not exist does harm. */
test('every command that the skill and AGENTS.md name exists, with those words', async () => {
  const text = SKILL + agentsSection.added(null);
  const commands = [...text.matchAll(/(?:`|^ {4})git handoff ([^`\n]+)/gm)].map(([, words]) => words!);
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
    if (!words.includes('VERB')) await expect(parse(words, '/'), command).resolves.toBeDefined();
  }
});
