import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isolatedEnv } from '../temporary.ts';
import {
  ancestorsOf,
  type Commit,
  type Entry,
  mergeBases,
  type Objects,
  type Oid,
  openObjects,
  writeCommit,
} from './objects.ts';

export interface Merge {
  tree: Oid;
  /** Every path that git reports in conflict, as the sides have it that have it. */
  conflicts: ReadonlyMap<string, readonly Entry[]>;
}

/** SPEC §10.4.2: with the objects, and nothing else that could have a say. */
export interface Merging {
  /** The repository it is done in: as bare as can be. */
  dir: string;
  /** What merging makes, too, is among these. */
  objects: Objects;
  /** Null where git makes no such merge. */
  merge(commits: readonly Oid[]): Merge | null;
  /** To merge two trees, a third being what they have in common. */
  mergeTrees(common: Oid, ours: Oid, theirs: Oid): Merge | null;
  close(): void;
}

export function openMerging(objectsFolder: string, scratch: string): Merging {
  const bare = makeBare(scratch, objectsFolder);
  const objects = openObjects(join(bare, 'objects'), objectsFolder);
  const known = new Map<string, Merge | null>();
  const two = (ours: Oid, theirs: Oid): Merge | null => {
    const name = `${ours} ${theirs}`;
    if (!known.has(name))
      known.set(name, mergeTrivially(objects, ours, theirs) ?? mergeTwo(bare, objects, ours, theirs));
    return known.get(name)!;
  };
  const mergeTrees = (...[common, ...sides]: [Oid, Oid, Oid]): Merge | null => {
    const before = writeCommit(objects, { tree: common, parents: [] });
    const [ours, theirs] = sides.map((tree) => writeCommit(objects, { tree, parents: [before] }));
    return two(ours!, theirs!);
  };
  return {
    dir: bare,
    objects,
    merge: (commits) => mergeAll(objects, two, commits),
    mergeTrees,
    close: () => rmSync(bare, { recursive: true, force: true }),
  };
}

/** An empty bare repository that borrows objects. */
export function makeBare(scratch: string, ...borrowed: string[]): string {
  const bare = mkdtempSync(join(scratch, 'bare-'));
  mkdirSync(join(bare, 'objects/info'), { recursive: true });
  mkdirSync(join(bare, 'refs'));
  writeFileSync(join(bare, 'HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(bare, 'config'), '[core]\n\tbare = true\n\trepositoryformatversion = 0\n');
  if (borrowed.length > 0) writeFileSync(join(bare, 'objects/info/alternates'), `${borrowed.join('\n')}\n`);
  return bare;
}

/** Several one after the other; where one of them conflicts before the last, git makes none. */
function mergeAll(objects: Objects, two: (a: Oid, b: Oid) => Merge | null, commits: readonly Oid[]): Merge | null {
  let [ours, ...others] = commits as [Oid, ...Oid[]];
  let merge: Merge | null = null;
  for (const theirs of others) {
    if (merge && merge.conflicts.size > 0) return null;
    merge = two(ours, theirs);
    if (!merge) return null;
    ours = writeCommit(objects, { tree: merge.tree, parents: [ours, theirs] });
  }
  return merge;
}

/** Where one side has done nothing since they parted, git takes the other. Null where it has. */
function mergeTrivially(objects: Objects, ours: Oid, theirs: Oid): Merge | null {
  const [mine, other] = [objects.commit(ours)!, objects.commit(theirs)!];
  const isSameAs = (side: Commit, common: Oid) => side.oid === common || objects.commit(common)!.tree === side.tree;
  const bases = mergeBases(objects, ours, theirs);
  if (bases.length !== 1) return null;
  if (isSameAs(mine, bases[0]!)) return { tree: other.tree, conflicts: new Map() };
  return isSameAs(other, bases[0]!) || mine.tree === other.tree ? { tree: mine.tree, conflicts: new Map() } : null;
}

function mergeTwo(bare: string, objects: Objects, ours: Oid, theirs: Oid): Merge | null {
  const behind = ancestorsOf(objects, ours);
  if (![...ancestorsOf(objects, theirs)].some((oid) => behind.has(oid))) return null; // they never met
  const settings = ['-c', 'merge.renameLimit=7000', '-c', 'core.attributesFile=/dev/null'];
  const args = ['-C', bare, ...settings, 'merge-tree', '--write-tree', '--no-messages', '-z', ours, theirs];
  const { status, stdout, stderr } = spawnSync('git', args, { env: { ...isolatedEnv, GIT_ATTR_NOSYSTEM: '1' } });
  if (status !== 0 && status !== 1) throw new Error(`git merge-tree ended with ${status}: ${stderr}`);
  const [tree, ...entries] = stdout
    .toString('utf8')
    .split('\0')
    .filter((each) => each !== '');
  const conflicts = new Map<string, Entry[]>();
  for (const entry of entries) {
    const [, mode, oid, path] = /^(\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(entry)!;
    conflicts.set(path!, [...(conflicts.get(path!) ?? []), { mode: mode!, oid: oid! }]);
  }
  return status === 1 && conflicts.size === 0 ? null : { tree: tree!, conflicts };
}
