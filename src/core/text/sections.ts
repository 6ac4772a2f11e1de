/** The sections that no heading of this Markdown names. Order and spelling are those of `sections`. */
export function missingSections(body: string, sections: readonly string[]): string[] {
  const headings = readHeadings(body).map(words);
  return sections.filter((name) => !headings.some((heading) => heading.includes(words(name))));
}

const ATX = /^ {0,3}#{1,6}(?:[ \t]+(.*))?$/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const CODE = /^(?: {4}| {0,3}\t)/;
/** Quotes, items and rules: no paragraph, so a line of dashes below them underlines nothing. */
const NO_PARAGRAPH = /^ {0,3}(?:>|[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)|([-*_])(?:[ \t]*\1){2,}[ \t]*$)/;

/** The texts of ATX and setext headings, as CommonMark finds them at the top level. */
function readHeadings(body: string): string[] {
  const headings: string[] = [];
  let fence: string | null = null;
  let paragraph: string[] = [];
  for (const line of body.split('\n')) {
    if (fence !== null) {
      if (closes(line, fence)) fence = null;
      continue;
    }
    fence = fenceAt(line);
    const heading = fence === null ? headingAt(line, paragraph) : null;
    if (heading !== null) headings.push(heading);
    if (fence !== null || heading !== null || endsParagraph(line, paragraph)) paragraph = [];
    else paragraph.push(line);
  }
  return headings;
}

/** What opens a code block. A backtick later in the line makes it code within a paragraph. */
function fenceAt(line: string): string | null {
  const [, marks = '', info = ''] = FENCE.exec(line) ?? [];
  return marks === '' || (marks[0] === '`' && info.includes('`')) ? null : marks;
}

function closes(line: string, fence: string): boolean {
  const marks = line.trim();
  return marks.length >= fence.length && marks === fence[0]!.repeat(marks.length) && !CODE.test(line);
}

function headingAt(line: string, paragraph: readonly string[]): string | null {
  const atx = ATX.exec(line);
  if (atx) return atx[1] ?? '';
  return paragraph.length > 0 && UNDERLINE.test(line) ? paragraph.join(' ') : null;
}

/** An indented line continues a paragraph, but does not begin one. */
function endsParagraph(line: string, paragraph: readonly string[]): boolean {
  return line.trim() === '' || NO_PARAGRAPH.test(line) || (paragraph.length === 0 && CODE.test(line));
}

/** The words of a text, each between spaces: `files` is in ` files changed ` and not in ` profiles `. */
function words(text: string): string {
  const folded = text.normalize('NFKC').toLowerCase();
  return ` ${folded.replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ').trim()} `;
}
