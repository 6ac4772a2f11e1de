import { getNodeValue, type Node } from 'jsonc-parser';
import { addValue, replaceValue } from './json-add.ts';
import { memberOf, parseSettings, typedMember } from './json-document.ts';
import { removeValue } from './json-remove.ts';
import { assertGivesBack, refusal, type SettingsPart } from './part.ts';

/** The name that every runtime knows our server by. */
export const SERVER_NAME = 'handoff';

/** What starts a server, under the keys that a runtime has for it. */
type Start = Readonly<Record<string, unknown>>;

/** What else stands in an entry of ours, or in a file that was made for it; a user may change that. */
interface Extras {
  inEntry?: Readonly<Record<string, unknown>>;
  /** For a program that would otherwise write it there itself, and so change the file. */
  inNewFile?: Readonly<Record<string, unknown>>;
}

/** A server of the Model Context Protocol, in the object that a runtime keeps its servers in. */
export function jsonServer(within: string, start: Start, { inEntry = {}, inNewFile = {} }: Extras = {}): SettingsPart {
  const fresh = addValue(null, { path: [within], key: SERVER_NAME, value: { ...start, ...inEntry } });
  const part: SettingsPart = {
    added(text) {
      if (text === null) return withMore(fresh, inNewFile);
      const found = serverIn(text, within);
      if (found) return startedBy(found, start) ? text : replaceValue(text, found, { ...settingsOf(found), ...start });
      const added = addValue(text, { path: [within], key: SERVER_NAME, value: { ...start, ...inEntry } });
      assertGivesBack(part, text, added);
      return added;
    },
    removed(text) {
      const found = serverIn(text, within);
      if (!found) return text;
      return text === withMore(fresh, inNewFile) ? null : removeValue(text, found);
    },
    state(text) {
      const found = text === null ? null : serverIn(text, within);
      if (!found) return 'absent';
      return startedBy(found, start) ? 'complete' : 'harmed';
    },
  };
  return part;
}

/** Behind ours: in a user's file it stands before it, so that the two can be told apart. */
function withMore(text: string, more: Readonly<Record<string, unknown>>): string {
  return Object.entries(more).reduce((whole, [key, value]) => addValue(whole, { path: [], key, value }), text);
}

/** Ours, in whatever form; null where there is none. Another one under the name is somebody else's, and stays. */
function serverIn(text: string, within: string): Node | null {
  const root = parseSettings(text);
  const servers = root && typedMember(root, within, 'object');
  const found = servers && memberOf(servers, SERVER_NAME);
  if (!found) return null;
  if (isOurs(settingsOf(found))) return found;
  throw foreignServer(`${within}.${SERVER_NAME}`);
}

/** Whatever else a user has set for it, it runs git-handoff. */
export function isOurs({ command, args }: Readonly<Record<string, unknown>>): boolean {
  const words = [command, args].flat().filter((word) => typeof word === 'string');
  return words.some((word) => word.includes('git-handoff')) && words.includes('mcp');
}

export function foreignServer(name: string): Error {
  return refusal(`has another server under the name ${name}`, 'Give that one another name, and try again.');
}

function startedBy(found: Node, start: Start): boolean {
  const value = settingsOf(found);
  return Object.entries(start).every(([key, wanted]) => JSON.stringify(value[key]) === JSON.stringify(wanted));
}

function settingsOf(node: Node): Record<string, unknown> {
  return node.type === 'object' ? getNodeValue(node) : {};
}
