import { readFileSync } from 'node:fs';
import type { RuntimeName } from '../../src/runtimes/runtime.ts';
import { hookCommand } from '../../src/runtimes/settings/hook-command.ts';

/** A file as a user may have it, and what is to become of it: merged and given back, refused, or rid of ours that was there. */
export interface SettingsCase {
  name: string;
  text: string;
  outcome: 'merged' | 'refused' | 'ours';
  reason?: string;
  /** What disconnect leaves of a file that had ours; null: no file. */
  left?: string | null;
}

type Part = string | [string, number];

interface Stored extends Omit<SettingsCase, 'text'> {
  text: string | Part[];
}

/** The cases of a format, with what differs from program to program filled in. */
export function casesOf(format: 'hooks' | 'servers' | 'toml', words: Readonly<Record<string, string>>): SettingsCase[] {
  const stored: Stored[] = JSON.parse(readFileSync(new URL(`./cases/${format}.json`, import.meta.url), 'utf8'));
  const fill = (text: string): string => text.replace(/%([A-Z]+)%/g, (whole, word) => words[word] ?? whole);
  return stored.map(({ text, left, reason, ...rest }) => ({
    ...rest,
    text: fill(typeof text === 'string' ? text : text.map(written).join('')),
    ...(reason === undefined ? {} : { reason: fill(reason) }),
    ...(left === undefined ? {} : { left: left === null ? null : fill(left) }),
  }));
}

function written(part: Part): string {
  return typeof part === 'string' ? part : part[0].repeat(part[1]);
}

/** As it stands within a text of JSON. */
export function commandInJson(runtime: RuntimeName, event: string): string {
  return JSON.stringify(hookCommand(runtime, event)).slice(1, -1);
}
