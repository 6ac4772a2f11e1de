import type { Warning } from './bundle.ts';

const KIND = 'section_missing';
const BEFORE = 'The baton has no section "';
const AFTER = '", which the policy asks for.';

/** One for each section, so that a program can count them. */
export function sectionWarning(name: string): Warning {
  return { kind: KIND, message: `${BEFORE}${name}${AFTER}` };
}

/** The section that such a warning is about, for whoever says all of them in one line; null for any other warning. */
export function missingSection({ kind, message }: Warning): string | null {
  return kind === KIND ? message.slice(BEFORE.length, -AFTER.length) : null;
}
