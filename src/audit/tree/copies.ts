import type { Finding } from '../../core/error.ts';
import { groupBy } from '../../core/group-by.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { ROOT } from '../../core/paths.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import { finding } from '../finding.ts';
import type { SessionFolder } from '../history/growth.ts';
import { type Entry, FILE, FOLDER, find, type Source } from '../source/source.ts';
import { sidOf } from './session-records.ts';

/**
 * SPEC §6.6: a session has one folder among those of its identity. New ones are looked for in the bytes of the tree that lists all
 * that were there before, which costs next to nothing; what it mentions is read. (A hand-made tree can list a folder twice: then the
 * new one has the path of an old one.) What others call their sessions is their own business.
 */
export async function findTwins(folders: readonly SessionFolder[], before: Source): Promise<Entry[]> {
  const arrived = groupBy(
    folders.filter(({ isNew }) => isNew),
    ({ owner }) => owner,
  );
  const sessions = arrived.size > 0 ? await find(before, `${ROOT}/sessions`) : null;
  const owners = sessions?.mode === FOLDER ? await before.list(sessions) : [];
  const twins = owners
    .filter(({ name, mode }) => mode === FOLDER && arrived.has(name))
    .map((owner) =>
      twinsIn(owner, [...new Set(arrived.get(owner.name)!.map((folder) => `-${sidOf(folder)}`))], before),
    );
  return (await Promise.all(twins)).flat();
}

async function twinsIn(owner: Entry, names: readonly string[], before: Source): Promise<Entry[]> {
  const mentioned = before.mentions ? await before.mentions(owner, names) : names;
  if (mentioned.length === 0) return [];
  const ends = new Set(mentioned);
  const folders = await before.list(owner);
  return folders.filter(({ name, mode }) => mode === FOLDER && ends.has(name.slice(-END)));
}

/** A hyphen and eight digits: how the name of a session's folder ends. */
const END = 9;

/** Those of the new sessions that an old folder holds as well. Each of the old ones is opened once. */
export async function copiesOf(
  sessions: readonly { folder: string; records: readonly PlacedRecord[] }[],
  twins: readonly Entry[],
  before: Source,
): Promise<Finding[]> {
  const arrived = groupBy(
    sessions.filter(({ records }) => records.length > 0),
    ({ folder, records }) => `${ownerOf(folder)} ${records[0]!.record.fields.session_id}`,
  );
  const findings: Finding[] = [];
  for (const twin of twins) {
    const id = await openingId(before, twin);
    for (const { folder } of (id && arrived.get(`${ownerOf(twin.path)} ${id}`)) || []) {
      const code = folder === twin.path ? 'name_lookalike' : 'chain_broken'; // M50, M47
      findings.push(finding(code, folder, 'one folder for a session', `another at ${twin.path}`, COPY));
    }
  }
  return findings;
}

const COPY = 'Remove the copy.';

function ownerOf(path: string): string {
  return path.split('/')[2]!;
}

/** The session that a folder says it is of, which was judged when it came; null where it says nothing. */
async function openingId(source: Source, folder: Entry): Promise<string | null> {
  const first = (await source.list(folder)).find(({ name, mode }) => mode === FILE && name.startsWith('0001-'));
  if (!first) return null;
  const text = new TextDecoder().decode(await source.read(first, MAX_RECORD_BYTES));
  return /^session_id: (.+)$/m.exec(text)?.[1] ?? null;
}
