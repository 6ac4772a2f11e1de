import { applyEdit, type Edited, FILE, type Text, type Texts, textPaths } from './edits.ts';
import type { Random } from './random.ts';

// Files that ask for no account, and that are like code: git takes the one for the other where one of them is gone.

/** Whether a path asks for no account in histories, where it is a file. */
export function isBeside(path: string): boolean {
  return /^(?:docs|\.handoff)\//.test(path);
}

/** A copy of some code comes, changes or goes. */
export function editBeside(random: Random, files: Texts, mark?: string): Edited {
  const copies = [...files.keys()].filter((path) => /^(?:docs|\.handoff)\/copy/.test(path));
  if (copies.length === 0 || random.chance(0.3)) return copyCode(random, files);
  const path = random.one(copies);
  if (random.chance(0.4)) return { files: without(files, path), edit: null, kind: 'removed copy' };
  const insert = [mark ?? `beside ${random.below(100_000)}`];
  const edited = applyEdit(files, { path, at: random.below(4), remove: random.below(2), insert });
  return edited ? { files: edited, edit: null, kind: 'edited copy' } : copyCode(random, files);
}

function copyCode(random: Random, files: Texts): Edited {
  const code = textPaths(files);
  const text = code.length > 0 ? files.get(random.one(code))!.text : 'nothing to copy\n';
  return { files: withFile(files, copyName(random), { mode: FILE, text }), edit: null, kind: 'copy' };
}

/** A file of code becomes one that asks for no account, or the other way. */
export function moveAside(random: Random, files: Texts): Edited {
  const copies = [...files.keys()].filter(isBeside);
  const code = textPaths(files);
  if (copies.length > 0 && random.chance(0.5)) {
    const path = random.one(copies);
    const moved = withFile(without(files, path), `back/${random.below(100)}.txt`, files.get(path)!);
    return { files: moved, edit: null, kind: 'moved back' };
  }
  if (code.length < 2) return copyCode(random, files);
  const path = random.one(code);
  return { files: withFile(without(files, path), copyName(random), files.get(path)!), edit: null, kind: 'moved aside' };
}

/** Few names: two sides often mean the same one. */
function copyName(random: Random): string {
  return random.one(['docs/copy-1.md', 'docs/copy-2.md', 'docs/copy/3.md', '.handoff/copy', '.handoff/copy-2']);
}

function without(files: Texts, path: string): Texts {
  return new Map([...files].filter(([each]) => each !== path));
}

function withFile(files: Texts, path: string, text: Text): Texts {
  return new Map([...files, [path, text]]);
}
