import { createHash } from 'node:crypto';
import type { HandoffError } from '../../core/error.ts';
import { assertOid } from '../objects/asked-name.ts';
import type { Oid } from '../objects/store.ts';
import { codeOf, type Git, gitFailure, spawnGit, startFailure, withoutIndex } from '../run.ts';
import { type FileHunks, openHunkReader } from './hunk-reader.ts';
import type { LineReader } from './line-reader.ts';
import { type CommitChange, openPatchReader } from './patch-reader.ts';

/** What is compared: a commit with its parent, or with one of several, or two trees (null: nothing). */
export type Comparison = { commit: Oid; parent?: Oid } | { before: Oid | null; after: Oid };

/** One process that compares whatever it is asked to. It is started before the first question is known. */
export interface ChangeReader {
  /** A rename is a file less and a file more. */
  read(comparisons: readonly Comparison[]): Promise<CommitChange[]>;
  /** Where each patch is applied: of every file that it changes line by line, what it finds there. Null where that is too much to hold. */
  readHunks(comparisons: readonly Comparison[]): Promise<(FileHunks[] | null)[]>;
  close(): Promise<void>;
}

/** Attributes and configuration have no say: the same commits give the same answer in every clone. */
export function openChanges(git: Git, leftOut: string): ChangeReader {
  const args = [...ARGS, '--', '.', `:(top,exclude,literal)${leftOut}`];
  const compared = withoutIndex({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } });
  const child = spawnGit(compared, args, CONFIG);
  const waiting: Question[] = [];
  const lines = openLines((line) => {
    if (line.toString('latin1', 0, MARK.length + 1) === MARK) waiting.shift()?.finish();
    else waiting[0]?.line(line);
  });
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => lines(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {}); // it has ended early, and its exit code says why
  const ended = new Promise<void>((resolve) => {
    const finish = (error: HandoffError): void => {
      for (const { fail } of waiting.splice(0)) fail(error);
      resolve();
    };
    child.on('error', (cause) => finish(startFailure(cause)));
    child.on('close', (code, signal) =>
      finish(
        gitFailure(['diff-tree'], { code: code ?? codeOf(signal), stderr: Buffer.concat(stderr).toString('utf8') }),
      ),
    );
  });
  const ask = <T>(comparisons: readonly Comparison[], openReader: () => LineReader<T>): Promise<T[]> => {
    const answers = comparisons.map(
      () => new Promise<T>((resolve, fail) => waiting.push(toQuestion(openReader(), resolve, fail))),
    );
    child.stdin.write(comparisons.map((each) => `${toLine(each)}\n${MARK}\n`).join(''));
    return Promise.all(answers);
  };
  return {
    read: (comparisons) => ask(comparisons, openPatchReader),
    readHunks: (comparisons) => ask(comparisons, openHunkReader),
    close() {
      child.stdin.end();
      return ended;
    },
  };
}

/** A comparison that was asked for, whoever wants what of it. */
interface Question {
  line(line: Buffer): void;
  finish(): void;
  fail(error: HandoffError): void;
}

function toQuestion<T>(reader: LineReader<T>, resolve: (value: T) => void, fail: Question['fail']): Question {
  return { line: (line) => reader.line(line), finish: () => resolve(reader.finish()), fail };
}

/** A line is held until it ends. */
function openLines(take: (line: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer[] = [];
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end);
      take(rest.length === 0 ? part : Buffer.concat([...rest, part]));
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  };
}

/** Reads changes, all with one process. */
export async function readChanges(
  git: Git,
  comparisons: readonly Comparison[],
  leftOut: string,
): Promise<CommitChange[]> {
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
    '--inter-hunk-context=0',
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

/** The tree with nothing in it, which git knows without having it; of the same kind of id as another. */
export function emptyTree({ length }: Oid): Oid {
  const algorithm = length === 40 ? 'sha1' : 'sha256';
  return createHash(algorithm).update('tree 0\0').digest('hex');
}
