import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { GitConfig } from './config.ts';
import type { RepositoryDirs } from './discover.ts';
import { orNull } from './or-null.ts';

export interface IgnorePlace {
  dirs: RepositoryDirs;
  env: NodeJS.ProcessEnv;
  config: GitConfig;
}

/**
 * Whether a line somewhere may make git ignore this path, or a folder that it is in. Starts nothing, and says yes wherever it does not
 * know: git has to be asked then. `path`: where no folder above it has a `.gitignore` but the top of the work tree.
 */
export function mayBeIgnored({ dirs, env, config }: IgnorePlace, path: string): boolean {
  const global = globalFile(env, config);
  if (global === 'unknown') return true;
  const files = [join(dirs.commonDir, 'info/exclude'), join(dirs.topLevel ?? '.', '.gitignore'), global];
  const names = path.toLowerCase().split('/');
  return files.some((file) => file !== null && linesOf(file).some((line) => mayMatch(line.toLowerCase(), names)));
}

function globalFile(env: NodeJS.ProcessEnv, config: GitConfig): string | null | 'unknown' {
  const configured = config.get('core.excludesfile');
  const { HOME, XDG_CONFIG_HOME } = env;
  if (configured === undefined) {
    if (XDG_CONFIG_HOME) return join(XDG_CONFIG_HOME, 'git/ignore');
    return HOME ? join(HOME, '.config/git/ignore') : null;
  }
  if (configured.startsWith('~/') && HOME) return join(HOME, configured.slice(2));
  return isAbsolute(configured) ? configured : 'unknown';
}

function linesOf(file: string): string[] {
  return (orNull(() => readFileSync(file, 'utf8')) ?? '').split(/\r?\n/);
}

/** By the last part of the pattern, up to its first and from its last character that could stand for others. */
function mayMatch(line: string, names: readonly string[]): boolean {
  const pattern = line
    .trim()
    .replace(/^\uFEFF/, '')
    .replace(/\/+$/, '');
  if (pattern === '' || /^[#!]/.test(pattern)) return false;
  const last = pattern.slice(pattern.lastIndexOf('/') + 1);
  const [before = '', ...others] = last.split(SPECIAL);
  const after = others.at(-1);
  return names.some((name) => (after === undefined ? name === last : name.startsWith(before) && name.endsWith(after)));
}

const SPECIAL = /[*?[\]\\]/;
