import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseRecordName, recordName } from '../../core/paths.ts';
import { ifThere } from '../../disk/if-there.ts';
import type { FileToWrite } from '../../disk/tree-files.ts';
import type { NewFile } from '../../git/trees/tree-edit.ts';
import { readEntry, recordNumbers } from '../sessions/records.ts';
import type { Session, StateDirs } from '../sessions/registry.ts';

/**
 * The records of a session that its folder in the work tree lacks: those just journalled, and those that a reset, a stash,
 * another branch or a crash took away. What is there is never touched.
 */
export function missingRecords(topLevel: string, dirs: StateDirs, session: Session): FileToWrite[] {
  return filesBeyond(dirs, session, namesIn(topLevel, session));
}

/** All records of a session, as the files that its folder should have. */
export function journalledFiles(dirs: StateDirs, session: Session): FileToWrite[] {
  return filesBeyond(dirs, session, []);
}

function filesBeyond(dirs: StateDirs, session: Session, names: readonly string[]): FileToWrite[] {
  return recordsBeyond(dirs, session, names).map(({ name, bytes }) => ({ path: `${session.folder}/${name}`, bytes }));
}

/** The journalled records whose numbers none of these file names has. */
export function recordsBeyond(dirs: StateDirs, { session_id }: Session, names: readonly string[]): NewFile[] {
  const present = new Set(names.map((name) => parseRecordName(name)?.seq));
  const absent = recordNumbers(dirs, session_id).filter((number) => !present.has(number));
  return absent.flatMap((number) => {
    const entry = readEntry(dirs, session_id, number);
    return 'bytes' in entry ? [{ name: recordName(number, entry.kind), bytes: entry.bytes }] : [];
  });
}

/** A hook or an editor changes what was written last, so only this many of the newest records are looked at. */
const NEWEST = 32;

/** The newest records of a session that are there with other bytes; `isOther` is asked for each. */
export function changedRecords(
  dirs: StateDirs,
  { session_id, folder }: Session,
  isOther: (name: string, bytes: Uint8Array) => boolean,
): FileToWrite[] {
  return recordNumbers(dirs, session_id)
    .slice(-NEWEST)
    .flatMap((number) => {
      const entry = readEntry(dirs, session_id, number);
      if (!('bytes' in entry)) return [];
      const name = recordName(number, entry.kind);
      return isOther(name, entry.bytes) ? [{ path: `${folder}/${name}`, bytes: entry.bytes, replaces: true }] : [];
    });
}

/** Those that the work tree has with other bytes. */
export function changedInWorkTree(topLevel: string, dirs: StateDirs, session: Session): FileToWrite[] {
  return changedRecords(dirs, session, (name, bytes) => {
    const path = join(topLevel, session.folder, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && (stat.size !== bytes.length || !readFileSync(path).equals(bytes));
  });
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
