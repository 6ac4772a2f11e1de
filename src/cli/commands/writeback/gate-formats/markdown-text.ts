import { escapeLine } from '../../../text/escape.ts';
import { clip } from '../../../text/layout.ts';

const LONGEST = 300;

/** All but letters, digits and what means nothing inside a line; `www.` would become a link, `_x_` would slant. */
const MARKUP = /[^\p{L}\p{N} ,/._-]|(?<=[wW])\.|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;

/**
 * Words of others, on one line, as code: there a site looks for no people, issues or links to make of them. Whatever
 * could be Markdown or HTML goes in as its number, which is text wherever it stands, and cannot end the code.
 */
export function quoted(text: string, longest = LONGEST): string {
  const line = clip(escapeLine(text).trim(), longest);
  return line === '' ? '(empty)' : `<code>${line.replace(MARKUP, reference)}</code>`;
}

/** A number alone would not do for @: people and mail addresses are looked for in what the numbers stand for. */
function reference(char: string): string {
  return `&#${char.codePointAt(0)};${char === '@' ? '<wbr>' : ''}`;
}
