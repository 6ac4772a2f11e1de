import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFile, guarded } from '../../disk/durable.ts';

/** Keeps what could not become a record, where no reset reaches it. Returns its path. */
export function keepDraft(folder: string, name: string, extension: 'md' | 'yaml', text: string): string {
  for (let number = 1; ; number++) {
    const path = join(folder, `${name}-${number}.${extension}`);
    if (guarded(path, () => createFile(path, text))) return path;
  }
}

/** For when the place of drafts is what cannot be written to: a folder that nobody else can have prepared. */
export function emergencyFolder(): string {
  const folder = join(tmpdir(), 'git-handoff-');
  return guarded(folder, () => mkdtempSync(folder));
}
