import type { GitStore, Oid } from '../objects/store.ts';
import type { Git } from '../run.ts';
import { type Range, readNearRange, readRange } from './range.ts';

/** The commits that `head` has and none of `knownCommits` has. Needs no process where branches parted not long ago, as most have. */
export async function readForkedRange(
  git: Git,
  store: GitStore,
  head: Oid,
  knownCommits: readonly Oid[],
): Promise<Range> {
  if (knownCommits.includes(head)) return { commits: [], boundary: new Set() };
  // where history was cut off, a commit does not say which parents git takes it to have
  const near = (await store.isShallow()) ? null : await readNear(store, head, knownCommits);
  return near ?? readRange(git, head, knownCommits);
}

/** Null where no commit is found near by that every way back leads through, from each of them. */
async function readNear(store: GitStore, head: Oid, knownCommits: readonly Oid[]): Promise<Range | null> {
  const fork = await findFork(store, head, knownCommits);
  const [ours, ...theirs] =
    fork === null ? [] : await Promise.all([head, ...knownCommits].map((tip) => readNearRange(store, tip, fork)));
  if (!ours || theirs.some((range) => range === null)) return null;
  const had = new Set(theirs.flatMap((range) => range!.commits.map(({ oid }) => oid)));
  const commits = ours.commits.filter(({ oid }) => !had.has(oid));
  const own = new Set(commits.map(({ oid }) => oid));
  return { commits, boundary: new Set(commits.flatMap(({ parents }) => parents).filter((oid) => !own.has(oid))) };
}

/** The newest commit that is on the line of first parents of all of them. */
async function findFork(store: GitStore, head: Oid, knownCommits: readonly Oid[]): Promise<Oid | null> {
  if (knownCommits.length === 0) return null;
  const lines = [head, ...knownCommits].map((tip): Line => ({ oids: [], next: tip }));
  for (let stretch = 0; stretch < STRETCHES && lines.some(({ next }) => next !== undefined); stretch++) {
    await Promise.all(lines.map((line) => extend(store, line)));
    const [ours, ...theirs] = lines.map(({ oids }) => oids);
    const fork = ours!.find((oid) => theirs.every((oids) => oids.includes(oid)));
    if (fork !== undefined) return fork;
  }
  return null;
}

/** Further back a process that knows all of history is faster. */
const STRETCHES = 8;

/** First parents as far as they are known, and where they go on. */
interface Line {
  oids: Oid[];
  next: Oid | undefined;
}

async function extend(store: GitStore, line: Line): Promise<void> {
  if (line.next === undefined) return;
  const commits = await store.readLine(line.next, NOWHERE.slice(0, line.next.length));
  line.oids.push(...commits.map(({ oid }) => oid));
  line.next = commits.at(-1)?.parents[0];
}

/** No commit has this id: the line goes on as far as it is asked for. */
const NOWHERE = '0'.repeat(64);
