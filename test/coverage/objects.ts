import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

export type Oid = string;
type ObjectType = 'blob' | 'tree' | 'commit';

export interface Entry {
  mode: string;
  oid: Oid;
}

/** A tree with its folders opened: what is at each path. */
export type Files = ReadonlyMap<string, Entry>;

export interface Commit {
  oid: Oid;
  tree: Oid;
  parents: readonly Oid[];
  author: string;
  committer: string;
}

/** The loose objects of some folders, read and written without a process: a small history costs nothing. */
export interface Objects {
  write(type: ObjectType, bytes: Uint8Array | string): Oid;
  /** Null where it is not to be had. */
  read(oid: Oid): { type: string; bytes: Buffer } | null;
  commit(oid: Oid): Commit | null;
  files(tree: Oid): Files;
}

export function openObjects(...folders: [string, ...string[]]): Objects {
  const trees = new Map<Oid, Files>();
  const commits = new Map<Oid, Commit>();
  const read = (oid: Oid) => readLoose(folders, oid);
  return {
    write: (type, bytes) => writeLoose(folders[0], type, Buffer.from(bytes)),
    read,
    commit(oid) {
      const object = commits.has(oid) ? null : read(oid);
      if (object?.type === 'commit') commits.set(oid, parseCommit(oid, object.bytes.toString('latin1')));
      return commits.get(oid) ?? null;
    },
    files(tree) {
      const known = trees.get(tree) ?? new Map(entriesOf(read, tree, ''));
      trees.set(tree, known);
      return known;
    },
  };
}

function looseName(oid: Oid): string {
  return join(oid.slice(0, 2), oid.slice(2));
}

function writeLoose(folder: string, type: ObjectType, bytes: Buffer): Oid {
  const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
  const oid = createHash('sha1').update(whole).digest('hex');
  const file = join(folder, looseName(oid));
  if (existsSync(file)) return oid;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, deflateSync(whole, { level: 1 }));
  return oid;
}

function readLoose(folders: readonly string[], oid: Oid): { type: string; bytes: Buffer } | null {
  const folder = folders.find((each) => existsSync(join(each, looseName(oid))));
  if (folder === undefined) return null;
  const whole = inflateSync(readFileSync(join(folder, looseName(oid))));
  const end = whole.indexOf(0);
  return { type: whole.toString('latin1', 0, whole.indexOf(' ')), bytes: whole.subarray(end + 1) };
}

function parseCommit(oid: Oid, text: string): Commit {
  const lines = text.slice(0, text.indexOf('\n\n')).split('\n');
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((l) => l.slice(name.length + 1));
  const [author, committer] = [all('author')[0]!, all('committer')[0]!];
  return { oid, tree: all('tree')[0]!, parents: all('parent'), author, committer };
}

function* entriesOf(read: Objects['read'], tree: Oid, folder: string): Generator<[string, Entry]> {
  const object = read(tree);
  if (!object) throw new Error(`there is no tree ${tree}`);
  for (let { bytes } = object; bytes.length > 0; ) {
    const [space, end] = [bytes.indexOf(' '), bytes.indexOf(0)];
    const mode = bytes.toString('latin1', 0, space);
    const path = folder + bytes.toString('utf8', space + 1, end);
    const oid = bytes.toString('hex', end + 1, end + 21);
    if (mode === '40000') yield* entriesOf(read, oid, `${path}/`);
    else yield [path, { mode, oid }];
    bytes = bytes.subarray(end + 21);
  }
}

/** Writes the tree that has these files. */
export function writeFiles(objects: Objects, files: Files): Oid {
  const entries = new Map<string, Entry>();
  const folders = new Map<string, Map<string, Entry>>();
  for (const [path, entry] of files) {
    const at = path.indexOf('/');
    if (at < 0) entries.set(path, entry);
    else {
      const name = path.slice(0, at);
      folders.set(name, (folders.get(name) ?? new Map<string, Entry>()).set(path.slice(at + 1), entry));
    }
  }
  for (const [name, inside] of folders) entries.set(name, { mode: '40000', oid: writeFiles(objects, inside) });
  const sortName = ([name, { mode }]: [string, Entry]) => Buffer.from(mode === '40000' ? `${name}/` : name);
  const sorted = [...entries].sort((a, b) => Buffer.compare(sortName(a), sortName(b)));
  const lines = sorted.map(([name, { mode, oid }]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
  return objects.write('tree', Buffer.concat(lines));
}

export interface NewCommit {
  tree: Oid;
  parents: readonly Oid[];
  author?: string;
  committer?: string;
  message?: string;
}

const NOBODY = 'Nobody <nobody@example.org> 0 +0000';

export function writeCommit(
  objects: Objects,
  { tree, parents, author = NOBODY, committer = author, message = 'a commit' }: NewCommit,
): Oid {
  const lines = [
    `tree ${tree}`,
    ...parents.map((oid) => `parent ${oid}`),
    `author ${author}`,
    `committer ${committer}`,
  ];
  return objects.write('commit', `${lines.join('\n')}\n\n${message}\n`);
}

/** A commit and all that it has behind it, as far as that is to be had. */
export function ancestorsOf(objects: Objects, ...from: readonly Oid[]): Set<Oid> {
  const seen = new Set<Oid>();
  for (const waiting = [...from]; waiting.length > 0; ) {
    const oid = waiting.pop()!;
    const commit = seen.has(oid) ? null : objects.commit(oid);
    if (!commit) continue;
    seen.add(oid);
    waiting.push(...commit.parents);
  }
  return seen;
}

/** What two commits have in common, and nothing that they have in common descends from. */
export function mergeBases(objects: Objects, a: Oid, b: Oid): Oid[] {
  const behind = ancestorsOf(objects, a);
  const common = [...ancestorsOf(objects, b)].filter((oid) => behind.has(oid));
  return common.filter((oid) => !common.some((other) => other !== oid && ancestorsOf(objects, other).has(oid)));
}
