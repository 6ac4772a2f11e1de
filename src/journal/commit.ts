import { HandoffError } from '../core/error.ts';
import type { GitConfig } from '../git/config.ts';
import { type Git, gitFailure, readGit, runGit } from '../git/run.ts';

/** How far a change goes: files only, the index, or a commit. */
export type Extent = 'write' | 'stage' | 'commit';

export interface Change {
  written: string[];
  removed?: string[];
  message: string;
  /** Who to name as author where git knows nobody. */
  identity: string;
}

/** Stages the paths and, if asked, commits them and nothing else. Returns the commit's id. */
export async function record(git: Git, config: GitConfig, change: Change, extent: Extent): Promise<string | null> {
  if (extent === 'write') return null;
  await stage(git, extent === 'stage' ? [...change.written, ...(change.removed ?? [])] : change.written);
  return extent === 'commit' ? commit(git, config, change) : null;
}

/** update-index, because `git add` would refuse what .gitignore names and obey pathspec magic. */
async function stage(git: Git, paths: readonly string[]): Promise<void> {
  await readGit(git, ['update-index', '--add', '--remove', '-z', '--stdin'], {
    input: paths.map((path) => `${path}\0`).join(''),
  });
}

/** `--only`: what else is staged stays staged. */
async function commit(git: Git, config: GitConfig, change: Change): Promise<string> {
  const paths = [...change.written, ...(change.removed ?? [])];
  const args = ['commit', '--only', '-m', change.message, '--', ...paths];
  // The user's hooks run in this environment, and may well use globs.
  const forHooks = { ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } };
  const result = await runGit(forHooks, args, {
    config: { 'core.abbrev': 'no', ...authorFallback(git, config, change.identity) },
  });
  const oid = /^\[[^\n]* ([0-9a-f]{40,64})\] /m.exec(result.stdout.toString('utf8'))?.[1];
  if (result.code === 0 && oid) return oid;
  throw commitFailure(args, result);
}

/** A machine without a git identity can still hand over: the record says who signed it. */
function authorFallback(git: Git, config: GitConfig, identity: string): Record<string, string> {
  const known = config.get('user.email') ?? git.env.GIT_COMMITTER_EMAIL ?? git.env.EMAIL;
  return known ? {} : { 'user.name': identity, 'user.email': `${identity}@git-handoff.invalid` };
}

function commitFailure(args: readonly string[], result: Parameters<typeof gitFailure>[1]): HandoffError {
  const { message, data } = gitFailure(args, result);
  return new HandoffError('io', message, {
    hint: 'The files are written and staged, and nothing is lost. Resolve what git says, then commit them: git commit -- .handoff',
    ...(data ? { data } : {}),
  });
}
