import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode } from '../../core/error-code.ts';
import type { RepositoryDirs } from '../discover.ts';
import type { Oid } from '../objects/store.ts';
import { ownName, type Processes } from '../own-file.ts';
import { type Git, readGit } from '../run.ts';

export interface RefMover {
  git: Git;
  dirs: RepositoryDirs;
  processes: Processes;
  /** Whether refs are plain files here, and nobody is to hear of a new one. */
  isPlain: boolean;
}

/** Makes a ref, or moves it from wherever it was. One that is new needs no process. */
export async function putRef(place: RefMover, ref: string, oid: Oid): Promise<void> {
  if (place.isPlain && isCreated(place, ref, oid)) return;
  await readGit(place.git, ['update-ref', '--no-deref', ref, oid]);
}

/** By a link, which fails where the file is there: then git moves it, under its own lock. */
function isCreated({ dirs, processes }: RefMover, ref: string, oid: Oid): boolean {
  const own = ownName(join(dirs.commonDir, 'HEAD'), processes);
  const path = join(dirs.commonDir, ref);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(own, `${oid}\n`, { flag: 'wx', mode: 0o666 });
    linkSync(own, path);
    return true;
  } catch (error) {
    if (!hasCode(error)) throw error;
    return false; // git does it, or says why not
  } finally {
    rmSync(own, { force: true });
  }
}
