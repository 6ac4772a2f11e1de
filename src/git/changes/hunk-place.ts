import type { Hunk } from './hunk-reader.ts';

/** How many lines git shows around a change. */
const CONTEXT = 3;

/**
 * Whether each hunk fits at one place of a file and nowhere else. If it fits at two, the same patch is two changes, and whoever
 * accounted for one has not seen the other. Where git shows fewer lines around it than usual, the file begins or ends there.
 */
export function fitsOnce(file: Uint8Array, hunks: readonly Hunk[]): boolean {
  const lines = splitLines(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  const places = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    const alike = places.get(line);
    if (alike) alike.push(at);
    else places.set(line, [at]);
  }
  return hunks.every((hunk) => isAtAnEnd(hunk) || fitsHunkOnce(lines, places, hunk));
}

/** Nothing else is where a file begins or ends. */
export function isAtAnEnd({ leading, trailing }: Hunk): boolean {
  return leading < CONTEXT || trailing < CONTEXT;
}

function fitsHunkOnce(
  lines: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  { lines: wanted }: Hunk,
): boolean {
  const texts = wanted.map((line) => line.toString('latin1'));
  // the rarest line has the fewest places to look at
  const rarest = texts.reduce(
    (best, text, at) => (countOf(places, text) < countOf(places, texts[best]!) ? at : best),
    0,
  );
  const starts = (places.get(texts[rarest]!) ?? []).map((at) => at - rarest);
  let found = 0;
  for (const start of starts.slice(0, MOST_PLACES + 1)) if (isAt(lines, start, texts) && ++found > 1) return false;
  return found === 1 && starts.length <= MOST_PLACES;
}

/** More, and the file says the same all over. */
const MOST_PLACES = 1000;

function countOf(places: ReadonlyMap<string, readonly number[]>, text: string): number {
  return places.get(text)?.length ?? 0;
}

function isAt(lines: readonly string[], start: number, texts: readonly string[]): boolean {
  return start >= 0 && texts.every((text, at) => lines[start + at] === text);
}

function splitLines(file: Buffer): string[] {
  const lines = file.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
