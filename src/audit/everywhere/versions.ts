import type { Entry, Source } from '../source/source.ts';

/** Whether a version of a session's folder has every file that another one has: records are only added. */
export async function containsVersion(source: Source, whole: Entry, part: Entry): Promise<boolean> {
  if (whole.oid === part.oid) return true;
  const [all, inPart] = await Promise.all([source.list(whole), source.list(part)]);
  const byName = new Map(all.map(({ name, oid }) => [name, oid]));
  return inPart.every(({ name, oid }) => byName.get(name) === oid);
}
