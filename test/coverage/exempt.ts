import type { Files, Objects, Oid } from './objects.ts';

/** Whether what differs at a path between two trees is code. */
export type IsCode = (path: string, before: Files, after: Files) => boolean;

interface Asked {
  objects: Objects;
  base: Oid;
  exempt: readonly string[];
}

/** SPEC §10.4.1: code is everything outside `.handoff/` that is not exempt, and exempt are files alone. */
export function exemptPaths({ objects, base, exempt }: Asked): IsCode {
  const atBase = objects.files(objects.commit(base)!.tree);
  const patterns = exempt.map((pattern) => toExpression(pattern, atBase));
  return (path, before, after) =>
    [before, after].some((files) => isUnlikeFile(files, path)) || !patterns.some((pattern) => pattern.test(path));
}

/** A link, a submodule, or a folder in the place of a file, or a file in the place of a folder. */
function isUnlikeFile(files: Files, path: string): boolean {
  const mode = files.get(path)?.mode;
  if (mode !== undefined) return mode === '120000' || mode === '160000';
  return [...files.keys()].some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
}

/** For folders too if it ends in a slash or in two stars, or if it has no `*` and names a folder at B. */
function toExpression(pattern: string, atBase: Files): RegExp {
  const names = pattern.replace(/\/$/, '').split('/');
  const isFolderAtBase = [...atBase.keys()].some((path) => path.startsWith(`${names.join('/')}/`));
  const isFile = !(pattern.endsWith('/') || names.at(-1) === '**' || (isFolderAtBase && !pattern.includes('*')));
  const source = names.map((name, at) => {
    if (name === '**') return at === names.length - 1 ? '.*' : '(?:[^/]+/)*';
    const part = name.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
    return at === names.length - 1 ? part : `${part}/`;
  });
  return new RegExp(`^${source.join('')}${isFile ? '' : '(?:/.*)?'}$`, 's');
}
