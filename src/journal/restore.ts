import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecordName, recordName } from '../core/paths.ts';
import type { FileToWrite } from './files.ts';
import { readEntry, recordNumbers } from './records.ts';
import { absent, type Session, type StateDirs } from './registry.ts';

/**
 * The records of a session that its folder in the work tree lacks: those just journalled, and those that a reset, a stash,
 * another branch or a crash took away. What is there is never touched.
 */
export async function missingRecords(topLevel: string, dirs: StateDirs, session: Session): Promise<FileToWrite[]> {
  const there = new Set((await readdir(join(topLevel, session.folder)).catch(absent)) ?? []);
  const present = new Set([...there].map((name) => Number(name.split('-', 1)[0])));
  const files: FileToWrite[] = [];
  for (const number of await recordNumbers(dirs, session.session_id)) {
    if (present.has(number)) continue;
    const entry = await readEntry(dirs, session.session_id, number);
    if ('bytes' in entry)
      files.push({ path: `${session.folder}/${recordName(number, entry.kind)}`, bytes: entry.bytes });
  }
  return files;
}

/** The paths of the journalled records that the work tree has. Other files in the folder are none of ours. */
export async function writtenRecords(topLevel: string, dirs: StateDirs, session: Session): Promise<string[]> {
  const numbers = new Set(await recordNumbers(dirs, session.session_id));
  const names = (await readdir(join(topLevel, session.folder)).catch(absent)) ?? [];
  return names
    .filter((name) => numbers.has(parseRecordName(name)?.seq ?? 0))
    .sort()
    .map((name) => `${session.folder}/${name}`);
}
