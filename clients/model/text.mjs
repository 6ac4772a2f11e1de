/** The text of a message, which is a string or a list of parts. */
export function textOf(content) {
  if (typeof content === 'string') return content;
  return [content ?? []]
    .flat()
    .map((part) => part?.text ?? '')
    .join('\n');
}

/** A text as it comes over a line: in pieces. */
export function pieces(text, length = 24) {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, at) => text.slice(at * length, (at + 1) * length));
}

let given = 0;
export function newId(prefix) {
  given += 1;
  return `${prefix}_scripted${String(given).padStart(5, '0')}`;
}
