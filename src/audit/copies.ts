import type { Finding } from '../core/error.ts';
import { MAX_RECORD_BYTES } from '../core/limits.ts';
import { ROOT } from '../core/paths.ts';
import type { PlacedRecord } from '../core/record-summary.ts';
import { finding } from './finding.ts';
import type { SessionFolder } from './growth.ts';
import { sidOf } from './session-records.ts';
import { type Entry, FILE, FOLDER, find, type Source } from './source.ts';

/**
 * SPEC §6.6: a session has one folder. New ones are looked for in the bytes of the trees that list all that were there before,
 * which costs next to nothing; only where the beginning of an id is found is anything read. (A hand-made tree can list a folder
 * twice: then the new one has the path of an old one.)
 */
export async function copiesOf(
  folders: readonly SessionFolder[],
  sessions: readonly { folder: string; records: readonly PlacedRecord[] }[],
  before: Source,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const folder of folders.filter(({ isNew }) => isNew)) {
    const { path } = folder.entry;
    const id = sessions.find((session) => session.folder === path)?.records[0]?.record.fields.session_id;
    const twin = id ? await findTwin(sidOf(folder), id as string, before) : null;
    if (twin) findings.push(finding('chain_broken', path, 'one folder for a session', `another at ${twin}`, COPY));
  }
  return findings;
}

const COPY = 'Remove the copy.';

async function findTwin(sid8: string, id: string, source: Source): Promise<string | null> {
  const sessions = await find(source, `${ROOT}/sessions`);
  const owners = sessions?.mode === FOLDER ? await source.list(sessions) : [];
  for (const owner of owners.filter(({ mode }) => mode === FOLDER)) {
    if (source.count && (await source.count(owner, `-${sid8}\0`)) === 0) continue;
    const folders = (await source.list(owner)).filter(({ mode }) => mode === FOLDER);
    for (const twin of folders.filter(({ name }) => name.endsWith(`-${sid8}`)))
      if (await opensWith(source, twin, id)) return twin.path;
  }
  return null;
}

/** What it says of itself is enough: it was judged when it came. */
async function opensWith(source: Source, folder: Entry, id: string): Promise<boolean> {
  const first = (await source.list(folder)).find(({ name, mode }) => mode === FILE && name.startsWith('0001-'));
  if (!first) return false;
  const text = new TextDecoder().decode(await source.read(first, MAX_RECORD_BYTES));
  return text.includes(`\nsession_id: ${id}\n`);
}
