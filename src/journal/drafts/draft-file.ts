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

/** Used when the folder of drafts cannot be written to: a new folder, which nobody else can have prepared. */
export function emergencyFolder(): string {
  const folder = join(tmpdir(), 'git-handoff-');
  return guarded(folder, () => mkdtempSync(folder));
}
