import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonHooks } from '../../src/runtimes/settings/json-hooks.ts';
import { jsonServer } from '../../src/runtimes/settings/json-server.ts';
import type { SettingsPart } from '../../src/runtimes/settings/part.ts';

const EVENTS = ['SessionStart', 'Stop', 'SessionEnd'];
const hooks = jsonHooks({ runtime: 'claude', events: EVENTS });
const server = jsonServer('mcpServers', { command: 'git-handoff', args: ['mcp'] });
const PARTS: [string, SettingsPart][] = [
  ['hooks', hooks],
  ['a server', server],
];

// A value is written in one of many ways: comments, line ends, white space and trailing commas are the user's.
const space = fc.constantFrom('', ' ', '\n', '\r\n', '\n  ', '\t', ' /* c, } */ ', ' // c, ]\n');
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)).map((value) => JSON.stringify(value));

function listOf(item: fc.Arbitrary<string>, [open, close]: [string, string]): fc.Arbitrary<string> {
  return fc
    .record({
      items: fc.array(item, { maxLength: 3 }),
      spaces: fc.array(space, { minLength: 9, maxLength: 9 }),
      trailing: fc.boolean(),
    })
    .map(({ items, spaces, trailing }) => {
      const written = items.map((each, at) => {
        const comma = at < items.length - 1 || trailing ? ',' : '';
        return spaces[2 * at] + each + spaces[2 * at + 1] + comma;
      });
      return open + written.join('') + spaces[8] + close;
    });
}

const { value: anyJson } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    leaf,
    listOf(tie('value'), ['[', ']']),
    objectOf(fc.string({ maxLength: 3 }), tie('value')),
  ),
}));

function objectOf(key: fc.Arbitrary<string>, item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const member = fc.tuple(key, space, item).map(([name, gap, value]) => `${JSON.stringify(name)}${gap}:${gap}${value}`);
  return listOf(member, ['{', '}']);
}

function member(name: string, item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return item.map((value) => `${JSON.stringify(name)}: ${value}`);
}

/** What a user may have under the keys that we write to. */
const groups = listOf(
  fc.oneof(
    anyJson.filter((text) => !text.startsWith('{')),
    objectOf(fc.constant('matcher'), leaf),
    listOf(member('hooks', listOf(objectOf(fc.constant('command'), leaf), ['[', ']'])), ['{', '}']),
  ),
  ['[', ']'],
);
const eventMap = fc
  .uniqueArray(fc.constantFrom(...EVENTS, 'PreToolUse'), { maxLength: 3 })
  .chain((names) => membersOf(names.map((name) => member(name, groups))));
const servers = fc
  .uniqueArray(fc.constantFrom('other', 'third'), { maxLength: 2 })
  .chain((names) => membersOf(names.map((name) => member(name, anyJson))));
const settings = fc
  .subarray([member('hooks', eventMap), member('mcpServers', servers), member('model', anyJson)])
  .chain(membersOf);

function membersOf(members: fc.Arbitrary<string>[]): fc.Arbitrary<string> {
  return fc
    .tuple(fc.tuple(...members), fc.array(space, { minLength: 9, maxLength: 9 }), fc.boolean())
    .map(([texts, spaces, trailing]) => {
      const written = texts.map((text, at) => {
        const comma = at < texts.length - 1 || trailing ? ',' : '';
        return spaces[2 * at] + text + spaces[2 * at + 1] + comma;
      });
      return `{${written.join('')}${spaces[8]}}`;
    });
}

const files = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(fc.constantFrom('', '\ufeff'), space, settings, space).map((parts) => parts.join('')),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('', '\ufeff'), fc.stringMatching(/^[ \t\n]*$/)).map((parts) => parts.join('')),
  },
);

describe.each(PARTS)('%s in a file of settings', (_, part) => {
  test('are taken out again to the byte, however the file is written', () => {
    fc.assert(
      fc.property(files, (text) => {
        const added = part.added(text);
        expect(part.state(added)).toBe('complete');
        expect(part.removed(added)).toBe(text);
        expect(part.added(added)).toBe(added);
      }),
      { numRuns: 2000 },
    );
  });

  test('leave no file where there was none', () => {
    expect(part.removed(part.added(null))).toBeNull();
  });
});
