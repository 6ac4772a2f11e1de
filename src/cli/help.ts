import { AUDIENCES, type Command, type Example, type Family, type Flag, GLOBAL_FLAGS, type Verb } from './command.ts';

const WIDTH = 78;

/** One screen of 80 × 24: what there is, by who uses it. */
export function formatMainHelp(commands: readonly Command[]): string {
  const groups = AUDIENCES.flatMap((audience) => {
    const rows = rowsOf(commands.filter((command) => command.audience === audience));
    return rows.length === 0 ? [] : [audience, ...columns(rows, MAIN_COLUMN)];
  });
  return lines(
    'usage: git handoff <verb> [options]',
    'Hand work from one agent to the next: signed records, committed to git.',
    '',
    ...groups,
    '',
    `Every verb takes ${GLOBAL_FLAGS.map(({ flags }) => flags).join(', ')}, and -h, which explains it.`,
  );
}

const MAIN_COLUMN = 33;

/** Verbs that belong together share a line. */
function rowsOf(commands: readonly Command[]): string[][] {
  const names = new Map<string, string[]>();
  for (const { name, row } of commands) names.set(row, [...(names.get(row) ?? []), name]);
  return [...names].map(([row, all]) => [all.join(', '), row]);
}

export function formatFamilyHelp(family: Family): string {
  return lines(
    `usage: git handoff ${family.name} <verb> [options]`,
    '',
    ...wrap(family.purpose),
    '',
    ...columns(family.verbs.map(({ name, summary }) => [name, summary])),
    ...formatExamples(family.examples),
    '',
    `git handoff ${family.name} <verb> -h explains a verb.`,
  );
}

export function formatVerbHelp(verb: Verb, family = ''): string {
  const rows = [...verb.args.map(({ name, about }) => [name, about]), ...visibleFlags(verb).map(flagRow)];
  return lines(
    ...wrap(`usage: ${synopsis(verb, family)}`, '  '),
    '',
    ...wrap(verb.purpose),
    ...(rows.length === 0 ? [] : ['', ...columns(rows)]),
    ...formatExamples(verb.examples),
    '',
    `Every verb takes ${GLOBAL_FLAGS.map(({ flags }) => flags).join(', ')}.`,
  );
}

/** `git handoff verify [REV] [--staged] [--root <root>]` */
export function synopsis(verb: Verb, family: string): string {
  const args = verb.args.map(({ name, optional }) => (optional ? `[${name}]` : name));
  const flags = visibleFlags(verb).map(({ flags, required }) => {
    const long = flags.replace(/^-\w, /, '');
    return required ? long : `[${long}]`;
  });
  return ['git handoff', family, verb.name, ...args, ...flags].filter((word) => word !== '').join(' ');
}

export function visibleFlags({ flags }: Verb): Flag[] {
  return flags.filter(({ hidden }) => !hidden);
}

/** At most `WIDTH` wide. A space inside brackets does not break. */
function wrap(text: string, indent = ''): string[] {
  const wrapped: string[] = [];
  let line = '';
  for (const word of text.match(/\[[^\]]*\]|\S+/g) ?? []) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      wrapped.push(line);
      line = indent + word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...wrapped, line];
}

function formatExamples(examples: readonly Example[]): string[] {
  return ['', 'Examples', ...examples.flatMap(({ run, does }) => [`  # ${does}`, `  ${run}`])];
}

function flagRow({ flags, about }: Flag): string[] {
  return [flags, about];
}

function columns(rows: readonly string[][], width = Math.max(...rows.map(([left = '']) => left.length)) + 2): string[] {
  return rows.flatMap(([left = '', right = '']) => {
    const [first = '', ...rest] = wrap(right.padStart(right.length + width + 2, '\0'), ' '.repeat(width + 2));
    return [`  ${left.padEnd(width)}${first.replaceAll('\0', '')}`, ...rest];
  });
}

function lines(...all: string[]): string {
  return `${all.join('\n')}\n`;
}
