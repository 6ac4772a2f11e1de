import { hash } from 'node:crypto';
import { homedir } from 'node:os';
import { HandoffError } from '../../core/error.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireWorkTree } from '../../repository/repository.ts';
import { PROGRAMS } from '../../runtimes/programs.ts';
import { RUNTIME_NAMES, type RuntimeName } from '../../runtimes/runtime.ts';
import type { PlacedPart, RuntimeProgram, Scope, Wish } from '../../runtimes/runtime-settings.ts';
import { diffLines } from './line-diff.ts';
import type { Place, PlannedFile } from './settings-plan.ts';

/** Where somebody stands who connects: for a user's own settings no repository is needed. */
export interface Standpoint {
  repository: Repository | null;
  env: NodeJS.ProcessEnv;
}

export interface ChangedFile {
  path: string;
  change: 'created' | 'changed' | 'removed' | 'unchanged';
  /** What changes, a line each. */
  diff: string;
}

export interface ConnectedRuntime {
  runtime: RuntimeName;
  /** As the program says it; null where it is not installed, or does not say. */
  version: string | null;
  files: ChangedFile[];
  /** What is left to a person. */
  todo: string[];
}

export function placeFor(scope: Scope, { repository, env }: Standpoint): Place {
  if (scope === 'user') {
    const home = homeOf(env);
    const moved = MOVED.flatMap((name) => env[name] || []);
    return { top: home, boundary: { roots: [home, ...moved], name: 'your home' } };
  }
  if (!repository) throw outside();
  const top = requireWorkTree(repository);
  return { top, boundary: { roots: [top], name: 'this work tree' } };
}

/** Where users have programs keep their settings, if not in their home. */
const MOVED = ['CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME', 'XDG_CONFIG_HOME', 'COPILOT_HOME'];

function outside(): HandoffError {
  return new HandoffError('not_a_repository', 'This is no git repository, and agents are connected in one.', {
    hint: 'cd to it; or connect for all repositories: git handoff connect --user',
  });
}

export function partsOf(program: RuntimeProgram, scope: Scope, { env }: Standpoint, as?: string): PlacedPart[] {
  const wish: Wish = { as, digest: (text) => hash('sha256', text).slice(0, 16) };
  return scope === 'project' ? program.project(wish) : program.user(wish, { home: homeOf(env), env });
}

export function homeOf({ HOME }: NodeJS.ProcessEnv): string {
  return HOME || homedir();
}

export function scopeOf({ user }: { user?: boolean }): Scope {
  return user ? 'user' : 'project';
}

/** Those that were named; without names all. */
export function namedPrograms(names: readonly string[] | undefined): readonly RuntimeProgram[] {
  if (!names || names.length === 0) return PROGRAMS;
  return PROGRAMS.filter(({ name }) => names.includes(name));
}

export const KNOWN = RUNTIME_NAMES.join(', ');

/** Each file once, however many parts of ours are in it. */
export function changedFiles(files: readonly PlannedFile[]): ChangedFile[] {
  return [...new Set(files)].map(({ path, text, planned }) => ({
    path,
    change: changeOf(text, planned),
    diff: text === planned ? '' : diffLines(text, planned).join('\n'),
  }));
}

function changeOf(text: string | null, planned: string | null): ChangedFile['change'] {
  if (text === planned) return 'unchanged';
  if (text === null) return 'created';
  return planned === null ? 'removed' : 'changed';
}
