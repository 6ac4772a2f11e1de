import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isFamily } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands/table.ts';
import { formatCommandsPage } from '../src/cli/commands-page.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/commands.md'), 'utf8');

it('docs/commands.md is what the commands say of themselves now; npm run docs writes it', () => {
  expect(page).toBe(formatCommandsPage());
});

it('every verb has a heading, and every heading that the contents name is there', () => {
  const verbs = COMMANDS.flatMap((command) =>
    isFamily(command) ? command.verbs.map(({ name }) => `#### git handoff ${command.name} ${name}`) : [],
  );
  for (const heading of [...COMMANDS.map(({ name }) => `### git handoff ${name}`), ...verbs])
    expect(page.split('\n')).toContain(heading);
});
