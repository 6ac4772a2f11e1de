// One regular expression for all files of a kind that are laid out as the writer does, in plain ASCII and the order of the
// schema. It matches nothing that the reader or the schema refuses, but not all that they accept: src/core/record/front-matter.ts says
// what that is for. A choice is always decided by the next character, so that no input makes it backtrack for long.

/** Captured in this order; see src/core/record/front-matter.ts. */
const HEAD = ['repo', 'session_id', 'identity', 'seq', 'prev', 'clock', 'at', 'inherited_from', 'task', 'token'];
/** Keeps the keys below the reader's limit. */
const MAX_MAPS = 16;
const MAX_FREE_KEYS = 8;

const SIGNATURE = 'signature: [A-Za-z0-9+/]{86}==\\n';
const PLAIN = '(?!.*(?:: | #|[: ]\\n))[A-Za-z0-9_/.][ -~]';
const UNESCAPED = '[ !#-[\\]-~]';
const ESCAPE = '\\\\["\\\\bfnrt/]';
const KEY = '(?!(?:constructor|prototype|null|true|false):)([a-z][a-z0-9_]{0,63})';

/** `schema` has the properties of its base first, and no references. */
export function recordPattern(schema, isMarkdown) {
  let groups = HEAD.length;
  const front = map(schema, '', []);
  return isMarkdown ? `^---\\n${front}${SIGNATURE}---\\n` : `^${front}${SIGNATURE}$`;

  function map({ properties, required = [] }, pad, path) {
    const entries = Object.entries(properties).map(([key, value]) => {
      const line = `${pad}${key}:${entryValue(value, pad, [...path, key])}`;
      return required.includes(key) ? line : `(?:${line})?`;
    });
    return entries.join('');
  }

  function entryValue(value, pad, path) {
    const inner = `${pad}  `;
    if (value.items) return sequence(value, inner, path);
    if (value.properties) return `\\n${map(value, inner, path)}`;
    return ` ${capture(scalar(value), path)}\\n`;
  }

  /** Only what the head is made of; a capture costs a string. */
  function capture(source, path) {
    const isHead = path.length === 1 ? HEAD.slice(0, 8).includes(path[0]) : path[0] === 'lock';
    return isHead || path[0] === 'predecessor_session_id' ? `(${source})` : source;
  }

  function sequence({ items, minItems = 0, ...rest }, pad, path) {
    assertKnown(rest, ['type']);
    if (minItems > 1) throw new Error(`minItems ${minItems} of ${path.join('.')}`);
    const block = `\\n(?:${pad}- ${item(items, `${pad}  `, path)})${isMap(items) ? `{1,${MAX_MAPS}}` : '+'}`;
    return minItems === 0 ? `(?: \\[\\]\\n|${block})` : block;
  }

  /** A map's first key stands on the dash's line. */
  function item(items, pad, path) {
    if (items.properties) return map(items, pad, path).slice(pad.length);
    if (!items.additionalProperties) return `${scalar(items)}\\n`;
    const value = scalar(items.additionalProperties);
    return `${freeEntry(value, pad)}(?:${pad}${freeEntry(value, pad)}){0,${MAX_FREE_KEYS - 1}}`;
  }

  /** No key twice: none of the lines that follow may begin with it. */
  function freeEntry(value, pad) {
    groups++;
    return `${KEY}: ${value}\\n(?!(?:${pad}.*\\n){0,${MAX_FREE_KEYS}}${pad}\\${groups}:)`;
  }

  function scalar({ type, ...rest }) {
    const [name, ...more] = [type].flat();
    const source = { string, integer, boolean: () => '(?:true|false)' }[name](rest);
    if (more.length === 0) return source;
    if (more.join() !== 'null' || !isVerbatim(rest.pattern)) throw new Error(`type ${type}`);
    return `(?:null|${source})`;
  }

  function string({ pattern, minLength = 0, maxLength, ...rest }) {
    if (rest.const !== undefined || rest.enum) return literals(rest);
    assertKnown(rest, []);
    if (isVerbatim(pattern)) return `(?:${pattern.slice(1, -1).replaceAll('$', '\\n')})`;
    const guard = { '^[^-]': '(?!"?-)', '^[^\\n\\r]*$': '', undefined: '' }[pattern];
    if (guard === undefined || minLength > 1) throw new Error(`pattern ${pattern}, minLength ${minLength}`);
    const plain = `${PLAIN}{0,${maxLength ? maxLength - 1 : ''}}`;
    if (pattern || maxLength) return `${guard}(?:"${UNESCAPED}{${minLength},${maxLength ?? ''}}"|${plain})`;
    return `(?:"${minLength ? '(?!")' : ''}${UNESCAPED}*(?:${ESCAPE}${UNESCAPED}*)*"|${plain})`;
  }
}

/** Names, digests and times: without spaces they are plain scalars, and need no other rule. */
function isVerbatim(pattern) {
  return pattern !== undefined && /^\^(?:(?!\[\^)[^ \\]|\\\.)*\$$/.test(pattern);
}

function isMap({ properties, additionalProperties }) {
  return properties !== undefined || additionalProperties !== undefined;
}

function literals({ const: only, enum: several = [only] }) {
  if (!several.every((text) => /^[a-z][a-z_-]*$/.test(text))) throw new Error(`values ${several}`);
  return `(?:${several.join('|')})`;
}

/** As many digits as can be allowed whatever they are. */
function integer({ minimum, maximum, ...rest }) {
  if (rest.const === 1) return '1';
  assertKnown(rest, []);
  if (minimum !== 0 && minimum !== 1) throw new Error(`minimum ${minimum}`);
  const digits = String(maximum + 1).length - 1;
  const positive = `[1-9][0-9]{0,${digits - 1}}`;
  return minimum === 0 ? `(?:0|${positive})` : positive;
}

function assertKnown(schema, known) {
  const unknown = Object.keys(schema).filter((key) => !known.includes(key));
  if (unknown.length > 0) throw new Error(`A pattern cannot say: ${unknown}`);
}
