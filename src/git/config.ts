import { type Git, readGit } from './run.ts';

export interface GitConfig {
  /** The last value, which is the one git uses. Section and name are matched without regard to case. */
  get(key: string): string | undefined;
  all(key: string): readonly string[];
}

/** Every scope in one process. A key without a value (`[a] b`) reads as `true`. */
export async function readConfig(git: Git): Promise<GitConfig> {
  const values = parseConfigList((await readGit(git, ['config', '--list', '-z'])).toString('utf8'));
  const all = (key: string) => values.get(normalise(key)) ?? [];
  return { get: (key) => all(key).at(-1), all };
}

/** Writes to the repository's own configuration, which linked worktrees share. */
export async function writeConfig(git: Git, key: string, value: string): Promise<void> {
  await readGit(git, ['config', '--local', '--end-of-options', key, value]);
}

function parseConfigList(text: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const entry of text.split('\0').filter((entry) => entry !== '')) {
    const end = entry.indexOf('\n');
    const key = normalise(end < 0 ? entry : entry.slice(0, end));
    const value = end < 0 ? 'true' : entry.slice(end + 1);
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

// The part between the first and the last dot is case-sensitive: `remote.A.url` is not `remote.a.url`.
function normalise(key: string): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase();
}
