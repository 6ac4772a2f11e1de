/** More pairs of lines than this are not compared: then everything between what both begin and end with is new. */
const LIMIT = 4_000_000;
const CONTEXT = 2;

/** What changes from one text to another, a line each: ` `, `-` or `+` first, `…` where lines are left out. Null stands for no file. */
export function diffLines(before: string | null, after: string | null): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  const head = alike(old, now, (lines, at) => lines[at]);
  const rest = [old.slice(head), now.slice(head)] as const;
  const tail = alike(rest[0], rest[1], (lines, at) => lines[lines.length - 1 - at]);
  const changed = changes(rest[0].slice(0, rest[0].length - tail), rest[1].slice(0, rest[1].length - tail));
  const same = (lines: string[]): string[] => lines.map((line) => ` ${line}`);
  return shortened([...same(old.slice(0, head)), ...changed, ...same(old.slice(old.length - tail))]);
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  const lines = text.replaceAll('\r', '').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

type At = (lines: readonly string[], at: number) => string | undefined;

function alike(one: readonly string[], other: readonly string[], at: At): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && at(one, count) === at(other, count)) count += 1;
  return count;
}

/** By the longest common subsequence. */
function changes(old: readonly string[], now: readonly string[]): string[] {
  if (old.length * now.length > LIMIT) return [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  const lengths = commonLengths(old, now);
  const told: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      told.push(` ${old[i]}`);
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      told.push(`-${old[i++]}`);
    else told.push(`+${now[j++]}`);
  }
  return told;
}

function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(now.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      lengths[i]![j] =
        old[i] === now[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  return lengths;
}

/** Only what changed, and a little around it. */
function shortened(lines: readonly string[]): string[] {
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => !line.startsWith(' '));
  const told: string[] = [];
  for (const [at, line] of lines.entries())
    if (isNear(at)) told.push(line);
    else if (told.length > 0 && told.at(-1) !== '…') told.push('…');
  return told.at(-1) === '…' ? told.slice(0, -1) : told;
}
