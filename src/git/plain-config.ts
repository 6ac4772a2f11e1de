/** A key as `section.name` or `section.sub.name`, and its value. */
type Entry = [string, string];

/**
 * The keys and values of a git configuration file, in order. Null for whatever has a form that is not plain, so that git has to say
 * what it means: includes, lines that go on, keys without a value, escapes that are rare.
 */
export function parsePlainConfig(text: string): Entry[] | null {
  if (NOT_PLAIN.test(text)) return null;
  const entries: Entry[] = [];
  let section: string | null = null;
  for (const line of text.split('\n')) {
    const header = HEADER.exec(line);
    if (header) section = sectionName(header[1]!, header[2]);
    else if (!NOTHING.test(line)) {
      const entry = section === null ? null : parseVariable(section, line);
      if (entry === null) return null;
      entries.push(entry);
    }
  }
  return entries;
}

/** Control characters, and bytes that are no text. */
const NOT_PLAIN = /[^\P{Cc}\t\n]|\ufffd|^[ \t]*\[include/imu;
const NOTHING = /^[ \t]*(?:[#;].*)?$/;
const HEADER = /^[ \t]*\[([A-Za-z][A-Za-z0-9-]*)(?:[ \t]+"([^"\\]+)")?\][ \t]*(?:[#;].*)?$/;
const VARIABLE = /^[ \t]*([A-Za-z][A-Za-z0-9-]*)[ \t]*=(.*)$/;

function sectionName(name: string, sub: string | undefined): string {
  return sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub}`;
}

function parseVariable(section: string, line: string): Entry | null {
  const [, name, raw] = VARIABLE.exec(line) ?? [];
  if (name === undefined || raw === undefined) return null;
  const value = unquote(raw.replace(/^[ \t]+/, ''));
  return value === null || value === '' ? null : [`${section}.${name.toLowerCase()}`, value];
}

const ESCAPES: ReadonlyMap<string | undefined, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['n', '\n'],
  ['t', '\t'],
]);

/** White space at the end counts only between quotes. A tab within was a space to older versions of git. */
function unquote(raw: string): string | null {
  let value = '';
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at]!;
    if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[#;]/.test(char)) break;
    else {
      const escaped = char === '\\' ? ESCAPES.get(raw[++at]) : char;
      if (escaped === undefined) return null;
      value += escaped;
    }
    if (isQuoted || !/[ \t]/.test(char)) kept = value.length;
    else if (char === '\t' && /^[ \t]*[^ \t#;]/.test(raw.slice(at))) return null;
  }
  return isQuoted ? null : value.slice(0, kept);
}
