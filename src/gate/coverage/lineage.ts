import type { Oid } from '../../git/objects/store.ts';

/** Commits, and those of them that each has behind it. */
export type Lineage = ReadonlyMap<Oid, ReadonlySet<Oid>>;

export type ReadMergeBases = (a: Oid, b: Oid) => Promise<Oid[]>;

/**
 * The commits that git looks at to merge some: these, their merge bases, the merge bases of those, and so on. Where there are
 * several, git merges them with one another first.
 */
export async function readLineage(sides: readonly Oid[], mergeBases: ReadMergeBases): Promise<Lineage> {
  const behind = new Map<Oid, Set<Oid>>(sides.map((oid) => [oid, new Set()]));
  const asked = new Set<string>();
  for (let pair = unknownPair(behind, asked); pair; pair = unknownPair(behind, asked)) {
    asked.add(pair.join(' '));
    for (const base of await mergeBases(...pair)) for (const oid of pair) putBehind(behind, oid, base);
  }
  return behind;
}

/** Two commits whose common history is not known yet. */
function unknownPair(behind: Lineage, asked: ReadonlySet<string>): [Oid, Oid] | undefined {
  const all = [...behind];
  for (const [at, [one, ofOne]] of all.entries()) {
    const isUnknown = ([other, ofOther]: [Oid, ReadonlySet<Oid>]): boolean =>
      !ofOne.has(other) && !ofOther.has(one) && !asked.has(`${one} ${other}`);
    const found = all.slice(at + 1).find(isUnknown);
    if (found) return [one, found[0]];
  }
  return undefined;
}

function putBehind(behind: Map<Oid, Set<Oid>>, oid: Oid, base: Oid): void {
  if (oid === base) return;
  const more = [base, ...(behind.get(base) ?? [])];
  if (!behind.has(base)) behind.set(base, new Set());
  for (const [each, ofEach] of behind) if (each === oid || ofEach.has(oid)) for (const one of more) ofEach.add(one);
}

/** What a commit has behind it, and nothing else of that has. */
export function parentsIn(lineage: Lineage, oid: Oid): Oid[] {
  const behind = [...lineage.get(oid)!];
  return behind.filter((each) => !behind.some((other) => lineage.get(other)!.has(each))).sort();
}

/** Whatever is behind a commit comes before it. */
export function oldestFirst(lineage: Lineage): Oid[] {
  return [...lineage.keys()].sort((a, b) => lineage.get(a)!.size - lineage.get(b)!.size);
}
