/**
 * The keys of one git configuration file, as `section.name` or `section.sub.name`, each with its last value.
 * Includes are not followed: git does not follow them either when it decides what kind of repository it is in.
 */
export function parseConfigFile(text: string): Map<string, string> {
  const values = new Map<string, string>();
  let section = '';
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    const header = HEADER.exec(line);
    if (header) section = sectionName(header[1]!, header[2]);
    const [, name, value] = VARIABLE.exec(header ? line.slice(header[0].length) : line) ?? [];
    if (name) values.set(`${section}.${name.toLowerCase()}`, value === undefined ? 'true' : unquote(value));
  }
  return values;
}

export function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(true|yes|on|[1-9][0-9]*)$/i.test(value);
}

const HEADER = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const VARIABLE = /^\s*([A-Za-z][\w-]*)\s*(?:=(.*))?$/;

function sectionName(name: string, sub: string | undefined): string {
  return sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub.replace(/\\(.)/g, '$1')}`;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', b: '\b' };

function unquote(raw: string): string {
  let out = '';
  let kept = 0;
  let quoted = false;
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i]!;
    if (char === '"') quoted = !quoted;
    else if (!quoted && (char === '#' || char === ';')) break;
    else if (char === '\\') out += ESCAPES[raw[++i]!] ?? raw[i] ?? '';
    else if (quoted || out !== '' || !/\s/.test(char)) out += char;
    if (quoted || !/\s/.test(char)) kept = out.length;
  }
  return out.slice(0, kept);
}
