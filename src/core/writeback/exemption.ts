import { pathPattern } from './path-pattern.ts';

/**
 * Whether a policy asks no writeback for a path: it is listed, or in a folder that is. `*` stands for any part of a name, `**` for
 * any folders. A pattern is for files, unless it says that it is for a folder too: it ends in a slash or in `**`, or it has no `*`
 * and the protected branch has a folder of that name. So nobody puts code into a folder that is called as an exempt file.
 */
export function exemption(
  patterns: readonly string[],
  folders: ReadonlySet<string> = new Set(),
): (path: string) => boolean {
  const rules = patterns.map((pattern) => toRule(pattern, folders));
  return (path) => rules.some((isNamed) => isNamed(path));
}

/** The paths in patterns that could mean a file or a folder. */
export function namedPaths(patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => !pattern.includes('*') && !pattern.endsWith('/')).map(plainName);
}

/** Whether a folder, whose path ends in a slash, may have something that patterns name: whatever they say before their first `*`. */
export function exemptFolders(patterns: readonly string[]): (folder: string) => boolean {
  const beginnings = patterns.map((pattern) => plainName(pattern).split('*', 1)[0]!);
  return (folder) => beginnings.some((text) => folder.startsWith(text) || text.startsWith(folder));
}

function plainName(pattern: string): string {
  return pattern.replace(/\/+$/, '');
}

function toRule(pattern: string, folders: ReadonlySet<string>): (path: string) => boolean {
  const isFolder = /(?:\*\*|\/)$/.test(pattern) || (!pattern.includes('*') && folders.has(pattern));
  return pathPattern(plainName(pattern), !isFolder);
}
