/** By path, how often each line is there more (or less) often than before. */
type Lines = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * The paths in which a result has lines, or lacks lines, that nothing which is accounted for brought or took away. SPEC §10.4
 *
 * Lines are counted, wherever they stand: however git aligns two files, and whatever a merge moves, a merge that only merges adds
 * up. What is undone in a result is told from every one of its beginnings.
 */
export function unaccountedPaths(
  results: readonly Lines[],
  accounted: readonly Lines[],
  isExempt: (path: string) => boolean,
): string[] {
  const brought = sumOf(accounted);
  const undone = results.map((lines) => {
    const net = netOf(lines, isExempt);
    return new Set([...net].filter(([text, count]) => !isBrought(count, brought.get(text))).map(([text]) => text));
  });
  const [first, ...rest] = undone;
  const texts = [...(first ?? [])].filter((text) => rest.every((set) => set.has(text)));
  return pathsWith(results[0] ?? new Map(), new Set(texts), isExempt);
}

interface Sum {
  added: number;
  removed: number;
}

function isBrought(count: number, { added, removed }: Sum = { added: 0, removed: 0 }): boolean {
  return count > 0 ? added >= count : removed >= -count;
}

/** A line that one commit adds and another removes counts as both. */
function sumOf(changes: readonly Lines[]): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const lines of changes) {
    for (const [text, count] of netOf(lines, () => false)) {
      const sum = sums.get(text) ?? { added: 0, removed: 0 };
      if (count > 0) sum.added += count;
      else sum.removed -= count;
      sums.set(text, sum);
    }
  }
  return sums;
}

/** All files together: a line that goes from one to another is neither more nor less. */
function netOf(lines: Lines, isLeftOut: (path: string) => boolean): Map<string, number> {
  const net = new Map<string, number>();
  for (const [path, counts] of lines) {
    if (isLeftOut(path)) continue;
    for (const [text, count] of counts) net.set(text, (net.get(text) ?? 0) + count);
  }
  for (const [text, count] of net) if (count === 0) net.delete(text);
  return net;
}

function pathsWith(lines: Lines, texts: ReadonlySet<string>, isLeftOut: (path: string) => boolean): string[] {
  const holding = [...lines].filter(
    ([path, counts]) => !isLeftOut(path) && [...counts].some(([text, count]) => count !== 0 && texts.has(text)),
  );
  return holding.map(([path]) => path);
}
