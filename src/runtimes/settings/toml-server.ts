import { isDeepStrictEqual } from 'node:util';
import { parse } from 'smol-toml';
import { HandoffError } from '../../core/error.ts';
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
    assertOnlyOurs(before, withTable(added));
    assertGivesBack(tomlServer, text, added);
    return added;
  },
  removed(text) {
    const before = parsed(text);
    if (!serverIn(before)) return text;
    // what looks like our header may be a line of a text: the right one is that without which nothing else is different
    for (const { from, to } of tablesIn(text).reverse()) {
      const left = removeBlock(text, from, to);
      if (left === null || isOnlyOursGone(before, left)) return left;
    }
    throw refusal(`has the server ${SERVER_NAME} in a form that cannot be taken out safely`, 'Remove it by hand.');
  },
  state(text) {
    const server = text === null ? null : serverIn(parsed(text));
    if (!server) return 'absent';
    return isToday(server) ? 'complete' : 'harmed';
  },
};

function parsed(text: string): Table {
  try {
    return parse(text.startsWith(BOM) ? text.slice(1) : text, { integersAsBigInt: 'asNeeded' });
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

const HEADERS = /(?<=^\ufeff?)[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*(?:handoff|"handoff")[ \t]*\]/gm;

/** From a header to before the next one; comments and blank lines before that belong to it. */
function tablesIn(text: string): { from: number; to: number }[] {
  return [...text.matchAll(HEADERS)].map(({ index }) => {
    const rest = text.slice(index);
    const next = /\n[ \t]*\[/.exec(rest)?.index ?? rest.length;
    const own = rest.slice(0, next).replace(/(?:\r?\n[ \t]*(?:#[^\n]*)?)*\r?$/, '');
    return { from: index, to: index + own.length };
  });
}

/** TOML lets nobody add to what was written in one line. */
function withTable(added: string): Table {
  try {
    return parsed(added);
  } catch {
    throw refusal(`cannot take ${HEADER} at its end`, 'Write mcp_servers as tables, not in one line, and try again.');
  }
}

function isOnlyOursGone(before: Table, text: string): boolean {
  try {
    const left = parsed(text);
    const { mcp_servers: servers } = left;
    return !(isTable(servers) && SERVER_NAME in servers) && isDeepStrictEqual(withoutOurs(before), withoutOurs(left));
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error;
    return false;
  }
}

function assertOnlyOurs(before: Table, after: Table): void {
  if (isDeepStrictEqual(withoutOurs(before), withoutOurs(after))) return;
  throw refusal('would mean something else afterwards', `Write ${HEADER} by hand: docs/agents.md has it.`);
}

function withoutOurs(table: Table): Table {
  const { mcp_servers: servers, ...rest } = table;
  const { [SERVER_NAME]: _, ...others } = (servers ?? {}) as Table;
  return Object.keys(others).length > 0 ? { ...rest, mcp_servers: others } : rest;
}
