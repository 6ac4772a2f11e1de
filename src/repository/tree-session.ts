import { foldersOf } from '../audit/delta/old-session.ts';
import type { Report } from '../audit/finding.ts';
import { type Entry, FOLDER, find, type Source } from '../audit/source/source.ts';
import { auditSession } from '../audit/tree/session.ts';
import { HandoffError } from '../core/error.ts';
import { isIdentityName } from '../core/names.ts';
import { parseSessionFolder, ROOT } from '../core/paths.ts';
import type { VerifiedRecord } from '../core/record/verify.ts';
import { isNamed, parseSessionName } from '../core/session/session-name.ts';
import type { Trust } from '../core/trust/trust.ts';
import { nodeSuite } from '../crypto.ts';
import { unknownSession } from './unknown-session.ts';

/** A session as a tree has it, whole and verified. */
export interface TreeSession {
  session_id: string;
  identity: string;
  files: TreeRecord[];
}

export interface TreeRecord {
  path: string;
  bytes: Uint8Array;
  record: VerifiedRecord;
}

/** By id or unique beginning, among all the sessions of a tree. */
export async function findTreeSession(source: Source, trust: Trust, prefix: string): Promise<TreeSession> {
  const name = parseSessionName(prefix);
  const folders = (await foldersOf(source, name.prefix.slice(0, 8))).filter(
    ({ owner }) => (name.identity ?? owner) === owner,
  );
  const sessions = await Promise.all(folders.map(({ owner, entry }) => readTreeSession(source, trust, owner, entry)));
  const [found, ...others] = sessions.filter((session) => isNamed(name, session));
  if (found && others.length === 0) return found;
  throw unknownSession(prefix, found ? [found, ...others] : []);
}

/** The session that a record is in, by the record's path: no other folder is listed where that is not needed. */
export async function readSessionAt(source: Source, trust: Trust, path: string): Promise<TreeSession> {
  const [root, room, owner = '', name = '', file, ...rest] = path.split('/');
  const isRecord = root === ROOT && room === 'sessions' && isIdentityName(owner) && parseSessionFolder(name) && file;
  const folder = isRecord && rest.length === 0 ? await folderAt(source, `${ROOT}/sessions/${owner}/${name}`) : null;
  const session = folder && (await readTreeSession(source, trust, owner, folder));
  if (session?.files.some((each) => each.path === path)) return session;
  throw new HandoffError('unknown_record', `There is no record ${JSON.stringify(path)}.`, {
    hint: 'git handoff log lists them.',
  });
}

/** In a work tree a folder of thousands need not be listed to look into one of them. */
async function folderAt(source: Source, path: string): Promise<Entry | null> {
  if (source.oid !== null) return find(source, path);
  const folder = { path, name: path.slice(path.lastIndexOf('/') + 1), mode: FOLDER, oid: null };
  return (await source.list(folder)).length > 0 ? folder : null;
}

/** What does not hold is not half read: the first thing that is wrong is thrown. */
async function readTreeSession(source: Source, trust: Trust, owner: string, folder: Entry): Promise<TreeSession> {
  const files = await readTreeFiles(source, trust, owner, folder, throwFinding);
  const { session_id, identity } = files[0]!.record.fields;
  return { session_id, identity, files };
}

/** The records of a session that count, in order. */
export async function readTreeFiles(
  source: Source,
  trust: Trust,
  owner: string,
  folder: Entry,
  report: Report,
): Promise<TreeRecord[]> {
  const verified = new Map<string, VerifiedRecord>();
  const contents = new Map<string, Uint8Array>();
  await auditSession(
    folder,
    owner,
    {
      source: keeping(source, contents),
      trust,
      suite: nodeSuite,
      limit: (_, task) => task(),
      onFile: () => {},
      onRecord: (path, _, record) => record && verified.set(path, record),
    },
    report,
  );
  const files = [...verified].map(([path, record]) => ({ path, bytes: contents.get(path)!, record }));
  return files.sort((a, b) => a.record.fields.seq - b.record.fields.seq);
}

/** For whoever can go on only if nothing is found. */
export const throwFinding: Report = ({ code, path, message, hint }) => {
  throw new HandoffError(code, `${path}: ${message}`, { hint, data: { path } });
};

/** What is read is read once. */
function keeping(source: Source, contents: Map<string, Uint8Array>): Source {
  return {
    ...source,
    async readAll(files, limit) {
      const all = await source.readAll(files, limit);
      for (const [at, bytes] of all.entries())
        if (!(bytes instanceof HandoffError)) contents.set(files[at]!.path, bytes);
      return all;
    },
  };
}
