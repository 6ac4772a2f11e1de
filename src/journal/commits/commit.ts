import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { temporaryName, writeUnsynced } from '../../disk/durable.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import type { GitConfig } from '../../git/config.ts';
import { isLockedOut, untilUnlocked } from '../../git/index/until-unlocked.ts';
import type { Oid } from '../../git/objects/store.ts';
import { type Git, type GitResult, gitFailure, readGit, runGit } from '../../git/run.ts';
import { withoutOwnHooks } from '../../repository/git-hooks/own-hooks.ts';
import type { Directories, GitAccess, StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { stateDirs } from '../sessions/registry.ts';
import { assertHeld } from './held-bytes.ts';
import { howToEnd, keepingUnderWay } from './under-way.ts';

export interface GitCommit {
  written: string[];
  removed?: string[];
  message: string;
  /** Who to name as author where git knows nobody. */
  identity: string;
  /** What the commit must hold byte for byte. */
  files: readonly FileToWrite[];
}

/**
 * Has git commit these paths and nothing else (`--only`: what else is staged stays staged), and looks at what it made of them.
 * Returns the commit's id. Hooks of others are run but for `pre-commit`: a formatter would change what was signed.
 */
export async function commitByGit(repository: Repository, change: GitCommit): Promise<Oid> {
  const oid = await runCommit(repository, await repository.config(), change);
  await assertHeld(repository, oid, change.files);
  return oid;
}

async function runCommit(
  repository: GitAccess & Directories & StateDirectory,
  config: GitConfig,
  change: GitCommit,
): Promise<Oid> {
  const { git, dirs, stateDir } = repository;
  const paths = [...change.written, ...(change.removed ?? [])];
  // The user's hooks run in this environment, and may well use globs.
  const forHooks = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  const author = authorFallback(git, config, change.identity);
  const settings = { 'core.abbrev': 'no', ...author, ...withoutOwnHooks(dirs, config) };
  const message = await messageByHook(forHooks, change.message, stateDirs(stateDir).scratch, settings);
  const args = ['commit', '--only', '--no-verify', '--cleanup=verbatim', '-m', message, '--', ...paths];
  const result = await commitUnlocked(repository, forHooks, args, settings);
  const oid = /^\[[^\n]* ([0-9a-f]{40,64})\] /m.exec(result.stdout.toString('utf8'))?.[1];
  if (result.code === 0 && oid) return oid;
  // HEAD holds it all: an earlier attempt was cut off right after its commit.
  if (result.code === 1 && NOTHING_NEW.test(result.stdout.toString('utf8')))
    return (await readGit(git, ['rev-parse', 'HEAD'])).toString('utf8').trim();
  throw commitFailure(args, result);
}

/** If another process keeps git's lock to the end, the last thing that git said about it. */
async function commitUnlocked(
  { dirs }: Directories,
  git: Git,
  args: readonly string[],
  config: Record<string, string>,
): Promise<GitResult> {
  let last: GitResult | null = null;
  const outcome = await untilUnlocked(async () => {
    last = await keepingUnderWay(dirs, () => runGit(git, args, { config }));
    return isLockedOut(last) ? 'locked' : last;
  });
  return outcome === 'locked' ? last! : outcome;
}

/** `--no-verify` leaves out the hook for messages too, which may add what a server asks for. */
async function messageByHook(
  git: Git,
  message: string,
  scratch: string,
  settings: Record<string, string>,
): Promise<string> {
  if (settings['core.hooksPath'] === devNull) return message;
  const file = temporaryName(join(scratch, 'COMMIT_EDITMSG'));
  mkdirSync(scratch, { recursive: true });
  try {
    writeUnsynced(file, `${message}\n`);
    const args = ['hook', 'run', '--ignore-missing', 'commit-msg', '--', file];
    const result = await runGit(git, args, { config: settings });
    if (result.code !== 0) throw commitFailure(['commit'], result);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(file, { force: true });
  }
}

const NOTHING_NEW = /^(?:nothing to commit|nothing added to commit|no changes added to commit)/m;

/** A machine without a git identity can still hand over: the record says who signed it. */
function authorFallback(git: Git, config: GitConfig, identity: string): Record<string, string> {
  const address = config.get('user.email') ?? git.env.GIT_COMMITTER_EMAIL ?? git.env.EMAIL;
  return address ? {} : { 'user.name': identity, 'user.email': `${identity}@git-handoff.invalid` };
}

function commitFailure(args: readonly string[], result: Parameters<typeof gitFailure>[1]): HandoffError {
  const { message, data } = gitFailure(args, result);
  const end = howToEnd(result.stderr);
  return new HandoffError('io', message, {
    hint: end
      ? `What was written is safe and staged, and goes in with what is under way: resolve that, then ${end}`
      : 'The files are written and staged, and nothing is lost. Resolve what git says, then commit them: git commit -- .handoff',
    ...(data ? { data } : {}),
  });
}
