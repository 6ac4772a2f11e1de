import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { discoverRepository } from '../discover.ts';
import { objectFormat } from '../objects/loose-object.ts';
import type { Oid, Ref } from '../objects/store.ts';
import { type Git, type GitResult, gitFailure } from '../run.ts';
import { converse, type Remote, remoteFailure } from './remote.ts';

/**
 * Brings these refs of the remote, without what they lead to, into a repository of their own that is gone afterwards: whoever
 * may push there decides what they are. Nothing of it gets into the user's repository, which does not become shallow either.
 *
 * Small commits arrive at once. What takes longer is asked for again without trees; a server that cannot do that is listened
 * to until the commits are there, which it sends first.
 */
export async function withFetched<T>(
  remote: Remote,
  refs: readonly Ref[],
  use: (aside: Git) => Promise<T>,
): Promise<T> {
  for (const attempt of ATTEMPTS) {
    const aside = openAside(remote.git);
    try {
      if (await fetchBy(attempt, remote, aside, refs)) return await use(aside.git);
    } finally {
      aside.close();
    }
  }
  throw remoteFailure(remote, 'it sent no commits');
}

interface Attempt {
  flags: readonly string[];
  /** Whether to give up, by what git has said so far and by the milliseconds that have passed. */
  isHopeless(said: string, passed: number): boolean;
}

/** Milliseconds that an honest answer, a few hundred bytes for each ref, should take. */
const PATIENCE = 2000;

const ATTEMPTS: readonly Attempt[] = [
  { flags: ['--no-filter'], isHopeless: (_, passed) => passed > PATIENCE },
  { flags: ['--filter=tree:0'], isHopeless: (said) => said.includes('filtering not recognized') },
  { flags: ['--no-filter'], isHopeless: () => false },
];

/** False when another attempt may do better. */
async function fetchBy(attempt: Attempt, remote: Remote, aside: Aside, refs: readonly Ref[]): Promise<boolean> {
  const began = performance.now();
  const hasAll = arrival(aside, refs);
  let isHopeless = false;
  const isEnough = (said: string): boolean => {
    isHopeless = attempt.isHopeless(said, performance.now() - began);
    return isHopeless || hasAll();
  };
  const args = [...FETCH, ...attempt.flags, '--stdin', '--end-of-options', remote.name];
  const input = `${refs.map(({ name }) => name).join('\n')}\n`; // more names than a command line may have
  const result = await converse({ ...remote, git: aside.git }, args, { config: CONFIG, input, isEnough });
  if (result.code === 0 || hasAll()) return true;
  if (isHopeless) return false;
  throw fetchFailure(remote, args, result);
}

function fetchFailure(remote: Remote, args: readonly string[], result: GitResult): Error {
  return remoteFailure(remote, gitFailure(args, result).message);
}

/** Whether all of them are there, asked again and again: git writes each object by itself, as soon as it has come. */
function arrival({ objects }: Aside, refs: readonly Ref[]): () => boolean {
  const isHere = (oid: Oid): boolean => existsSync(join(objects, oid.slice(0, 2), oid.slice(2)));
  let here = 0;
  return () => {
    while (here < refs.length && isHere(refs[here]!.oid)) here++;
    return here === refs.length;
  };
}

const FETCH = [
  ...['fetch', '--quiet', '--depth=1', '--no-tags', '--no-write-fetch-head', '--refmap=', '--no-prune'],
  ...['--no-recurse-submodules', '--no-auto-maintenance', '--no-write-commit-graph'],
];

// What is wanted shares no history with what is here: naming that would only cost round trips. What somebody else has put
// there may be no commit that git would make: whoever asks looks at its bytes. And no pack: its commits are there only with
// all the rest.
const CONFIG = {
  'fetch.negotiationAlgorithm': 'noop',
  'fetch.fsckObjects': 'false',
  'fetch.unpackLimit': '1000000000',
  'transfer.unpackLimit': '1000000000',
  'core.fsync': 'none',
};

interface Aside {
  git: Git;
  objects: string;
  close(): void;
}

/**
 * A bare repository with the user's configuration, which says where the remote is and how to get there. It lies inside the
 * user's, for settings that are made for a place, under a name that `git gc` clears away when a killed process leaves it.
 */
function openAside(git: Git): Aside {
  const { topLevel, gitDir, commonDir } = discoverRepository(git.dir, git.env);
  const dir = mkdtempSync(join(commonDir, 'objects', 'tmp_objdir-handoff-'));
  const objects = join(dir, 'objects');
  mkdirSync(objects);
  mkdirSync(join(dir, 'refs'));
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(dir, 'config'), configFile(commonDir));
  return {
    // a relative address of the remote counts from the top
    git: { ...git, dir: topLevel ?? gitDir, set: { ...git.set, GIT_DIR: dir, GIT_OBJECT_DIRECTORY: objects } },
    objects,
    close: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }),
  };
}

function configFile(commonDir: string): string {
  const path = join(commonDir, 'config').replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  const version = objectFormat(commonDir) === 'sha256' ? '1\n[extensions]\n\tobjectFormat = sha256' : '0';
  return `[include]\n\tpath = "${path}"\n[core]\n\tbare = true\n\trepositoryFormatVersion = ${version}\n`;
}
