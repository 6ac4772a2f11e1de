import { parse } from 'smol-toml';
import { appendBlock, removeBlock } from './block.ts';
import { BOM } from './json-document.ts';
import { foreignServer, isOurs, SERVER_NAME } from './json-server.ts';
import { assertGivesBack, refusal, type SettingsPart } from './part.ts';

type Table = Record<string, unknown>;

const HEADER = `[mcp_servers.${SERVER_NAME}]`;
const START = { command: 'git-handoff', args: ['mcp'] };
const BLOCK = [HEADER, 'command = "git-handoff"', 'args = ["mcp"]'];

/**
 * Our server in Codex's settings: a table at the end, which TOML allows whatever stands before it. What is there is never written
 * anew; a parser reads the file before and after, and nothing but our table may differ.
 */
export const tomlServer: SettingsPart = {
  added(text) {
    const before = parsed(text ?? '');
    const server = serverIn(before);
    if (server) return isToday(server) ? text! : tomlServer.added(tomlServer.removed(text!));
    const added = appendBlock(text, BLOCK);
    assertOnlyOurs(before, parsed(added));
    assertGivesBack(tomlServer, text, added);
    return added;
  },
  removed(text) {
    const before = parsed(text);
    if (!serverIn(before)) return text;
    const { from, to } = tableIn(text);
    const left = removeBlock(text, from, to);
    if (left !== null) assertOnlyOurs(before, parsed(left));
    return left;
  },
  state(text) {
    const server = text === null ? null : serverIn(parsed(text));
    if (!server) return 'absent';
    return isToday(server) ? 'complete' : 'harmed';
  },
};

function parsed(text: string): Table {
  try {
    return parse(text.startsWith(BOM) ? text.slice(1) : text) as Table;
  } catch (cause) {
    const [first] = (cause as Error).message.split('\n');
    throw refusal(`is not TOML: ${first}`, 'Mend it there, and try again.');
  }
}

function serverIn({ mcp_servers: servers }: Table): Table | null {
  if (servers !== undefined && !isTable(servers))
    throw refusal('has no table under mcp_servers', 'Mend it there, and try again.');
  const found = servers?.[SERVER_NAME];
  if (found === undefined) return null;
  if (isTable(found) && isOurs(found)) return found;
  throw foreignServer(`mcp_servers.${SERVER_NAME}`);
}

function isToday(server: Table): boolean {
  return server.command === START.command && JSON.stringify(server.args) === JSON.stringify(START.args);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** From our header to before the next one, and not past what a user has written behind a blank line. */
function tableIn(text: string): { from: number; to: number } {
  const header = /^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?:handoff|"handoff")[ \t]*\][^\n]*/m.exec(
    text.replace(BOM, ' '),
  );
  if (!header)
    throw refusal(`has the server ${SERVER_NAME} in a form that cannot be taken out safely`, 'Remove it by hand.');
  const rest = text.slice(header.index);
  const end = /\r?\n(?=[ \t]*(?:\r?\n|\[|#|$(?![\s\S])))/.exec(rest)?.index ?? rest.length;
  return { from: header.index, to: header.index + end };
}

function assertOnlyOurs(before: Table, after: Table): void {
  if (JSON.stringify(withoutOurs(before)) === JSON.stringify(withoutOurs(after))) return;
  throw refusal('would mean something else afterwards', `Write ${HEADER} by hand: docs/agents.md has it.`);
}

/** JSON tells no date from a text, and no integer from a float: both were read from the same bytes, so nothing is lost by it. */
function withoutOurs(table: Table): Table {
  const { mcp_servers: servers, ...rest } = table;
  const { [SERVER_NAME]: _, ...others } = (servers ?? {}) as Table;
  return Object.keys(others).length > 0 ? { ...rest, mcp_servers: others } : rest;
}
