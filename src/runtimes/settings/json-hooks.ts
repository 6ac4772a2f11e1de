import type { Node } from 'jsonc-parser';
import type { RuntimeName } from '../runtime.ts';
import { eventIn, hookCommand, isOurCommand } from './hook-command.ts';
import { addValue, replaceValue } from './json-add.ts';
import { parseSettings, textOf, typedMember } from './json-document.ts';
import { removeValue } from './json-remove.ts';
import { assertGivesBack, type PartState, type SettingsPart } from './part.ts';

interface Wanted {
  runtime: RuntimeName;
  /** The runtime's own names. */
  events: readonly string[];
  as?: string | undefined;
}

/** A hook of ours: where it stands, and the command in it. */
interface OurHook {
  /** What holds the command and, if it holds nothing else, the group around it. */
  item: Node;
  command: Node;
  event: string;
}

/** `hooks: {Event: [{hooks: [{type: "command", command}]}]}`, as Claude Code has it, and Codex and Gemini CLI after it. */
export function jsonHooks(wanted: Wanted): SettingsPart {
  const part: SettingsPart = {
    added(text) {
      const added = completed(text, wanted);
      if (text === null || ourHooks(text).length === 0) assertGivesBack(part, text, added);
      return added;
    },
    removed: removedAll,
    state: (text) => stateOf(text, wanted),
  };
  return part;
}

function completed(text: string | null, wanted: Wanted): string {
  let made = text === null ? null : tidied(text, wanted);
  for (const event of wanted.events) {
    if (made !== null && ourHooks(made).some((hook) => hook.event === event)) continue;
    const hook = { type: 'command', command: commandFor(wanted, event) };
    made = addValue(made, { path: ['hooks', event], value: { hooks: [hook] } });
  }
  return made ?? '';
}

/** Ours once for each event, and in today's form; what a user has set around it stays. */
function tidied(text: string, wanted: Wanted): string | null {
  const hooks = ourHooks(text);
  const surplus = hooks.findLast(({ event }, at) => {
    return !wanted.events.includes(event) || hooks.findIndex((other) => other.event === event) < at;
  });
  if (surplus) {
    const left = removeValue(text, surplus.item);
    return left === null ? null : tidied(left, wanted);
  }
  const old = hooks.find(({ command, event }) => command.value !== commandFor(wanted, event));
  return old ? tidied(replaceValue(text, old.command, commandFor(wanted, old.event)), wanted) : text;
}

function removedAll(text: string): string | null {
  const last = ourHooks(text).at(-1);
  if (!last) return text;
  const left = removeValue(text, last.item);
  return left === null ? null : removedAll(left);
}

function stateOf(text: string | null, wanted: Wanted): PartState {
  const hooks = text === null ? [] : ourHooks(text);
  if (hooks.length === 0) return 'absent';
  const isWhole = wanted.events.every((event) => hooks.filter((hook) => isFor(hook, event)).length === 1);
  return isWhole && hooks.length === wanted.events.length ? 'complete' : 'harmed';
}

/** Under which name an earlier `connect` had it act is its own affair. */
function isFor(hook: OurHook, event: string): boolean {
  return hook.event === event && eventIn(String(hook.command.value)) === event;
}

function commandFor({ runtime, as }: Wanted, event: string): string {
  return hookCommand(runtime, event, as);
}

/** Wherever it is: what stands beside it may be of a form that we do not know. */
function ourHooks(text: string): OurHook[] {
  const root = parseSettings(text);
  const events = root && typedMember(root, 'hooks', 'object');
  return (events?.children ?? []).flatMap(({ children }) => {
    const [event, groups] = children ?? [];
    return itemsOf(groups).flatMap((group) => oursIn(group, String(event?.value)));
  });
}

function oursIn(group: Node, event: string): OurHook[] {
  if (group.type !== 'object') return [];
  const lists = (group.children ?? []).filter(({ children }) => children?.[0]?.value === 'hooks');
  const hooks = lists.flatMap(({ children }) => itemsOf(children?.[1]));
  const isAlone = hooks.length === 1 && group.children?.length === 1;
  return hooks.flatMap((hook) => {
    const command = hook.type === 'object' ? commandIn(hook) : null;
    return command ? [{ item: isAlone ? group : hook, command, event }] : [];
  });
}

function itemsOf(list: Node | undefined): Node[] {
  return list?.type === 'array' ? (list.children ?? []) : [];
}

function commandIn(hook: Node): Node | null {
  const found = (hook.children ?? []).map(({ children }) => children?.[1] ?? null);
  return found.find((value) => isOurCommand(textOf(value))) ?? null;
}
