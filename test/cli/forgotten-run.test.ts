import { describe, expect, it } from 'vitest';
import { parse } from '../../src/cli/program.ts';

const refused = (...args: string[]): Promise<unknown> =>
  parse(args, '/').then(
    () => null,
    (error: unknown) => error,
  );

describe('a command behind -- without --run', () => {
  it.each([
    [['done', 'T1', 'It works.', '--', 'npm', 'test']],
    [['done', 'T1', '--', 'npm', 'test']],
    [['thought', 'T1', '--summary', 'It works.', '--', 'npm test']],
    [['done', 'T1', 'It works.', '--', 'make']],
    [['done', 'T1', '--no-code', '--', 'make']],
  ])('is refused, for nobody would run it: %j', async (args) => {
    const typed = args.slice(args.indexOf('--') + 1).map((word) => (word.includes(' ') ? `'${word}'` : word));
    const hint = expect.stringContaining(`--run -- ${typed.join(' ')} runs it`);
    expect(await refused(...args)).toMatchObject({ code: 'usage', hint });
  });

  it.each([
    [['done', 'T1', '--', '--strict is the default']],
    [['done', 'T1', '--', '-x', 'is', 'gone']],
    [['done', 'T1', '--', 'It works.']],
    [['done', 'T1', 'It works.', '--run', '--', 'npm', 'test']],
    [['done', 'T1', '--']],
    [['note', 'see', '--', 'npm', 'test']],
  ])('text that begins with a dash, or is one word of the shell, is text: %j', async (args) => {
    expect(await refused(...args)).toBe(null);
  });
});
