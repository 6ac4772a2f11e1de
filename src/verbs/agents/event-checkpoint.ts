import { HandoffError } from '../../core/error.ts';
import type { FieldsOf } from '../../core/record/kinds.ts';
import { parseAs } from '../../core/record/record.ts';
import { listSome } from '../../core/text/list-some.ts';
import { readGit } from '../../git/run.ts';
import { readClaims } from '../../journal/locks/claims.ts';
import { readEntry, recordNumbers } from '../../journal/sessions/records.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { GitAccess, StateDirectory } from '../../repository/parts.ts';
import { positionFields, readPosition } from '../../repository/position.ts';
import type { Repository } from '../../repository/repository.ts';
import { openWriter, writeRecord } from '../session/record-verbs.ts';
import { readRecords } from './own-records.ts';

/**
 * Before an agent forgets: a checkpoint with what git knows, and what it noted last. None where it would say what the last one says, or
 * where that is younger than `apart` milliseconds. It asks no remote: nobody may be kept waiting.
 */
export async function tryEventCheckpoint(repository: Repository, session: Session, apart: number): Promise<void> {
  const last = lastCheckpoint(repository, session);
  if (last && repository.now().getTime() - Date.parse(last.at) < apart) return;
  const position = positionFields(await readPosition(repository));
  const fields = { text: await describeWork(repository, session), ...position };
  if (last && keyOf(last) === keyOf(fields)) return;
  const options = { session: session.session_id, local: true };
  const writer = await openWriter(repository, options, null);
  const write = (draft: typeof fields | typeof position) =>
    writeRecord(writer, { kind: 'checkpoint', fields: draft }, '', options);
  await write(fields).catch((error) => {
    // a name or a note looks like a secret: where git stands is kept all the same
    if (!(error instanceof HandoffError) || error.code !== 'secret_found') throw error;
    return write(position);
  });
}

async function describeWork(repository: GitAccess & StateDirectory, session: Session): Promise<string> {
  const changed = await changedFiles(repository);
  const claims = readClaims(dirsOf(repository), session.session_id).map(({ task }) => task);
  const notes = readRecords(repository, session).filter(({ kind }) => kind === 'note');
  return [
    'Before a compaction of the context.',
    changed.length > 0 ? `Not committed (${changed.length}): ${listSome(changed, MOST_FILES)}` : 'All is committed.',
    ...(claims.length > 0 ? [`Claimed: ${claims.join(', ')}`] : []),
    ...notes.slice(-MOST_NOTES).map(({ text }) => `Note: ${text.slice(0, MOST_LETTERS)}`),
  ].join('\n');
}

const MOST_FILES = 20;
const MOST_NOTES = 3;
const MOST_LETTERS = 300;

async function changedFiles({ git }: GitAccess): Promise<string[]> {
  const scope = ['--no-renames', '--untracked-files=normal', '--', '.', ':(top,exclude,literal).handoff'];
  const out = await readGit({ ...git, set: { ...git.set, GIT_LITERAL_PATHSPECS: '0' } }, [
    'status',
    '--porcelain',
    '-z',
    ...scope,
  ]);
  const lines = out.toString('utf8').split('\0');
  return lines.filter((line) => line !== '').map((line) => line.slice(3));
}

interface Said {
  text?: string;
  branch?: string;
  head?: string | null;
}

function lastCheckpoint(repository: StateDirectory, { session_id }: Session): FieldsOf<'checkpoint'> | null {
  const dirs = dirsOf(repository);
  for (const number of recordNumbers(dirs, session_id).reverse()) {
    const entry = readEntry(dirs, session_id, number);
    if ('kind' in entry && entry.kind === 'checkpoint') return parseAs(entry.bytes, 'checkpoint').fields;
  }
  return null;
}

function keyOf({ text, branch, head }: Said): string {
  return JSON.stringify([text, branch, head]);
}
