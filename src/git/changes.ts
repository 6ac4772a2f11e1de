import { createHash, type Hash } from 'node:crypto';
import type { HandoffError } from '../core/error.ts';
import { unquotePath } from './quoted-path.ts';
import { type Git, gitFailure, spawnGit, startFailure, withoutIndex } from './run.ts';
import { assertOid, type Oid } from './store.ts';

/** What is compared: a commit with its parent, or with one of several, or two trees (null: nothing). */
export type Comparison = { commit: Oid; parent?: Oid } | { before: Oid | null; after: Oid };

/** What a commit, or the step from one tree to another, changes outside the folder that is left out. */
export interface Change {
  paths: string[];
  /** SPEC §9.3. Null where nothing changed. */
  patchId: string | null;
}

/** One process that compares whatever it is asked to. It is started before the first question is known. */
export interface Changes {
  /** A rename is a file less and a file more. */
  read(comparisons: readonly Comparison[]): Promise<Change[]>;
  close(): Promise<void>;
}

/** Attributes and configuration have no say: the same commits give the same answer in every clone. */
export function openChanges(git: Git, leftOut: string): Changes {
  const args = [...ARGS, '--', '.', `:(top,exclude,literal)${leftOut}`];
  const compared = withoutIndex({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } });
  const child = spawnGit(compared, args, CONFIG);
  const waiting: Waiting[] = [];
  const reader = new ChangesReader((change) => waiting.shift()?.answer(change));
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
    read(comparisons) {
      const answers = comparisons.map(() => new Promise<Change>((answer, fail) => waiting.push({ answer, fail })));
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
  ...['diff-tree', '--stdin', '--root', '-r', '--always', '--raw', '-p', '--no-renames', '--no-abbrev'],
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

/** Takes the output line by line: a patch of any size is hashed, never held. A line is held until it ends. */
class ChangesReader {
  readonly #take: (change: Change) => void;
  #rest: Buffer[] = [];
  #current = new PatchReader();

  constructor(take: (change: Change) => void) {
    this.#take = take;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end);
      this.#line(this.#rest.length === 0 ? part : Buffer.concat([...this.#rest.splice(0), part]));
      from = end + 1;
    }
    if (from < chunk.length) this.#rest.push(chunk.subarray(from));
  }

  #line(line: Buffer): void {
    if (line.toString('latin1', 0, MARK.length + 1) === MARK) {
      this.#take(this.#current.finish());
      this.#current = new PatchReader();
    } else this.#current.line(line);
  }
}

const COLON = 0x3a;

/** One comparison: raw lines, then the patch. Lines of a file begin with a space, `+`, `-` or `\`. */
class PatchReader {
  readonly #paths: string[] = [];
  #hash: Hash | null = null;
  #index: Buffer | null = null;

  line(line: Buffer): void {
    if (line[0] === COLON) this.#paths.push(unquotePath(line.subarray(line.indexOf(9) + 1)));
    else this.#patch(line);
  }

  #patch(line: Buffer): void {
    const start = line.toString('latin1', 0, 12);
    if (start.startsWith('diff --git ')) this.#hash ??= createHash('sha256');
    if (!this.#hash) return; // the line that names the commit
    if (start.startsWith('@@ ')) this.#hash.update('@@\n');
    else if (start.startsWith('index ')) this.#index = Buffer.from(line);
    else this.#content(line, start);
  }

  #content(line: Buffer, start: string): void {
    // too large for git to compare by lines: then the objects are the change
    if (start.startsWith('Binary files') && this.#index) this.#hash!.update(this.#index).update('\n');
    this.#hash!.update(line).update('\n');
  }

  finish(): Change {
    return { paths: this.#paths, patchId: this.#hash?.digest('hex') ?? null };
  }
}
