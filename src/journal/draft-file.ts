import { join } from 'node:path';
import { createFile, guarded } from './durable.ts';
import type { StateDirs } from './registry.ts';

/** Keeps a text that could not become a record, where no reset reaches it. Returns its path. */
export function keepDraft(dirs: StateDirs, name: string, text: string): string {
  for (let number = 1; ; number++) {
    const path = join(dirs.drafts, `${name}-${number}.md`);
    if (guarded(path, () => createFile(path, text))) return path;
  }
}
