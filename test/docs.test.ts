import { describe, expect, it } from 'vitest';
import { GLOBAL_FLAGS, isFamily, type Verb } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands/table.ts';
import { formatFamilyHelp, formatMainHelp, formatVerbHelp } from '../src/cli/help.ts';
import { DOCUMENTS, readDocument as read } from './documents.ts';

/** What exists, by its first word; for families what may follow. */
const VERBS = new Map<string, Set<string> | null>(
  COMMANDS.flatMap((command) => {
    const second = isFamily(command) ? new Set(command.verbs.map(({ name }) => name)) : null;
    return [command.name, ...(command.alias ? [command.alias] : [])].map((name) => [name, second] as const);
  }),
);

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

/** The options of a verb by what is called: `wrap`, `identity add`. */
const OPTIONS = new Map<string, Set<string>>(
  COMMANDS.flatMap((command) =>
    isFamily(command)
      ? command.verbs.map((verb) => [`${command.name} ${verb.name}`, optionsOf(verb)] as const)
      : [command.name, ...(command.alias ? [command.alias] : [])].map((name) => [name, optionsOf(command)] as const),
  ),
);

function optionsOf({ flags }: Verb): Set<string> {
  const all = [...GLOBAL_FLAGS, ...flags].flatMap((flag) => flag.flags.match(/--[a-z-]+/g) ?? []);
  return new Set([...all, '--help']);
}

/** Of every call in a line. A call ends where a shell ends it, and at ` -- `; what is quoted, or a comment, gives no options. */
function unknownOptions(line: string): string[] {
  const plain = line.replace(/"[^"]*"|'[^']*'/g, 'TEXT').replace(/ #.*/, '');
  return plain.split(/[|;()]| -- |&&/).flatMap((part) => {
    const [, call = ''] = /\bgit[ -]handoff (.*)/.exec(part) ?? [];
    const words = call.replace(/-C \S+ /, '').split(/\s+/);
    const known = OPTIONS.get(words.slice(0, 2).join(' ')) ?? OPTIONS.get(words[0]!);
    const given = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/=.*/, ''));
    return known ? given.filter((word) => !known.has(word)).map((word) => `${words[0]} ${word}`) : [];
  });
}

describe('SPEC-040 §5.9 what is documented exists', () => {
  it.each(DOCUMENTS)('every verb that %s calls is one', (path) => {
    expect(calls(code(read(path))).filter((call) => !isThere(call))).toEqual([]);
  });

  it('every verb that the help calls is one', () => {
    const called = calls(help);
    expect(called.length).toBeGreaterThan(COMMANDS.length);
    expect(called.filter((call) => !isThere(call))).toEqual([]);
  });

  it.each(DOCUMENTS)('every option that %s gives a verb is one of it', (path) => {
    expect(code(read(path)).split('\n').flatMap(unknownOptions)).toEqual([]);
  });

  it('every verb that exists is in docs/commands.md', () => {
    const page = read('docs/commands.md');
    for (const name of VERBS.keys()) expect(page, name).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('an option that does not exist would be found, and what another command gets is none', () => {
    const text = 'git handoff wrap --soon && git handoff start --as donna --now | sort --unique # --later';
    expect(unknownOptions(text)).toEqual(['wrap --soon', 'start --now']);
    expect(unknownOptions('git handoff thought P0.1 "a --b" --run -- npm test --all')).toEqual([]);
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
    expect(read(path)).not.toMatch(/not (?:yet |been )?implemented|\bunimplemented\b|coming soon/i);
    expect(read(path)).not.toMatch(/\b(?:NYI|TODO|TBD)\b/); // `todo` is what a task can be
  });

  it('the help', () => {
    expect(help).not.toMatch(/not (?:yet )?implemented|coming soon/i);
    expect(help).not.toMatch(/\b(?:NYI|TODO)\b/);
  });
});
