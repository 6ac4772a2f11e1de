import { assertVisible, isVisible } from '../text/text.ts';
import type { YamlMap } from './yaml.ts';
import { excerpt, yamlError } from './yaml-scalar.ts';
import { writeYaml } from './yaml-write.ts';

// Literal blocks and comments, for files that people read. A text has one form as a block: its lines indented by two spaces
// more than its key, blank lines empty, no indentation indicator, and the chomping that its end asks for. Every YAML reader
// takes that form the same way.

/** YAML without comments and literal blocks, which `readYaml` takes, and from which line of the file each of its lines came. */
export interface PlainYaml {
  text: string;
  lines: number[];
}

const HEAD = /^( *)([a-z][a-z0-9_]*): \|([-+]?)$/;
const HINT =
  'Restore the file: a literal block is indented by two spaces more than its key, and blank lines are empty.';
const STARTS_PLAIN = /^[^ \n]/;

/** Comments are lines with # in the first column. */
export function plainYaml(file: string): PlainYaml {
  assertVisible(file); // here, because blocks are about to be escaped
  const source = file.split('\n');
  if (source.pop() !== '')
    throw yamlError(source.length + 1, 'LF at the end of the last line', 'the end of the text', HINT);
  const plain: PlainYaml = { text: '', lines: [] };
  for (let at = 0; at < source.length; ) at = takeLine(source, at, plain);
  return plain;
}

/** `key` and its text as a literal block, or as a quoted scalar where a block would hide or change something. */
export function formatLiteral(key: string, text: string, pad = ''): string {
  if (!STARTS_PLAIN.test(text) || !isVisible(text)) return pad + writeYaml({ [key]: text });
  const lines = text.split('\n').map((line) => (line === '' ? '' : `${pad}  ${line}`));
  const block = lines.join('\n');
  return `${pad}${key}: |${chomping(text)}\n${block}${text.endsWith('\n') ? '' : '\n'}`;
}

/** Where the next line is. */
function takeLine(source: readonly string[], at: number, plain: PlainYaml): number {
  const line = source[at]!;
  if (line.startsWith('#')) return at + 1;
  const header = HEAD.exec(line);
  const [, pad = '', key = '', mode = ''] = header ?? [];
  const end = header ? blockEnd(source, at + 1, `${pad}  `) : at + 1;
  plain.text += header ? pad + writeYaml(literal(key, source, at, end, mode, pad)) : `${line}\n`;
  plain.lines.push(at + 1);
  return end;
}

function blockEnd(source: readonly string[], from: number, pad: string): number {
  let end = from;
  while (end < source.length && (source[end] === '' || source[end]!.startsWith(pad))) end++;
  return end;
}

function literal(key: string, source: readonly string[], at: number, end: number, mode: string, pad: string): YamlMap {
  const lines = source.slice(at + 1, end);
  const spaces = lines.indexOf(`${pad}  `);
  if (spaces >= 0) throw yamlError(at + 2 + spaces, 'a blank line without spaces', 'spaces', HINT);
  const body = lines.map((line) => line.slice(pad.length + 2)).join('\n');
  const text = mode === '-' ? body : `${body}\n`;
  if (!STARTS_PLAIN.test(body)) throw yamlError(at + 2, 'a literal block that begins with text', excerpt(body), HINT);
  if (chomping(text) !== mode)
    throw yamlError(end, `\`|${chomping(text)}\` before a text with this end`, `\`|${mode}\``, HINT);
  return { [key]: text };
}

function chomping(text: string): string {
  return text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
}
