import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { PROGRAMS } from '../../src/runtimes/programs.ts';
import type { RuntimeName } from '../../src/runtimes/runtime.ts';
import { emptyPlace } from '../handoff.ts';
import { casesOf, commandInJson, type SettingsCase } from './cases.ts';

const SERVER = '{"command": "git-handoff", "args": ["mcp"]}';
const SERVER_WORDS = {
  WITHIN: 'mcpServers',
  OURS: SERVER,
  MORE: '{"env": {"A": "1"}, "command": "git-handoff", "args": ["mcp"], "timeout": 5}',
  OLD: '{"command": "npx", "args": ["-y", "git-handoff", "mcp"]}',
};
const LOCAL = '{"type": "local", "command": ["git-handoff", "mcp"], "enabled": true}';
const LOCAL_WORDS = {
  WITHIN: 'mcp',
  OURS: LOCAL,
  MORE: '{"type": "local", "command": ["git-handoff", "mcp"], "enabled": false, "environment": {}}',
  OLD: '{"type": "local", "command": ["npx", "git-handoff", "mcp"]}',
};

function hookWords(name: RuntimeName): Record<string, string> {
  const event = PROGRAMS.find((program) => program.name === name)!.events[0]!;
  return { RUNTIME: name, EVENT: event, OURS: commandInJson(name, event) };
}

const FILES: [RuntimeName, string, SettingsCase[]][] = [
  ['claude', '.claude/settings.json', casesOf('hooks', hookWords('claude'))],
  ['codex', '.codex/hooks.json', casesOf('hooks', hookWords('codex'))],
  ['gemini', '.gemini/settings.json', casesOf('hooks', hookWords('gemini'))],
  ['claude', '.mcp.json', casesOf('servers', SERVER_WORDS)],
  ['copilot', '.mcp.json', casesOf('servers', SERVER_WORDS)],
  ['gemini', '.gemini/settings.json', casesOf('servers', SERVER_WORDS)],
  ['opencode', 'opencode.json', casesOf('servers', LOCAL_WORDS)],
  ['opencode', 'opencode.jsonc', casesOf('servers', LOCAL_WORDS)],
  ['codex', '.codex/config.toml', casesOf('toml', {})],
];

test.each(FILES)('of %s %s there are at least twenty', (_, __, cases) => {
  expect(cases.length).toBeGreaterThanOrEqual(20);
});

describe.each(FILES)('%s: %s', (runtime, path, cases) => {
  test.each(cases.map((each) => [each.name, each] as const))('%s', async (_, { text, outcome, reason, left }) => {
    const { dir, handoff } = emptyPlace();
    const file = join(dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    if (outcome === 'refused') {
      const error = await handoff.connect({ runtime: [runtime] }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(HandoffError);
      expect(error).toMatchObject({ code: 'settings_refused', data: { path: file } });
      expect((error as Error).message).toContain(reason);
      expect(contents(dir)).toEqual({ [path]: text });
      await handoff.close();
      return;
    }
    await handoff.connect({ runtime: [runtime] });
    const connected = contents(dir);
    const users = outcome === 'merged' ? (text.match(/agent-event/g) ?? []).length : 0;
    expect(oursIn(connected[path]!, path) - users).toBe(expectedOurs(runtime, path));
    await handoff.connect({ runtime: [runtime] });
    expect(contents(dir)).toEqual(connected);
    await handoff.disconnect({ runtime: [runtime] });
    const kept = outcome === 'merged' ? text : left;
    expect(contents(dir)).toEqual(kept === null ? {} : { [path]: kept });
    await handoff.close();
  });
});

/** How often something of ours is in a file. TOML does not let a table be there twice. */
function oursIn(text: string, path: string): number {
  if (path.endsWith('.toml'))
    return 'handoff' in (parse(text.replace('\ufeff', ''), { integersAsBigInt: true }).mcp_servers as object) ? 1 : 0;
  return (text.match(/agent-event \w+|"handoff": \{/g) ?? []).length;
}

function expectedOurs(runtime: RuntimeName, path: string): number {
  const { events } = PROGRAMS.find(({ name }) => name === runtime)!;
  if (path.endsWith('hooks.json') || path === '.claude/settings.json') return events.length;
  return path === '.gemini/settings.json' ? events.length + 1 : 1;
}

/** Every file of a work tree. */
function contents(dir: string): Record<string, string> {
  const names = (readdirSync(dir, { recursive: true }) as string[]).filter((name) => !name.startsWith('.git/'));
  const files = names.filter((name) => statSync(join(dir, name)).isFile());
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}
