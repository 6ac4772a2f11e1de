import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseRecordName, recordName } from '../core/paths.ts';
import type { FileToWrite } from './files.ts';
import { ifThere } from './if-there.ts';
import { readEntry, recordNumbers } from './records.ts';
import type { Session, StateDirs } from './registry.ts';

/**
 * The records of a session that its folder in the work tree lacks: those just journalled, and those that a reset, a stash,
 * another branch or a crash took away. What is there is never touched.
 */
export function missingRecords(topLevel: string, dirs: StateDirs, session: Session): FileToWrite[] {
  return recordsBeyond(dirs, session, namesIn(topLevel, session));
}

/** The journalled records whose numbers none of these file names has. */
export function recordsBeyond(dirs: StateDirs, session: Session, names: readonly string[]): FileToWrite[] {
  const present = new Set(names.map((name) => parseRecordName(name)?.seq));
  const files: FileToWrite[] = [];
  for (const number of recordNumbers(dirs, session.session_id)) {
    if (present.has(number)) continue;
    const entry = readEntry(dirs, session.session_id, number);
    if ('bytes' in entry)
      files.push({ path: `${session.folder}/${recordName(number, entry.kind)}`, bytes: entry.bytes });
  }
  return files;
}

/** The paths of the journalled records that the work tree has. Other files in the folder are none of ours. */
export function writtenRecords(topLevel: string, dirs: StateDirs, session: Session): string[] {
  const numbers = new Set(recordNumbers(dirs, session.session_id));
  const names = namesIn(topLevel, session);
  return names
    .filter((name) => numbers.has(parseRecordName(name)?.seq ?? 0))
    .sort()
    .map((name) => `${session.folder}/${name}`);
}

function namesIn(topLevel: string, { folder }: Session): string[] {
  return ifThere(() => readdirSync(join(topLevel, folder))) ?? [];
}
