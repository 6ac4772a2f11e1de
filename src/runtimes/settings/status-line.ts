import type { Node } from 'jsonc-parser';
import type { RuntimeName } from '../runtime.ts';
import { addValue, replaceValue } from './json-add.ts';
import { memberOf, parseSettings, textOf } from './json-document.ts';
import { removeValue } from './json-remove.ts';
import { assertGivesBack, type SettingsPart } from './part.ts';

// A program has one status line, and tells nobody else how full its context is. So ours runs in the place of the user's own, and shows
// that. The user's own command stands in ours, once, so that it can be given back; it also runs where git-handoff is not installed.

/** `{statusLine: {type: "command", command}}`, as Claude Code has it. */
export function statusLine(runtime: RuntimeName): SettingsPart {
  const alone = `h=$(command -v git-handoff-hook) && exec "$h" status-line ${runtime}; exit 0`;
  const around = (own: string): string =>
    `o=${quoted(own)}; h=$(command -v git-handoff-hook) && exec "$h" status-line ${runtime} "$o"; exec sh -c "$o"`;
  const wanted = (command: string | null): string => {
    const own = command !== null && isOurs(command) ? ownIn(command) : command;
    return own === null ? alone : around(own);
  };
  const part: SettingsPart = {
    added(text) {
      const found = text === null ? null : lineIn(text);
      if (found && isUsers(found)) return text!;
      const added = found
        ? replaceValue(text!, found.node, wanted(found.command))
        : addValue(text, { path: [], key: 'statusLine', value: { type: 'command', command: alone } });
      if (!found || !isOurs(found.command ?? '')) assertGivesBack(part, text, added);
      return added;
    },
    removed(text) {
      const found = lineIn(text);
      if (found?.command == null || !isOurs(found.command)) return text;
      const own = ownIn(found.command);
      return own === null ? removeValue(text, found.line) : replaceValue(text, found.node, own);
    },
    state(text) {
      const found = text === null ? null : lineIn(text);
      if (found && isUsers(found)) return 'complete';
      if (!found?.command || !isOurs(found.command)) return 'absent';
      return found.command === wanted(found.command) ? 'complete' : 'harmed';
    },
  };
  return part;
}

interface Line {
  line: Node;
  node: Node;
  /** Null where it runs no command. */
  command: string | null;
}

function lineIn(text: string): Line | null {
  const root = parseSettings(text);
  const line = root && memberOf(root, 'statusLine');
  if (!line) return null;
  const node = line.type === 'object' ? memberOf(line, 'command') : null;
  return { line, node: node ?? line, command: node && textOf(node) };
}

/** Of another kind, or one that calls ours by itself: it stays as it is. */
function isUsers({ command }: Line): boolean {
  return command === null || (callsOurs(command) && !isOurs(command));
}

/** What begins otherwise is the user's, also where it calls ours: nobody could say what of it to give back. */
function isOurs(command: string): boolean {
  return OURS.test(command);
}

const OURS = /^(?:o='(?:[^']|'\\'')*'; )?h=\$\(command -v git-handoff-hook\) && exec "\$h" status-line \w+/;

function callsOurs(command: string): boolean {
  return command.includes('git-handoff-hook') && /\bstatus-line\s+\w+/.test(command);
}

/** The user's, as it stands in ours; null where they had none. */
function ownIn(command: string): string | null {
  const word = /^o='((?:[^']|'\\'')*)'; /.exec(command)?.[1];
  return word === undefined ? null : word.replaceAll("'\\''", "'");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
