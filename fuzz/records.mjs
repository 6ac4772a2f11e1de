// Spoils valid records and reads what comes out: parseRecord must return or throw a HandoffError, and be quick about it.
//   node fuzz/records.mjs [seed] [cases]
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { HandoffError, parseRecord } from '../dist/core.js';

const SLOW_MS = 100;
const seed = Number(process.argv[2] ?? Date.now() % 2 ** 32);
const cases = Number(process.argv[3] ?? 20_000);
const random = mulberry32(seed);

const encoder = new TextEncoder();
const corpus = ['records', 'documents'].flatMap(readCorpus);
const TOKENS = [
  ...[
    '---\n',
    '\n---\n',
    '---js\n',
    '...\n',
    '\r\n',
    '\r',
    '\0',
    '\ufeff',
    '\t',
    '  ',
    '\n\n',
    ': ',
    ' #',
    '- ',
    '-',
    '"',
    "'",
    '\\',
    '\\u',
    '\\ud800',
  ],
  ...[
    '&a ',
    '*a',
    '!!js/function ',
    '!!binary ',
    '<<: *a\n',
    '%YAML 1.1\n',
    '|\n',
    '>\n',
    '? ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '{}',
    '[]',
    '@',
    '`',
  ],
  ...[
    '__proto__: 1\n',
    'constructor: 1\n',
    'toString: 1\n',
    'x_a:\n',
    'x_a:\n  - ',
    'x_a: "',
    'handoff: 1\n',
    'kind: policy\n',
    'kind: baton\n',
  ],
  ...[
    'signature: ',
    'signatures:\n',
    '\nsignatures:\n  - ',
    'signature: AAAA\n',
    '010',
    '1e999',
    '0x1F',
    '9007199254740993',
    'null',
    '~',
    '.nan',
  ],
  ...[
    '\u202e',
    '\u200b',
    '\u2028',
    '\u{e0041}',
    '🙂',
    'é',
    '\u0085',
    'a'.repeat(5000),
    '  '.repeat(500),
    '- '.repeat(500),
    '\\"'.repeat(3000),
  ],
  ...[
    '"'.repeat(3000),
    '\n'.repeat(3000),
    'x_a:\n  '.repeat(300),
    '\\u0041'.repeat(3000),
    '---\n'.repeat(3000),
    ': '.repeat(3000),
    ' #'.repeat(3000),
  ],
].map((token) => encoder.encode(token));
const BROKEN_UTF8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]].map(
  (bytes) => Uint8Array.from(bytes),
);

const HEAD = 'handoff: 1\nkind: note\n';
const MARKDOWN_HEAD = '---\nhandoff: 1\nkind: decision\n';
const END = `signature: ${'A'.repeat(86)}==\n`;
const FRAMES = [
  ['a value', `${HEAD}text: a`, `\n${END}`],
  ['a quoted value', `${HEAD}text: "`, `"\n${END}`],
  ['lines', HEAD, `\n${END}`],
  ['a signer', `handoff: 1\nkind: project\nsignatures:\n  - `, '\n'],
  ['front matter', `${MARKDOWN_HEAD}x_a: `, `\n${END}---\n`],
  ['a body', `${MARKDOWN_HEAD}${END}---\n`, ''],
  ['everything', '', ''],
];
const GIANTS = TOKENS.length * FRAMES.length;

/** Each takes bytes and returns other bytes. */
const MUTATIONS = {
  flip: (bytes) => edit(bytes, (copy, at) => copy.fill(copy[at] ^ (1 << below(8)), at, at + 1)),
  byte: (bytes) => edit(bytes, (copy, at) => copy.fill(below(256), at, at + 1)),
  truncate: (bytes) => bytes.slice(0, below(bytes.length + 1)),
  behead: (bytes) => bytes.slice(below(bytes.length + 1)),
  remove: (bytes) => splice(bytes, span(bytes), []),
  duplicate: (bytes) => {
    const [from, to] = span(bytes);
    return splice(bytes, [to, to], bytes.slice(from, to));
  },
  repeat: (bytes) => {
    const [from, to] = span(bytes);
    return concat([bytes.slice(0, from), ...Array(below(200)).fill(bytes.slice(from, to)), bytes.slice(to)]);
  },
  insert: (bytes) => splice(bytes, point(bytes), pick(TOKENS)),
  insertInvalid: (bytes) => splice(bytes, point(bytes), pick(BROKEN_UTF8)),
  inflate: (bytes) => splice(bytes, point(bytes), fill(pick(TOKENS), below(280_000))),
  sign: (bytes) => concat([bytes, encoder.encode(END)]),
  overwrite: (bytes) => splice(bytes, span(bytes), pick(TOKENS)),
  cross: (bytes) => {
    const other = pick(corpus);
    return concat([bytes.slice(0, below(bytes.length)), other.slice(below(other.length))]);
  },
  shuffleLines: (bytes) => mapLines(bytes, shuffle),
  swapLines: (bytes) => mapLines(bytes, (lines) => swap(lines, below(lines.length), below(lines.length))),
  dropLine: (bytes) => mapLines(bytes, (lines) => lines.toSpliced(below(lines.length), 1)),
  doubleLine: (bytes) => mapLines(bytes, (lines) => lines.toSpliced(below(lines.length), 0, pick(lines))),
  replaceValue: (bytes) => mapLines(bytes, (lines) => retype(lines, below(lines.length))),
  indentLine: (bytes) =>
    mapLines(bytes, (lines) => lines.with(below(lines.length), `${' '.repeat(below(9))}${pick(lines)}`)),
};
const kinds = Object.keys(MUTATIONS);

