/** How many UTF-16 code units of somebody's text are kept beside the path of its record, which has the rest. */
export const EXCERPT = 500;

export interface Excerpt {
  text: string;
  /** There only where the record says more. */
  cut?: true;
}

/** What everybody reads with every verb holds excerpts: a record may be as long as its author likes, up to the limit. */
export function excerptOf(text: string): Excerpt {
  if (text.length <= EXCERPT) return { text };
  return { text: `${text.slice(0, EXCERPT - 1).replace(LONE, '')}…`, cut: true };
}

/** Half of a character that a cut went through. */
const LONE = /[\ud800-\udbff]$/;

/** What a body is recognised by. */
export function beginningOf(body: string | null): string {
  return (body ?? '').trimStart().slice(0, EXCERPT);
}

/** A copy that shares nothing: a piece of a text keeps all of that text in memory. */
export function detached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
