import { createHash, type Hash } from 'node:crypto';
import type { HandoffError } from '../core/error.ts';
import { unquotePath } from './quoted-path.ts';
import { type Git, gitFailure, spawnGit, startFailure } from './run.ts';
import { assertOid, type Oid } from './store.ts';

/** What is compared: a commit with its parents, or with one of them, or two trees (null: nothing). */
export type Comparison = { commit: Oid; parent?: Oid } | { before: Oid | null; after: Oid };

/** What a commit, or the step from one tree to another, changes outside the folder that is left out. */
export interface Change {
  /** Of a merge: what differs from every parent, in lines that are no parent's. */
  paths: string[];
  /** Of a merge: those of the paths that some parents have and others have not, as when one of them renamed a file. */
  moved?: ReadonlySet<string>;
  /** SPEC §9.3. Null where nothing changed, and for a merge. */
  patchId: string | null;
  /** Where they were asked for: empty for a merge that is compared with all its parents. A mode counts as a line. */
  lines?: Lines;
}

/** By path, how often each line is there more (or less) often than before. A mode counts as a line. */
type Lines = ReadonlyMap<string, ReadonlyMap<string, number>>;

export interface ChangeOptions {
  /** Lines are held, and not only hashed. */
  lines?: boolean;
}

/** One process that compares whatever it is asked to. It is started before the first question is known. */
export interface Changes {
  /** A rename is a file less and a file more. */
  read(comparisons: readonly Comparison[], options?: ChangeOptions): Promise<Change[]>;
  close(): Promise<void>;
}

/** Attributes and configuration have no say: the same commits give the same answer in every clone. */
export function openChanges(git: Git, leftOut: string): Changes {
  const args = [...ARGS, '--', '.', `:(top,exclude,literal)${leftOut}`];
  const child = spawnGit({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } }, args, CONFIG);
  const waiting: Waiting[] = [];
  const reader = new ChangesReader(
    () => new PatchReader(waiting[0]?.withLines ?? false),
    (change) => waiting.shift()?.answer(change),
  );
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => reader.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {}); // it has ended early, and its exit code says why
  const ended = new Promise<void>((resolve) => {
    const finish = (error: HandoffError): void => {
      for (const { fail } of waiting.splice(0)) fail(error);
      resolve();
    };
    child.on('error', (cause) => finish(startFailure(cause)));
    child.on('close', (code) =>
      finish(gitFailure(['diff-tree'], { code: code ?? 128, stderr: Buffer.concat(stderr).toString('utf8') })),
    );
  });
  return {
    read(comparisons, { lines: withLines = false } = {}) {
      const answers = comparisons.map(
        () => new Promise<Change>((answer, fail) => waiting.push({ withLines, answer, fail })),
      );
      child.stdin.write(comparisons.map((each) => `${toLine(each)}\n${MARK}\n`).join(''));
      return Promise.all(answers);
    },
    close() {
      child.stdin.end();
      return ended;
    },
  };
}

interface Waiting {
  withLines: boolean;
  answer(change: Change): void;
  fail(error: HandoffError): void;
}

/** Reads changes, all with one process. */
export async function readChanges(git: Git, comparisons: readonly Comparison[], leftOut: string): Promise<Change[]> {
  if (comparisons.length === 0) return [];
  const changes = openChanges(git, leftOut);
  try {
    return await changes.read(comparisons);
  } finally {
    await changes.close();
  }
}

const ARGS = [
  ...['diff-tree', '--stdin', '--root', '-r', '--always', '--raw', '-p', '--cc', '--no-renames', '--no-abbrev'],
  ...['--full-index', '--text', '-U3', '--diff-algorithm=myers', '--no-indent-heuristic', '--no-ext-diff'],
  ...[
    '--no-textconv',
    '--no-color',
    '--ignore-submodules=none',
    '--submodule=short',
    '--src-prefix=a/',
    '--dst-prefix=b/',
  ],
];
const CONFIG = { 'diff.suppressBlankEmpty': 'false' };

/** No object id: git repeats the line as it is, after everything before it. */
const MARK = '.';

function toLine(comparison: Comparison): string {
  if ('commit' in comparison) {
    const { commit, parent } = comparison;
    for (const oid of [commit, parent ?? commit]) assertOid(oid);
    return parent === undefined ? commit : `${commit} ${parent}`;
  }
  const { before, after } = comparison;
  assertOid(after);
  if (before !== null) assertOid(before);
  return `${before ?? emptyTree(after)} ${after}`;
}

/** git knows it without having it. */
function emptyTree({ length }: Oid): Oid {
  const algorithm = length === 40 ? 'sha1' : 'sha256';
  return createHash(algorithm).update('tree 0\0').digest('hex');
}

