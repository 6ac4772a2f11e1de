/** `P0.2` before `P0.10`: digits count as numbers, everything else by its code. No locale has a say. */
export function byNature(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = compareParts(left[at]!, right[at]!);
    if (difference !== 0) return difference;
  }
  // `01` and `1` are different ids
  return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0);
}

function partsOf(text: string): string[] {
  return text.match(/[0-9]+|[^0-9]+/g) ?? [];
}

function compareParts(a: string, b: string): number {
  if (a === b) return 0;
  if (!isNumber(a) || !isNumber(b)) return a < b ? -1 : 1;
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  // without leading zeros the longer one is larger: an id can have more digits than a number can hold
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

function isNumber(part: string): boolean {
  return part.charCodeAt(0) >= 0x30 && part.charCodeAt(0) <= 0x39;
}
