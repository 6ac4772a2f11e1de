import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../../src/core/paths.ts';
import { type Comparer, openComparer } from '../../src/gate/coverage/comparer.ts';
import { type ChangeReader, openChanges } from '../../src/git/changes/changes.ts';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt, type Repository } from '../../src/repository/repository.ts';
import { disposableDirectory, isolatedEnv } from '../temporary.ts';
import { type Merging, makeBare, openMerging } from './merging.ts';
import { ancestorsOf, type Objects, type Oid, openObjects } from './objects.ts';

/** One repository that judges: what the fast code works with, and what the slow one does. */
export interface Court {
  repository: Repository;
  comparer: Comparer;
  objects: Objects;
  merging: Merging;
  /** Reads patch ids where no configuration has a say. */
  changes: ChangeReader;
  /** The folder of its objects. */
  folder: string;
}

export type CourtName = 'plain' | 'hostile' | 'pruned';

/** Where histories are made and judged: a few repositories for all of them, as starting git takes longer than anything else. */
export interface Lab {
  /** `plain` has everything. `hostile` has too, and a configuration that gets in the way. `pruned` has what it was given. */
  courts: Record<CourtName, Court>;
  /** Gives the third court all that some commits have behind them, and nothing else. */
  keep(commits: readonly Oid[]): void;
  close(): Promise<void>;
}

export function openLab(): Lab {
  const { path, remove } = disposableDirectory();
  const whole = makeBare(path);
  const hostile = makeHostile(path, join(whole, 'objects'));
  const courts = {
    plain: openCourt(path, whole, join(whole, 'objects')),
    hostile: openCourt(path, hostile, join(whole, 'objects')),
    pruned: openPruned(path),
  };
  return {
    courts,
    keep(commits) {
      for (const oid of reachable(courts.plain.objects, commits)) copyObject(courts.plain, courts.pruned, oid);
    },
    async close() {
      for (const { comparer, repository, merging, changes } of Object.values(courts)) {
        await Promise.all([comparer.close(), repository.close(), changes.close()]);
        merging.close();
      }
      remove();
    },
  };
}

function openPruned(path: string): Court {
  const bare = makeBare(path);
  return openCourt(path, bare, join(bare, 'objects'));
}

function openCourt(scratch: string, dir: string, folder: string): Court {
  const repository = openRepositoryAt(dir, { env: isolatedEnv, host: nodeHost });
  const merging = openMerging(folder, scratch);
  return {
    repository,
    comparer: openComparer(repository),
    objects: openObjects(folder),
    merging,
    changes: openChanges({ dir: merging.dir, env: isolatedEnv }, ROOT),
    folder,
  };
}

/** All that a repository can be told which changes how git merges and compares. */
function makeHostile(scratch: string, objects: string): string {
  const dir = makeBare(scratch, objects);
  const attributes = join(dir, 'attributes');
  writeFileSync(attributes, '* merge=ours -diff\n*.txt merge=mine diff=none\n');
  mkdirSync(join(dir, 'info'));
  writeFileSync(join(dir, 'info/attributes'), '* merge=mine\n*.txt merge=ours -text diff=none\n');
  writeFileSync(
    join(dir, 'config'),
    `[core]
	bare = true
	repositoryformatversion = 0
	attributesFile = ${attributes}
	quotePath = true
[merge]
	default = mine
	renameLimit = 1
	renames = false
	directoryRenames = true
	conflictStyle = diff3
	renormalize = true
[merge "mine"]
	driver = true
[merge "ours"]
	driver = true
[diff]
	renameLimit = 1
	renames = false
	algorithm = patience
	context = 1
	interHunkContext = 9
	noPrefix = true
	mnemonicPrefix = true
	ignoreSubmodules = all
	suppressBlankEmpty = true
	indentHeuristic = true
[diff "none"]
	binary = true
	textconv = false
[color]
	ui = always
`,
  );
  return dir;
}

function reachable(objects: Objects, commits: readonly Oid[]): Oid[] {
  const found = new Set<Oid>();
  const addTree = (oid: Oid): void => {
    const object = found.has(oid) ? null : objects.read(oid);
    if (!object) return; // a submodule's commit is nowhere
    found.add(oid);
    if (object.type !== 'tree') return;
    for (let { bytes } = object; bytes.length > 0; ) {
      const end = bytes.indexOf(0);
      if (!bytes.toString('latin1').startsWith('160000')) addTree(bytes.toString('hex', end + 1, end + 21));
      bytes = bytes.subarray(end + 21);
    }
  };
  for (const oid of ancestorsOf(objects, ...commits)) {
    addTree(objects.commit(oid)!.tree);
    found.add(oid);
  }
  return [...found];
}

function copyObject(from: Court, to: Court, oid: Oid): void {
  const name = join(oid.slice(0, 2), oid.slice(2));
  const copy = join(to.folder, name);
  if (existsSync(copy)) return;
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(join(from.folder, name), copy);
}
