import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ifThere } from '../disk/if-there.ts';
import type { RepositoryDirs } from '../git/discover.ts';

/** The work tree of this repository in which a branch is checked out; null for none. Reads files, starts nothing. */
export function workTreeOf(dirs: RepositoryDirs, branch: string): string | null {
  const isOn = (gitDir: string): boolean =>
    ifThere(() => readFileSync(join(gitDir, 'HEAD'), 'utf8')) === `ref: refs/heads/${branch}\n`;
  if (basename(dirs.commonDir) === '.git' && isOn(dirs.commonDir)) return dirname(dirs.commonDir);
  const linked = join(dirs.commonDir, 'worktrees');
  for (const name of ifThere(() => readdirSync(linked)) ?? []) {
    const place = isOn(join(linked, name)) ? ifThere(() => readFileSync(join(linked, name, 'gitdir'), 'utf8')) : null;
    if (place) return dirname(place.trimEnd());
  }
  return null;
}
