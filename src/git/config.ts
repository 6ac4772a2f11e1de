import { type Git, readGit } from './run.ts';

export interface GitConfig {
  /** The last value, which is the one git uses. Section and name are matched without regard to case. */
  get(key: string): string | undefined;
  all(key: string): readonly string[];
  keys(): string[];
}

/** Every scope in one process. A key without a value (`[a] b`) reads as `true`. */
export async function readConfig(git: Git): Promise<GitConfig> {
  return toConfig(parseConfigList((await readGit(git, ['config', '--list', '-z'])).toString('utf8')));
}

/** From keys and values in the order git reads them. */
export function toConfig(entries: readonly (readonly [string, string])[]): GitConfig {
  const values = new Map<string, string[]>();
  for (const [key, value] of entries) values.set(normalise(key), [...(values.get(normalise(key)) ?? []), value]);
  const all = (key: string) => values.get(normalise(key)) ?? [];
  return { get: (key) => all(key).at(-1), all, keys: () => [...values.keys()] };
}

/** The same with one more value. */
export function withValue(config: GitConfig, key: string, value: string): GitConfig {
  const pairs = config.keys().flatMap((each) => config.all(each).map((old): [string, string] => [each, old]));
  return toConfig([...pairs, [key, value]]);
}

/** Writes to the repository's own configuration, which linked worktrees share. */
export async function writeConfig(git: Git, key: string, value: string): Promise<void> {
  await readGit(git, ['config', '--local', '--end-of-options', key, value]);
}

function parseConfigList(text: string): [string, string][] {
  const entries = text.split('\0').filter((entry) => entry !== '');
  return entries.map((entry) => {
    const end = entry.indexOf('\n');
    return end < 0 ? [entry, 'true'] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}

// The part between the first and the last dot is case-sensitive: `remote.A.url` is not `remote.a.url`.
function normalise(key: string): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase();
}