const counts = { accepted: 0 };
const failures = [];
let slowest = { ms: 0, history: '' };
const began = performance.now();
for (const { bytes, history } of everything()) {
  const { outcome, error, ms } = read(bytes);
  counts[outcome] = (counts[outcome] ?? 0) + 1;
  if (outcome === 'failed') fail(`${history}: ${error?.stack ?? error}`, bytes);
  // A pause of the machine is no fault: only what is slow every time counts.
  const quickest = ms > SLOW_MS ? Math.min(...[1, 2, 3].map(() => read(bytes).ms)) : ms;
  if (quickest > SLOW_MS) fail(`${history}: took ${quickest.toFixed(1)} ms or more, four times`, bytes);
  if (quickest > slowest.ms) slowest = { ms: quickest, history };
}
const seconds = (performance.now() - began) / 1000;

for (const failure of failures.slice(0, 10)) console.error(failure);
const codes = Object.keys(counts).sort();
const rate = `${cases} records in ${seconds.toFixed(1)} s (${Math.round(cases / seconds)}/s), slowest ${slowest.ms.toFixed(1)} ms (${slowest.history})`;
console.log(`fuzz: seed ${seed}, ${rate}: ${codes.map((code) => `${code} ${counts[code]}`).join(', ')}`);
if (failures.length > 0) {
  console.error(`${failures.length} failed; again with: node fuzz/records.mjs ${seed} ${cases}`);
  process.exitCode = 1;
}
if (cases >= 10_000 && (counts.accepted === 0 || codes.length < 6)) {
  console.error('Too few different outcomes: the mutations do not reach all of the reader.');
  process.exitCode = 1;
}

/** The code of the error, `accepted`, or `failed` for any other exception. */
function read(bytes) {
  const start = performance.now();
  try {
    parseRecord(bytes);
    return { outcome: 'accepted', ms: performance.now() - start };
  } catch (error) {
    const ms = performance.now() - start;
    return { outcome: error instanceof HandoffError ? error.code : 'failed', error, ms };
  }
}

function fail(what, bytes) {
  const shown = bytes.length > 20_000 ? `${bytes.length} bytes` : Buffer.from(bytes).toString('base64');
  failures.push(`${what}\n  ${shown}`);
}

function* everything() {
  yield* giants();
  for (let index = GIANTS; index < cases; index++) yield mutant(index);
}

/** Each token as often as fits: as a value, in quotes, as lines of its own, as keys, in a body. */
function* giants() {
  for (const token of TOKENS) {
    const much = fill(token, 260_000);
    for (const [name, before, after] of FRAMES) {
      const frame = concat([
        encoder.encode(before),
        much.subarray(0, name === 'front matter' ? 64_000 : undefined),
        encoder.encode(after),
      ]);
      yield {
        bytes: frame,
        history: `giant of ${JSON.stringify(new TextDecoder().decode(token.subarray(0, 20)))} as ${name}`,
      };
    }
  }
}

/** One to four mutations of a valid record, one after the other. */
function mutant(index) {
  let bytes = pick(corpus);
  const names = Array.from({ length: 1 + below(4) }, () => pick(kinds));
  for (const name of names) bytes = MUTATIONS[name](bytes).slice(0, 300_000);
  return { bytes, history: `case ${index} (${names.join(', ')})` };
}

function readCorpus(name) {
  const vectors = JSON.parse(readFileSync(new URL(`../protocol/vectors/${name}.json`, import.meta.url), 'utf8'));
  return vectors.filter(({ result }) => result === 'valid').map(({ file }) => encoder.encode(file));
}

/** A small generator with a seed: the same number gives the same records on every machine. */
function mulberry32(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function below(limit) {
  return Math.floor(random() * limit);
}

function pick(list) {
  return list[below(list.length)];
}

function point(bytes) {
  const at = below(bytes.length + 1);
  return [at, at];
}

function span(bytes) {
  const from = below(bytes.length + 1);
  return [from, Math.min(bytes.length, from + below(random() < 0.5 ? 8 : 200))];
}

function edit(bytes, change) {
  return bytes.length === 0 ? bytes : change(bytes.slice(), below(bytes.length));
}

/** A token over and over, to a length. */
function fill(token, length) {
  const bytes = new Uint8Array(length);
  bytes.set(token.subarray(0, length));
  for (let done = token.length; done < length; done *= 2) bytes.copyWithin(done, 0, done);
  return bytes;
}

function splice(bytes, [from, to], inserted) {
  return concat([bytes.slice(0, from), inserted, bytes.slice(to)]);
}

function concat(parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Bytes that are no UTF-8 any more stay as they are. */
function mapLines(bytes, change) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return encoder.encode(change(text.split('\n')).join('\n'));
}

function shuffle(lines) {
  const shuffled = [...lines];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled;
}

function swap(lines, a, b) {
  return lines.with(a, lines[b]).with(b, lines[a]);
}

/** The value of one line in the place of another's. */
function retype(lines, at) {
  const value = /: (.*)$/.exec(pick(lines))?.[1] ?? '';
  return lines.with(at, lines[at].replace(/: .*$/, `: ${value}`));
}
