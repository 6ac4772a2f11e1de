import fc from 'fast-check';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { jsonHooks } from '../../src/runtimes/settings/json-hooks.ts';
import { jsonServer } from '../../src/runtimes/settings/json-server.ts';
import { tomlServer } from '../../src/runtimes/settings/toml-server.ts';

const lineEnd = fc.constantFrom('\n', '\r\n');
const line = fc.constantFrom(
  'a%N = 1 # one',
  "  b%N   =  'x # y'",
  '"k %N" = """\n[mcp_servers.handoff]\n"""',
  'l%N = [\n  1, # c\n\n  2,\n]',
  'd%N = 2026-01-02',
  '# [mcp_servers.handoff]',
  '',
  '\t',
  '[t%N]',
  '[t%N . "x y"] # t',
  '[[list%N]]',
  '[mcp_servers.s%N]',
);

const files = fc
  .record({
    bom: fc.constantFrom('', '\ufeff'),
    lines: fc.array(line, { maxLength: 12 }),
    end: lineEnd,
    closed: fc.boolean(),
  })
  .map(({ bom, lines, end, closed }) => {
    const numbered = lines.map((text, at) => text.replaceAll('%N', String(at)).replaceAll('\n', end));
    return bom + numbered.join(end) + (closed && numbered.length > 0 ? end : '');
  });

test('a table in TOML is taken out again to the byte, however the file is written', () => {
  fc.assert(
    fc.property(files, (text) => {
      const added = tomlServer.added(text);
      const { mcp_servers: servers } = parse(added.replace('\ufeff', ''));
      expect(servers).toMatchObject({ handoff: { command: 'git-handoff', args: ['mcp'] } });
      expect(tomlServer.state(added)).toBe('complete');
      expect(tomlServer.added(added)).toBe(added);
      expect(tomlServer.removed(added)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('what a user writes behind it stays', () => {
  fc.assert(
    fc.property(files, fc.constantFrom('\n[z]\nx = 1\n', '\r\n# mine\r\n[z]\r\n', '[z]\n'), (text, more) => {
      const added = tomlServer.added(text);
      const whole = added.endsWith('\n') ? added + more : `${added}\n${more}`;
      const { mcp_servers: _, ...left } = parse(tomlServer.removed(whole)!.replace('\ufeff', ''));
      const { mcp_servers: __, ...wanted } = parse(`${text.replace('\ufeff', '')}\n${more}`);
      expect(left).toEqual(wanted);
    }),
    { numRuns: 1000 },
  );
});

test('hooks and a server in one file are taken out in the order in which they came, and give back every empty object', () => {
  const hooks = jsonHooks({ runtime: 'gemini', events: ['SessionStart', 'AfterAgent'] });
  const server = jsonServer('mcpServers', { command: 'git-handoff', args: ['mcp'] });
  const texts = [
    '',
    ' ',
    '{}',
    '{ }',
    '{\n}\n',
    '{"hooks":{}}',
    '{"mcpServers":{}}',
    '{"hooks":{},"mcpServers":{ }}\n',
    '{"hooks":{"AfterAgent":[]}}',
  ];
  for (const text of texts) {
    const both = server.added(hooks.added(text));
    expect(hooks.removed(server.removed(both)!)).toBe(text);
  }
  expect(hooks.removed(server.removed(server.added(hooks.added(null)))!)).toBeNull();
});
