/**
 * Whether a policy asks no writeback for a path: it is listed, or in a folder that is. `*` stands for any part of a name, `**` for
 * any folders. A pattern that names a file on the protected branch is for that file: no folder takes its place.
 */
export function exemption(
  patterns: readonly string[],
  files: ReadonlySet<string> = new Set(),
): (path: string) => boolean {
  const rules = patterns.map((pattern) => toRule(pattern, files.has(plainName(pattern))));
  return (path) => rules.some((rule) => rule.test(path));
}

/** The paths that patterns without a `*` name. */
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

/** A pattern whose last name has a `*` is for files: `*.md` does not exempt a folder that is called so. */
function toRule(pattern: string, isNamedFile: boolean): RegExp {
  const isFile = isNamedFile || (/\*[^/]*$/.test(pattern) && !pattern.endsWith('**'));
  const parts = plainName(pattern).split(/(\*\*\/|\*\*|\*)/);
  return new RegExp(`^${parts.map(toSource).join('')}${isFile ? '$' : '(?:/|$)'}`, 's');
}

function toSource(part: string): string {
  if (part === '**/') return '(?:[^/]*/)*';
  if (part === '**') return '.*';
  if (part === '*') return '[^/]*';
  return part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
