import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecordName, recordName } from '../core/paths.ts';
import { absent } from './absent.ts';
import type { FileToWrite } from './files.ts';
import { readEntry, recordNumbers } from './records.ts';
import type { Session, StateDirs } from './registry.ts';

/**
 * The records of a session that its folder in the work tree lacks: those just journalled, and those that a reset, a stash,
 * another branch or a crash took away. What is there is never touched.
 */
export async function missingRecords(topLevel: string, dirs: StateDirs, session: Session): Promise<FileToWrite[]> {
  return recordsBeyond(dirs, session, await namesIn(topLevel, session));
}

/** The journalled records whose numbers none of these file names has. */
export async function recordsBeyond(
  dirs: StateDirs,
  session: Session,
  names: readonly string[],
): Promise<FileToWrite[]> {
  const present = new Set(names.map((name) => parseRecordName(name)?.seq));
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
  const names = await namesIn(topLevel, session);
  return names
    .filter((name) => numbers.has(parseRecordName(name)?.seq ?? 0))
    .sort()
    .map((name) => `${session.folder}/${name}`);
}

async function namesIn(topLevel: string, { folder }: Session): Promise<string[]> {
  return (await readdir(join(topLevel, folder)).catch(absent)) ?? [];
}
