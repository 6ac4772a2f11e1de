import { expect, it } from 'vitest';
import { describe } from '../../src/cli/commands/described.ts';
import { COMMANDS } from '../../src/cli/commands/table.ts';
import { parse } from '../../src/cli/program.ts';

// Whoever names a verb waits for the description of that verb alone, and sees the same as if all were there.

it.each(COMMANDS.map((command) => [command.name, command] as const))(
  '%s is what the table of all says',
  async (name, command) => {
    for (const word of [name, ...(command.alias ? [command.alias] : [])]) {
      const found = await describe(['-C', 'dir', word]);
      expect(found).toHaveLength(1);
      expect(command).toMatchObject(found[0]!);
    }
  },
);

it('several may be named, and what is no verb names none', async () => {
  expect((await describe(['note', 'next'])).map(({ name }) => name)).toEqual(['note', 'next']);
  expect(await describe(['--help', 'notes', ''])).toEqual([]);
});

it('the main help has all verbs, whichever is named after it', async () => {
  const help = await parse(['--help'], '/');
  for (const args of [[], ['-h'], ['--help', 'note'], ['help']]) expect(await parse(args, '/')).toEqual(help);
  expect(await parse(['help', 'note'], '/')).toEqual(await parse(['note', '-h'], '/'));
});

it.each([
  [['nore', 'wrap'], /Did you mean note/],
  [['note', '--comit', 'x'], /Did you mean --commit/],
  [['wrap', '--session'], /git handoff wrap -h/],
  [['task'], /git handoff task -h/],
])('%j is told what comes nearest of all', async (args, hint) => {
  await expect(parse(args, '/')).rejects.toMatchObject({ code: 'usage', hint: expect.stringMatching(hint) });
});
