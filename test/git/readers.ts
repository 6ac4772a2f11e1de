import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { openIsomorphicStore } from '../../src/git/isomorphic/isomorphic-store.ts';
import { parseCommit } from '../../src/git/objects/commit-object.ts';
import { decodeName } from '../../src/git/objects/name-text.ts';
import { openNativeStore } from '../../src/git/objects/native-store.ts';
import { parseTree } from '../../src/git/objects/tree-object.ts';
import { git, isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { gitAt } from './fixture.ts';
import { hostileCommit, hostileTag, hostileTree, makePool, type Pool, writeRaw } from './hostile.ts';

// Our readers of objects beside git's, on objects that nobody's git would write: both read the same, or ours refuses.

/** How many of them ours read, and how many it refused: a comparison of nothing would pass as well. */
export interface Compared {
  read: number;
  refused: number;
}

interface Samples {
  count: number;
  seed: number;
}

const CANONICAL = new Set(['100644', '100755', '040000', '120000', '160000']);

/** By `git log --format=%P` and `%T`, all in one process. */
export function compareCommits({ count, seed }: Samples): Compared {
  const { dir, pool } = hostileRepository();
  const objects = sample(dir, 'commit', hostileCommit(pool), count, seed);
  const ours = readable(objects, parseCommit);
  const input = [...ours.keys()].map((oid) => `${oid}\n`).join('');
  const out = runBytes(dir, input, 'log', '--no-walk=unsorted', '--stdin', '-z', '--format=%H %T %P%n%B');
  const lines = new Map(out.map((each) => [each.toString('latin1', 0, 40), each.toString('utf8')]));
  for (const [oid, { tree, parents, message }] of ours) {
    const [header = '', body = ''] = splitOnce(lines.get(oid)!, '\n');
    expect(header).toBe([oid, tree, parents.join(' ')].join(' '));
    if (hasPlainText(objects.get(oid)!)) expect(message.trim()).toBe(body.trim());
  }
  return { read: ours.size, refused: objects.size - ours.size };
}

/** git 2.39 prints what it finds behind a commit that has no blank line; text in another encoding is nobody's evidence. */
function hasPlainText(commit: Buffer): boolean {
  return commit.includes('\n\n') && !commit.includes('encoding');
}

/** By `git ls-tree`. A mode that git never writes is no file and no folder to us, whatever git makes of it. */
export function compareTrees({ count, seed }: Samples): Compared {
  const { dir, pool } = hostileRepository();
  const objects = sample(dir, 'tree', hostileTree(pool), count, seed);
  const ours = readable(objects, parseTree);
  for (const [oid, entries] of ours) {
    const theirs = runBytes(dir, '', 'ls-tree', '-z', oid).map(parseListed);
    expect(entries.map(({ name, oid: id }) => ({ name, id }))).toEqual(theirs.map(({ name, id }) => ({ name, id })));
    for (const [at, { mode }] of entries.entries()) if (CANONICAL.has(mode)) expect(mode).toBe(theirs[at]!.mode);
  }
  return { read: ours.size, refused: objects.size - ours.size };
}

/** The store without git beside the one that asks it. */
export async function compareTags({ count, seed }: Samples): Promise<Compared> {
  const { dir, pool } = hostileRepository();
  const targets = [...pool.commits, pool.tree, pool.blobs[0]!];
  const plain = `object ${targets[0]}\ntype commit\ntag v0\n\ninner\n`;
  const nested = writeRaw(dir, 'tag', Buffer.from(plain));
  const objects = sample(dir, 'tag', hostileTag([nested, ...targets]), count, seed);
  const native = openNativeStore(gitAt(dir));
  const other = await openIsomorphicStore({ fs, dir });
  const compared = { read: 0, refused: 0 };
  for (const oid of objects.keys()) {
    const [ours, theirs] = [await other.readCommit(oid).catch(toTyped), await native.readCommit(oid).catch(toTyped)];
    if (ours instanceof HandoffError) compared.refused++;
    else {
      // a tag that calls a commit a tree makes that process believe it from then on: a new one knows nothing yet
      const oidOfTheirs = theirs instanceof HandoffError ? git(dir, 'rev-parse', `${oid}^{commit}`) : theirs.oid;
      expect(ours.oid).toBe(oidOfTheirs);
      compared.read++;
    }
  }
  await native.close();
  return compared;
}

function hostileRepository(): { dir: string; pool: Pool } {
  const dir = join(temporaryDirectory(), 'work');
  git('/', 'init', '--quiet', '--initial-branch=main', '--template=', dir);
  git(dir, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return { dir, pool: makePool(dir) };
}

/** By their ids, each once. */
function sample(
  dir: string,
  type: 'commit' | 'tree' | 'tag',
  arbitrary: fc.Arbitrary<Buffer>,
  numRuns: number,
  seed: number,
): Map<string, Buffer> {
  return new Map(fc.sample(arbitrary, { numRuns, seed }).map((bytes) => [writeRaw(dir, type, bytes), bytes]));
}

/** Anything but a typed error is a failure of the reader. */
function readable<T>(objects: ReadonlyMap<string, Buffer>, parse: (oid: string, bytes: Buffer) => T): Map<string, T> {
  const read = new Map<string, T>();
  for (const [oid, bytes] of objects) {
    try {
      read.set(oid, parse(oid, bytes));
    } catch (error) {
      expect(toTyped(error).code).toBe('bytes_invalid');
    }
  }
  return read;
}

function toTyped(error: unknown): HandoffError {
  if (error instanceof HandoffError) return error;
  throw error;
}

function parseListed(line: Buffer): { mode: string; name: string; id: string } {
  const [, mode = '', id = ''] = /^(\d+) \w+ ([0-9a-f]+)\t/.exec(line.toString('latin1'))!;
  return { mode, id, name: decodeName(line.subarray(line.indexOf('\t') + 1)) };
}

/** What git prints, cut at NUL. */
function runBytes(dir: string, input: string, ...args: string[]): Buffer[] {
  const out = execFileSync('git', ['-C', dir, ...args], { input, env: isolatedEnv, maxBuffer: 2 ** 28 });
  const parts = out.toString('latin1').split('\0');
  return parts.filter((part) => part !== '').map((part) => Buffer.from(part, 'latin1'));
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