/** Takes the output line by line, however long: a patch of any size is hashed, never held. */
class ChangesReader {
  readonly #begin: () => PatchReader;
  readonly #take: (change: Change) => void;
  #rest: Buffer = Buffer.alloc(0);
  #current: PatchReader | null = null;

  constructor(begin: () => PatchReader, take: (change: Change) => void) {
    this.#begin = begin;
    this.#take = take;
  }

  add(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(10, from); end >= 0; end = bytes.indexOf(10, from)) {
      this.#line(bytes.subarray(from, end));
      from = end + 1;
    }
    this.#rest = bytes.subarray(from);
  }

  #line(line: Buffer): void {
    this.#current ??= this.#begin();
    if (line.toString('latin1', 0, MARK.length + 1) === MARK) {
      this.#take(this.#current.finish());
      this.#current = null;
    } else this.#current.line(line);
  }
}

const COLON = 0x3a;

/** One comparison: raw lines, then the patch. Lines of a file begin with a space, `+`, `-`, `\` or, of a merge, two of them. */
class PatchReader {
  readonly #paths: string[] = [];
  readonly #combined: string[] = [];
  readonly #moved = new Set<string>();
  #isMerge = false;
  readonly #lines: LineReader | null;
  #hash: Hash | null = null;
  #index: Buffer | null = null;

  constructor(withLines: boolean) {
    this.#lines = withLines ? new LineReader(this.#paths) : null;
  }

  line(line: Buffer): void {
    if (line[0] === COLON) this.#raw(line);
    else this.#patch(line);
  }

  #patch(line: Buffer): void {
    const start = line.toString('latin1', 0, 12);
    if (start.startsWith('diff --cc ')) this.#combined.push(unquotePath(line.subarray('diff --cc '.length)));
    if (start.startsWith('diff --git ')) this.#hash ??= createHash('sha256');
    if (!this.#hash) return; // the line that names the commit
    this.#lines?.line(line, start);
    if (start.startsWith('@@ ')) this.#hash.update('@@\n');
    else if (start.startsWith('index ')) this.#index = Buffer.from(line);
    else this.#content(line, start);
  }

  #content(line: Buffer, start: string): void {
    // too large for git to compare by lines: then the objects are the change
    if (start.startsWith('Binary files') && this.#index) this.#hash!.update(this.#index).update('\n');
    this.#hash!.update(line).update('\n');
  }

  /** `::` of a merge: its paths are told by the patch, which leaves out what is some parent's. */
  #raw(line: Buffer): void {
    const path = unquotePath(line.subarray(line.indexOf(9) + 1));
    this.#isMerge ||= line[1] === COLON;
    if (!this.#isMerge) this.#paths.push(path);
    else if (isMoved(line.toString('latin1', 0, line.indexOf(9)))) this.#moved.add(path);
  }

  finish(): Change {
    const lines = this.#lines ? { lines: this.#lines.lines } : {};
    if (this.#isMerge || this.#combined.length > 0)
      return {
        paths: this.#combined,
        patchId: null,
        ...(this.#moved.size > 0 ? { moved: this.#moved } : {}),
        ...lines,
      };
    return { paths: this.#paths, patchId: this.#hash?.digest('hex') ?? null, ...lines };
  }
}

/** `::<mode> <mode> …`: as many colons as parents, and then the mode in each of them. */
function isMoved(raw: string): boolean {
  const parents = raw.search(/[^:]/);
  const modes = raw.slice(parents).split(' ').slice(0, parents);
  return modes.includes('000000') && modes.some((mode) => mode !== '000000');
}

/** Counts lines. Files come in the order of the raw lines; one that becomes a link has two parts under one header. */
class LineReader {
  readonly lines = new Map<string, Map<string, number>>();
  readonly #paths: readonly string[];
  #header = '';
  #file = -1;
  #isHunk = false;

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  line(line: Buffer, start: string): void {
    if (start.startsWith('diff --git ')) this.#begin(line.toString('latin1'));
    else if (start.startsWith('@@ ')) this.#isHunk = true;
    else if (this.#isHunk) this.#count(line.toString('latin1', 1), start[0]!);
    else this.#mode(line.toString('latin1'));
  }

  #begin(header: string): void {
    if (header !== this.#header) this.#file++;
    this.#header = header;
    this.#isHunk = false;
  }

  #mode(line: string): void {
    const match = /^(old|new|deleted)(?: file)? mode (\d+)$/.exec(line);
    if (match) this.#count(`mode ${match[2]}`, match[1] === 'new' ? '+' : '-');
  }

  #count(text: string, sign: string): void {
    if (sign !== '+' && sign !== '-') return;
    const path = this.#paths[this.#file]!;
    const counts = this.lines.get(path) ?? new Map<string, number>();
    counts.set(text, (counts.get(text) ?? 0) + (sign === '+' ? 1 : -1));
    this.lines.set(path, counts);
  }
}
