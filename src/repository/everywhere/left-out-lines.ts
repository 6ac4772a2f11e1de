import type { Note } from '../../audit/everywhere/union.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Oid } from '../../git/objects/store.ts';

/** More branches are only counted. */
const MOST_NAMED = 5;

/** One line for each branch that is not shown whole. */
export function leftOutLines(notes: readonly Note[], refs: ReadonlyMap<Oid, string>): string[] {
  const lines = notes.map((note) => lineOf(note, shortRef(refs.get(note.tree) ?? note.tree)));
  const others = lines.length - MOST_NAMED;
  if (others <= 0) return lines;
  return [...lines.slice(0, MOST_NAMED), `${others} more branches have records that are left out.`];
}

/** As people call it. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes)\//, '');
}

function lineOf({ kind, path, count }: Note, ref: string): string {
  const word = quoteWord(ref);
  const more = count > 1 ? ` and ${count - 1} more` : '';
  if (kind === 'broken') return `On ${word}, ${path}${more} does not hold and is left out: git handoff verify ${word}`;
  if (kind === 'forked')
    return `On ${word}, ${path}${more} says something else under numbers that are known already, and is left out.`;
  if (kind === 'many')
    return `${word} has ${count} sessions or tasks that are nowhere else: too many to look at beside those of other branches, so they are left out. If they are for nothing, delete it there, then: git fetch --prune`;
  return `Records on ${word} cannot be read here and are left out; in a partial clone: git fetch --refetch --no-filter`;
}
