import { type ParseError, parse } from 'jsonc-parser';
import type { RuntimeName } from '../runtime.ts';
import { hookCommand, isOurCommand } from './hook-command.ts';
import { refusal, type SettingsPart } from './part.ts';

interface Wanted {
  runtime: RuntimeName;
  events: readonly string[];
  as?: string | undefined;
}

/** Seconds that a hook of ours may take at the most: it ends by itself long before. */
const TIMEOUT = 10;

/** Copilot CLI reads every file of a folder, so that ours is one of its own. It is ours as long as every hook in it is. */
export function jsonOwnHooks({ runtime, events, as }: Wanted): SettingsPart {
  const entries = events.map((event) => [
    event,
    [{ type: 'command', bash: hookCommand(runtime, event, as), timeoutSec: TIMEOUT }],
  ]);
  const whole = `${JSON.stringify({ version: 1, hooks: Object.fromEntries(entries) }, null, 2)}\n`;
  return {
    added(text) {
      if (text === null || isAllOurs(text)) return whole;
      throw refusal('has hooks that are not of git-handoff', 'Move them to a file of another name, and try again.');
    },
    removed: (text) => (isAllOurs(text) ? null : text),
    state(text) {
      if (text === null) return 'absent';
      return isAllOurs(text) && eventsIn(text) === events.join() ? 'complete' : 'harmed';
    },
  };
}

function isAllOurs(text: string): boolean {
  const commands = hooksIn(text).flatMap(([, hooks]) => hooks.map(commandOf));
  return commands.length > 0 && commands.every(isOurCommand);
}

function eventsIn(text: string): string {
  return hooksIn(text)
    .flatMap(([event, hooks]) => hooks.map(() => event))
    .join();
}

function hooksIn(text: string): [string, unknown[]][] {
  const errors: ParseError[] = [];
  const read: unknown = parse(text, errors, { allowTrailingComma: true });
  const hooks = errors.length === 0 && isObject(read) && isObject(read.hooks) ? read.hooks : {};
  return Object.entries(hooks).map(([event, list]) => [event, Array.isArray(list) ? list : [null]]);
}

function commandOf(hook: unknown): unknown {
  return isObject(hook) ? hook.bash : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
