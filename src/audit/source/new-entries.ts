import type { Entry, Source } from './source.ts';

/** What is in a folder and was not there before, or was another; and what was there under the names that may have changed. */
export async function newEntries(
  source: Source,
  old: Entry | null,
  now: Entry,
): Promise<{ entries: Entry[]; before: ReadonlyMap<string, Entry> }> {
  const [was, is] =
    old && source.compare
      ? await source.compare(old, now)
      : [old ? await source.list(old) : [], await source.list(now)];
  const before = new Map(was.map((entry) => [entry.name, entry]));
  return { entries: is.filter(({ name, oid }) => before.get(name)?.oid !== oid), before };
}
