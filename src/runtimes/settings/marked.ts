import { appendBlock, lineEndOf, removeBlock } from './block.ts';
import { assertGivesBack, refusal, type SettingsPart } from './part.ts';

const BEGIN = '<!-- git-handoff: begin -->';
const FINISH = '<!-- git-handoff: end -->';

/** Lines of ours in a Markdown file, between comments that no reader sees. `isThere`: a user has said the same already. */
export function markedSection(
  lines: readonly string[],
  isThere: (text: string) => boolean = () => false,
): SettingsPart {
  const block = [BEGIN, ...lines, FINISH];
  const part: SettingsPart = {
    added(text) {
      const found = text === null ? null : sectionIn(text);
      if (found) return replaced(text!, found, block);
      if (text !== null && isThere(text)) return text;
      const added = appendBlock(text, block);
      assertGivesBack(part, text, added);
      return added;
    },
    removed(text) {
      const found = sectionIn(text);
      return found ? removeBlock(text, found.from, found.to) : text;
    },
    state(text) {
      const found = text === null ? null : sectionIn(text);
      if (!found) return text !== null && isThere(text) ? 'complete' : 'absent';
      return text === replaced(text!, found, block) ? 'complete' : 'harmed';
    },
  };
  return part;
}

function sectionIn(text: string): { from: number; to: number } | null {
  const begins = offsetsOf(text, BEGIN);
  const ends = offsetsOf(text, FINISH);
  if (begins.length === 0 && ends.length === 0) return null;
  const [from] = begins;
  const [end] = ends;
  if (begins.length === 1 && ends.length === 1 && from! < end!) return { from: from!, to: end! + FINISH.length };
  throw refusal(
    `has ${begins.length} × ${BEGIN} and ${ends.length} × ${FINISH}`,
    'Leave each once, in this order, or remove both with what is between.',
  );
}

function offsetsOf(text: string, marker: string): number[] {
  return [...text.matchAll(new RegExp(`^${marker}`, 'gm'))].map(({ index }) => index);
}

function replaced(text: string, { from, to }: { from: number; to: number }, block: readonly string[]): string {
  return text.slice(0, from) + block.join(lineEndOf(text)) + text.slice(to);
}
