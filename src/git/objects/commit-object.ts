import { HandoffError } from '../../core/error.ts';
import { assertOid } from './asked-name.ts';
import type { Commit, CommitDraft, Oid } from './store.ts';
import { malformed } from './tree-object.ts';

/** SPEC §10.3.1: of a commit that arrives. What a message repeats takes next to nothing in a push, and all of it to be read. */
export const MAX_COMMIT_BYTES = 1024 * 1024;

/**
 * Reads a commit as git does: `tree`, then its parents, then `author`, `committer` and whatever else. Readers differ in what they
 * make of a second one, or of one further down, and so none may stand there. Text that is not UTF-8 (git allows other encodings)
 * is decoded with U+FFFD.
 */
export function parseCommit(oid: Oid, bytes: Uint8Array): Commit {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const end = text.indexOf('\n\n');
  const header = end < 0 ? text : text.slice(0, end + 1);
  if (header.includes('\0') || !header.endsWith('\n')) throw malformed('commit', oid);
  return { oid, ...parseHeader(oid, header.slice(0, -1).split('\n')), message: messageOf(text, end) };
}

/** To git a message ends at a NUL. */
function messageOf(text: string, end: number): string {
  if (end < 0) return '';
  const nul = text.indexOf('\0', end);
  return text.slice(end + 2, nul < 0 ? undefined : nul);
}

function parseHeader(oid: Oid, lines: readonly string[]): Omit<CommitDraft, 'message'> {
  let at = 0;
  const isNext = (key: string) => lines[at]?.startsWith(`${key} `) ?? false;
  const take = (key: string): string => {
    if (!isNext(key)) throw malformed('commit', oid);
    return lines[at++]!.slice(key.length + 1);
  };
  const takeId = (key: string): Oid => {
    const id = take(key);
    if (id.length !== oid.length || !/^[0-9a-f]+$/.test(id)) throw malformed('commit', oid);
    return id;
  };
  const tree = takeId('tree');
  const parents: Oid[] = [];
  while (isNext('parent')) parents.push(takeId('parent'));
  const [author, committer] = [take('author'), take('committer')];
  if (lines.slice(at).some((line) => FIRST_ONLY.test(line))) throw malformed('commit', oid);
  return { tree, parents, author, committer };
}

const FIRST_ONLY = /^(?:tree|parent|author|committer)(?:\s|$)/;

const IDENT = /^[^<>\n\0]* <[^<>\n\0]*> \d+ [+-]\d{4}$/;

export function formatCommit({ tree, parents, author, committer, message }: CommitDraft): Uint8Array {
  for (const oid of [tree, ...parents]) assertOid(oid);
  for (const ident of [author, committer]) {
    if (!IDENT.test(ident)) throw new HandoffError('usage', `Expected "Name <mail> seconds +0000", got ${ident}`);
  }
  if (message.includes('\0')) throw new HandoffError('usage', 'A commit message cannot contain a NUL');
  const lines = [
    `tree ${tree}`,
    ...parents.map((oid) => `parent ${oid}`),
    `author ${author}`,
    `committer ${committer}`,
  ];
  return Buffer.from(`${lines.join('\n')}\n\n${message}`);
}

/** What an annotated tag points at, and what it says that is. */
export function parseTag(oid: Oid, bytes: Uint8Array): { target: Oid; type: string } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const [, target = '', type = ''] = TAG.exec(text) ?? [];
  if (target.length !== oid.length) throw malformed('tag', oid);
  return { target, type };
}

const TAG = /^object ([0-9a-f]{40,64})\ntype (commit|tree|blob|tag)\ntag [^\n]*\n/;
