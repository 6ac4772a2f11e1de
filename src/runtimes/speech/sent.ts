import type { EventFacts } from '../runtime.ts';

/** What a program sent: anybody may have written it, and nobody has checked it. */
export type Sent = Readonly<Record<string, unknown>>;

/** A text under a key, or null: a key that is missing, empty or of another type says nothing. */
export function textAt(sent: Sent, key: string): string | null {
  const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Under several keys, one inside the other. */
export function objectAt(sent: Sent, key: string): Sent {
  const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** Percent of a context that is used. A number that no context can be full by says nothing. */
export function percentAt(sent: Sent, key: string): number | null {
  const value = Object.hasOwn(sent, key) ? sent[key] : undefined;
  return typeof value === 'number' && value >= 0 && value <= 100 ? value : null;
}

type Source = NonNullable<EventFacts['source']>;

const SOURCES: Readonly<Record<string, Source>> = {
  startup: 'startup',
  new: 'startup',
  resume: 'resume',
  clear: 'clear',
  compact: 'compact',
};

/** Why a session starts, as far as it is one of the reasons that we know. */
export function sourceAt(sent: Sent, key: string): Source | null {
  const word = textAt(sent, key) ?? '';
  return Object.hasOwn(SOURCES, word) ? SOURCES[word]! : null;
}
