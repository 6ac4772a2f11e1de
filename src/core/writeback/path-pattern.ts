/** What a pattern says of a path, letter by letter. */
type Element =
  | { kind: 'letter'; letter: string }
  /** `*`: any letters of one name. */
  | { kind: 'part' }
  /** `**`: any letters. */
  | { kind: 'any' }
  // `**/` becomes these two, for any number of whole names: one state between two names, one within a name.
  | { kind: 'between' }
  | { kind: 'within' };

/**
 * Whether a path is what a pattern names: `*` stands for any part of a name, two of them for anything, and before a slash for any
 * folders. `isFile`: what is below it is not. A path is as long as whoever pushes likes, so each of its letters is looked at once
 * for each element; a regular expression tries every way in which several `*` can share the letters.
 */
export function pathPattern(pattern: string, isFile: boolean): (path: string) => boolean {
  const beginning = pattern.split('*', 1)[0]!;
  if (beginning === pattern) return (path) => path === pattern || (!isFile && path.startsWith(`${pattern}/`));
  const elements = pattern
    .slice(beginning.length)
    .split(/(\*\*\/|\*\*|\*)/)
    .flatMap(toElements);
  return (path) => path.startsWith(beginning) && matches(elements, isFile, path, beginning.length);
}

function toElements(part: string): Element[] {
  if (part === '**/') return [{ kind: 'between' }, { kind: 'within' }];
  if (part === '**') return [{ kind: 'any' }];
  if (part === '*') return [{ kind: 'part' }];
  return part.split('').map((letter) => ({ kind: 'letter', letter }));
}

/** `places[n]`: what was read so far can end before element n. */
function matches(elements: readonly Element[], isFile: boolean, path: string, from: number): boolean {
  const end = elements.length;
  let places = reached(elements, [0]);
  for (let at = from; at < path.length && places.length > 0; at++) {
    if (!isFile && path[at] === '/' && places.includes(end)) return true;
    places = reached(
      elements,
      places.flatMap((place) => after(elements[place], place, path[at]!)),
    );
  }
  return places.includes(end);
}

/** Where a letter leads from an element. */
function after(element: Element | undefined, place: number, letter: string): number[] {
  switch (element?.kind) {
    case 'letter':
      return element.letter === letter ? [place + 1] : [];
    case 'part':
      return letter === '/' ? [] : [place];
    case 'any':
      return [place];
    case 'between':
      return [letter === '/' ? place : place + 1];
    case 'within':
      return [letter === '/' ? place - 1 : place];
    default:
      return [];
  }
}

/** With what follows elements that may stand for nothing; each once. */
function reached(elements: readonly Element[], places: readonly number[]): number[] {
  const all = new Set<number>();
  for (const first of places) {
    let place = first;
    while (!all.has(place)) {
      all.add(place);
      const { kind } = elements[place] ?? {};
      if (kind === 'part' || kind === 'any') place += 1;
      else if (kind === 'between') place += 2;
    }
  }
  return [...all];
}
