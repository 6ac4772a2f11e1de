// How SPEC.md and docs/tool.md are taken apart by the tests of their form.

const LIMIT = 160;

export function isTooLong(line: string): boolean {
  return Array.from(line).length > LIMIT;
}

/** The text of each fenced block, with its last line end. */
export function examplesIn(page: string): string[] {
  return [...page.matchAll(/^```[a-z]*\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
}

/** Lines that follow each other; an item of a list begins a new one. Tables and fenced blocks are none. */
export function paragraphsIn(page: string): string[][] {
  const prose = page.replace(/^```[a-z]*\n[\s\S]*?^```$/gm, '').replace(/^\|.*$/gm, '');
  const parts = prose.split(/\n\n+|\n(?=\s*(?:-|\d+\.) )/);
  return parts.map((part) => part.split('\n').filter((line) => line.trim() !== ''));
}

/** By number: `5`, `5.3`, `10.3.1`. */
export function sectionsIn(page: string): Set<string> {
  return new Set([...page.matchAll(/^#{2,4} (\d+(?:\.\d+){0,2})[. ]/gm)].map(([, section]) => section!));
}

export function linksIn(page: string): string[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
}

/** The anchor that GitHub makes of a heading. */
export function slugOf(heading: string): string {
  const title = heading.replace(/^#+ /, '').toLowerCase();
  return title.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
}
