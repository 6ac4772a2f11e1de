import type { Paint } from '../terminal.ts';

/** Text that ends in a line break. Long lists are passed whole: a call has a limit of arguments. */
export function lines(...parts: (string | readonly string[])[]): string {
  const all = parts.flat();
  return all.length === 0 ? '' : `${all.join('\n')}\n`;
}

type Style = (cell: string, column: number, row: number) => string;

/** Rows below a line that names their columns. */
export function headedTable(
  heads: string[],
  rows: readonly string[][],
  paint: Paint,
  style: Style = (cell) => cell,
): string[] {
  return table([heads, ...rows], (cell, column, row) =>
    row === 0 ? paint('dim', cell) : style(cell, column, row - 1),
  );
}

/** Rows with aligned columns; the last one is not padded. `style` is given each cell after padding. */
function table(rows: readonly string[][], style: Style): string[] {
  const widths = columnWidths(rows);
  return rows.map((row, at) =>
    row
      .map((cell, column) => style(column === row.length - 1 ? cell : cell.padEnd(widths[column]!), column, at))
      .join('  ')
      .trimEnd(),
  );
}

function columnWidths(rows: readonly string[][]): number[] {
  const widths = (rows[0] ?? []).map(() => 0);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at]!, cell.length);
  return widths;
}

/** What is left of the line for a column that may be long; never so little that nothing can be read. */
export function roomFor(column: number, rows: readonly string[][], columns: number | null): number {
  if (columns === null) return Number.POSITIVE_INFINITY;
  const widths = columnWidths(rows).slice(0, column);
  return Math.max(20, columns - widths.reduce((sum, width) => sum + width + 2, 0));
}

/** `key  value` lines, keys dimmed. */
export function fields(rows: readonly [string, string][], paint: Paint, indent = ''): string[] {
  return table(rows, (cell, column) => (column === 0 ? indent + paint('dim', cell) : cell));
}

/** A record's keys and values, lists and maps below their key. */
export function tree(value: Readonly<Record<string, unknown>>, paint: Paint, indent = ''): string[] {
  const width = Math.max(...Object.keys(value).map((key) => key.length));
  return Object.entries(value).flatMap(([key, item]) => {
    const nested = branch(item, paint, `${indent}  `);
    if (nested) return [indent + paint('dim', key), ...nested];
    return [`${indent}${paint('dim', key.padEnd(width))}  ${scalar(item)}`];
  });
}

function branch(value: unknown, paint: Paint, indent: string): string[] | null {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return null;
  if (!Array.isArray(value)) return tree(value as Record<string, unknown>, paint, indent);
  return value.flatMap((item) => branch(item, paint, `${indent}  `) ?? [`${indent}- ${scalar(item)}`]);
}

function scalar(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'object' ? 'none' : String(value);
}

/** At most so many characters, the last a sign that there are more. */
export function clip(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`;
}

/** Words in lines of at most `width`, the first after `indent`, the others after `hanging`. A longer word is not broken. */
export function paragraph(text: string, width: number, indent: string, hanging = indent): string[] {
  const wrapped: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const start = wrapped.length === 0 ? indent : hanging;
    if (line !== '' && start.length + line.length + 1 + word.length > width) {
      wrapped.push(start + line);
      line = word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...wrapped, (wrapped.length === 0 ? indent : hanging) + line];
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** 1234567 → 1,234,567, without loading a locale. */
function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 12);
}

export function committed(commit: string | null | undefined): string {
  return commit ? `commit ${commit.slice(0, 12)}` : 'not committed';
}
