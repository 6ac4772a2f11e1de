import { appendBlock, lineEndOf, removeBlock } from './block.ts';
import { assertGivesBack, refusal, type SettingsPart } from './part.ts';

/** Comments that no reader of the page sees. */
interface Marks {
  begin: string;
  finish: string;
}

/** Lines of ours in a Markdown file, between comments with a name. `isThere`: the file says the same already. */
export function markedSection(
  name: string,
  lines: readonly string[],
  isThere: (text: string) => boolean = () => false,
): SettingsPart {
  const marks = { begin: `<!-- ${name}: begin -->`, finish: `<!-- ${name}: end -->` };
  const block = [marks.begin, ...lines, marks.finish];
  const part: SettingsPart = {
    added(text) {
      const found = text === null ? null : sectionIn(text, marks);
      if (found) return replaced(text!, found, block);
      if (text !== null && isThere(text)) return text;
      const added = appendBlock(text, block);
      assertGivesBack(part, text, added);
      return added;
    },
    removed(text) {
      const found = sectionIn(text, marks);
      return found ? removeBlock(text, found.from, found.to) : text;
    },
    state(text) {
      const found = text === null ? null : sectionIn(text, marks);
      if (!found) return text !== null && isThere(text) ? 'complete' : 'absent';
      return text === replaced(text!, found, block) ? 'complete' : 'harmed';
    },
  };
  return part;
}

function sectionIn(text: string, { begin, finish }: Marks): { from: number; to: number } | null {
  const begins = offsetsOf(text, begin);
  const ends = offsetsOf(text, finish);
  if (begins.length === 0 && ends.length === 0) return null;
  const [from] = begins;
  const [end] = ends;
  if (begins.length === 1 && ends.length === 1 && from! < end!) return { from: from!, to: end! + finish.length };
  throw refusal(
    `has ${begins.length} × ${begin} and ${ends.length} × ${finish}`,
    'Leave each once, in this order, or remove both with what is between.',
  );
}

function offsetsOf(text: string, marker: string): number[] {
  return [...text.matchAll(new RegExp(`^${marker}`, 'gm'))].map(({ index }) => index);
}

function replaced(text: string, { from, to }: { from: number; to: number }, block: readonly string[]): string {
  return text.slice(0, from) + block.join(lineEndOf(text)) + text.slice(to);
}
