import { appendFileSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bestEffort } from '../../disk/best-effort.ts';
import { replaceFile } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { Session } from '../sessions/registry.ts';

/** Lets git ignore a folder in every work tree of this clone. It says nothing about files that a commit has. */
export function exclude(commonDir: string, pattern: string): void {
  const path = excludeFile(commonDir);
  const text = readExcludes(path);
  if (text.split('\n').includes(pattern)) return;
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${pattern}\n`);
}

/** Takes such a line out again; the others stay as they are. */
function stopExcluding(commonDir: string, pattern: string): void {
  const path = excludeFile(commonDir);
  const lines = readExcludes(path).split('\n');
  const others = lines.filter((line) => line !== pattern);
  if (others.length < lines.length) replaceFile(realpathSync(path), others.join('\n')); // it may be a link
}

/**
 * Records that git took away and that are put back may come with any checkout, merge or cherry-pick, which git refuses where a file
 * lies that it does not know, even with the same bytes. What it ignores it overwrites.
 */
export function letGitOverwrite(commonDir: string, { folder }: Session): void {
  bestEffort(() => exclude(commonDir, `/${folder}/`));
}

/** A commit has them: from now on `git add` sees what is new in the folder. */
export function letGitSee(commonDir: string, { folder }: Session): void {
  bestEffort(() => stopExcluding(commonDir, `/${folder}/`));
}

function excludeFile(commonDir: string): string {
  return join(commonDir, 'info', 'exclude');
}

function readExcludes(path: string): string {
  return ifThere(() => readFileSync(path, 'utf8')) ?? '';
}
