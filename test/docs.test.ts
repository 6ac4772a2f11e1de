import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isFamily } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands/table.ts';
import { formatFamilyHelp, formatMainHelp, formatVerbHelp } from '../src/cli/help.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What exists, by its first word; for families what may follow. */
const VERBS = new Map<string, Set<string> | null>(
  COMMANDS.flatMap((command) => {
    const second = isFamily(command) ? new Set(command.verbs.map(({ name }) => name)) : null;
    return [command.name, ...(command.alias ? [command.alias] : [])].map((name) => [name, second] as const);
  }),
);

const pages = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const DOCUMENTS = ['SPEC.md', 'README.md', 'CONTRIBUTING.md', ...pages('docs')];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const help = [
  formatMainHelp(COMMANDS),
  ...COMMANDS.flatMap((command) =>
    isFamily(command)
      ? [formatFamilyHelp(command), ...command.verbs.map((verb) => formatVerbHelp(verb, command.name))]
      : [formatVerbHelp(command, '')],
  ),
].join('\n');

/** `git handoff <verb> [<second word>]` wherever a text calls it so; options before the verb are passed over. */
function calls(text: string): [string, string][] {
  const call = /\bgit[ -]handoff((?: -C \S+| --json| --as \S+)*) ([a-z][a-z-]*)(?: ([a-z]+))?/g;
  return [...text.matchAll(call)].map(([, , verb = '', second = '']) => [verb, second]);
}

function isThere([verb, second]: [string, string]): boolean {
  const family = VERBS.get(verb);
  return family === null || (family !== undefined && (second === '' || family.has(second)));
}

/** Words after "git-handoff" in prose, which name the program and not a verb of it. */
const code = (text: string): string =>
  [...text.matchAll(/```[a-z]*\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span).join('\n');

describe('SPEC-040 §5.9 what is documented exists', () => {
  it.each(DOCUMENTS)('every verb that %s calls is one', (path) => {
    expect(calls(code(read(path))).filter((call) => !isThere(call))).toEqual([]);
  });

  it('every verb that the help calls is one', () => {
    const called = calls(help);
    expect(called.length).toBeGreaterThan(COMMANDS.length);
    expect(called.filter((call) => !isThere(call))).toEqual([]);
  });

  it('every verb that exists is in the README', () => {
    const readme = read('README.md');
    for (const name of VERBS.keys()) expect(readme, name).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('a verb that does not exist would be found', () => {
    const text = 'Run `git handoff vapour --now`, `git handoff identity forge x` or `git handoff --as donna wraps`.';
    expect(calls(code(text)).filter((call) => !isThere(call))).toEqual([
      ['vapour', ''],
      ['identity', 'forge'],
      ['wraps', ''],
    ]);
  });
});

describe('SPEC-040 §5.10 nothing is marked as yet to come', () => {
  it.each(DOCUMENTS)('%s', (path) => {
    expect(read(path)).not.toMatch(/not (?:yet |been )?implemented|\bNYI\b|\bunimplemented\b|coming soon|\bTBD\b/i);
    expect(read(path)).not.toMatch(/\bTODO\b/); // in small letters it is the state of a task
  });

  it('the help', () => {
    expect(help).not.toMatch(/not (?:yet )?implemented|\bNYI\b|coming soon/i);
    expect(help).not.toMatch(/\bTODO\b/);
  });
});
