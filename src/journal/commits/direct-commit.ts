import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitConfig } from '../../git/config.ts';
import type { RepositoryDirs } from '../../git/discover.ts';
import { type BranchMove, type BranchMover, isPlainBranch, moveBranchFile } from '../../git/refs/branch-file.ts';
import { type Git, gitFailure, runGit } from '../../git/run.ts';
import { isForeignHook } from '../../repository/git-hooks/own-hooks.ts';

/** A commit that nothing names yet, and the branch it was made for. */
export interface UnnamedCommit extends BranchMove {
  /** Settings for the git that moves the branch. */
  settings?: Record<string, string>;
}

/**
 * Moves a branch on to a commit that was made for it, at a cost that does not depend on how many files the repository has:
 * `git commit` looks at every one of them. The index is not read: it has the same files already, and what else is staged stays
 * staged. False when the branch has moved on, or somebody has its lock: then nothing was done. Without a place git moves it.
 */
export async function moveBranch(git: Git, made: UnnamedCommit, place: BranchMover | null): Promise<boolean> {
  const outcome = place && isPlainBranch(place.dirs, made.branch) ? moveBranchFile(place, made) : 'git';
  return outcome === 'git' ? moveByGit(git, made) : outcome === 'moved';
}

/** By way of HEAD: a branch that is being checked out just now, or no longer is, would get what its index has not. */
async function moveByGit(git: Git, { from, to, reason, settings }: UnnamedCommit): Promise<boolean> {
  const args = ['update-ref', '-m', reason, '-z', '--stdin'];
  const input = `update HEAD\0${to}\0${from}\0`;
  const result = await runGit(git, args, { input, ...(settings && { config: settings }) });
  if (result.code === 0) return true;
  if (/cannot lock ref/.test(result.stderr)) return false;
  throw gitFailure(args, result);
}

const HOOKS = ['prepare-commit-msg', 'commit-msg', 'post-commit'];
const UNDER_WAY = ['rebase-merge', 'rebase-apply'];
const OTHERWISE = ['core.hookspath', 'i18n.commitencoding', 'user.useconfigonly'];

/** Whether nobody could tell such a commit from one by `git commit`: no hook but ours and those for content, nothing to sign, no rebase under way. A merge, a pick or a revert goes on behind such a commit, and git would refuse its own. */
export function isPlain(dirs: RepositoryDirs, config: GitConfig): boolean {
  return (
    !HOOKS.some((name) => isForeignHook(dirs, name)) &&
    !UNDER_WAY.some((name) => existsSync(join(dirs.gitDir, name))) &&
    !OTHERWISE.some((key) => config.get(key) !== undefined) &&
    !config.keys().some((key) => /^(?:hook|author|committer)\./.test(key)) &&
    /^(?:false|no|off|0|)$/i.test(config.get('commit.gpgsign') ?? '')
  );
}

/** Who a commit is by, and when, as commit objects have it; null where only git can say what it would write. */
export function identOf(
  role: 'AUTHOR' | 'COMMITTER',
  env: NodeJS.ProcessEnv,
  config: GitConfig,
  identity: string,
  now: Date,
): string | null {
  const email = env[`GIT_${role}_EMAIL`] ?? config.get('user.email') ?? env.EMAIL;
  const name = env[`GIT_${role}_NAME`] ?? config.get('user.name');
  const date = formatDate(env[`GIT_${role}_DATE`], now);
  if (date === null) return null;
  if (email === undefined) return `${identity} <${identity}@git-handoff.invalid> ${date}`;
  if (name === undefined || [name, email].some(isOdd)) return null;
  return `${name} <${email}> ${date}`;
}

/** git strips such signs off the ends of a name, and so only git can say what it would write. */
function isOdd(text: string): boolean {
  return text === '' || /[<>\n\0]|^[\s.,:;"\\']|[\s.,:;"\\']$/.test(text);
}

/** Only times that have one reading: `@seconds +zone`, and ISO 8601 in UTC. */
function formatDate(given: string | undefined, now: Date): string | null {
  if (given === undefined) return `${Math.floor(now.getTime() / 1000)} ${zone(now)}`;
  const raw = /^@?([0-9]{9,12}) ([+-][0-9]{4})$/.exec(given);
  if (raw) return `${raw[1]} ${raw[2]}`;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(given) ? `${Date.parse(given) / 1000} +0000` : null;
}

function zone(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const digits = Math.floor(Math.abs(minutes) / 60) * 100 + (Math.abs(minutes) % 60);
  return `${minutes < 0 ? '-' : '+'}${String(digits).padStart(4, '0')}`;
}
