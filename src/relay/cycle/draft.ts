import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { hasCode } from '../../core/error-code.ts';
import { MAX_RECORD_BYTES } from '../../core/limits.ts';
import { ROOT, sessionFolder } from '../../core/paths.ts';
import { findSecrets } from '../../core/text/secrets.ts';
import { readGit } from '../../git/run.ts';
import type { Directories, GitAccess } from '../../repository/parts.ts';

/** In the work tree, because an agent in a sandbox can write nowhere else; no part of the records. */
const DRAFTS = `${ROOT}/drafts`;

/** `<work tree>/.handoff/drafts/<identity>/<YYYYMMDDTHHmmss>-<sid8>.md` */
export function draftPath(topLevel: string, identity: string, session: string, at: Date): string {
  return join(topLevel, DRAFTS, identity, `${sessionFolder(at.toISOString(), session)}.md`);
}

/** The folder is there before anybody is asked to write into it, and git does not see it. */
export async function prepareDrafts(repository: GitAccess & Directories, path: string): Promise<void> {
  await refuseStaged(repository);
  await excludeDrafts(repository);
  mkdirSync(dirname(path), { recursive: true });
}

async function excludeDrafts({ dirs }: Directories): Promise<void> {
  const file = join(dirs.commonDir, 'info/exclude');
  const line = `/${DRAFTS}/`;
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text.split(/\r?\n/).includes(line)) return;
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`);
}

/** What is staged is committed one day, and a draft is nobody's record. */
async function refuseStaged({ git }: GitAccess): Promise<void> {
  const out = await readGit(git, ['ls-files', '-z', '--', DRAFTS]);
  const [first] = out.toString('utf8').split('\0');
  if (!first) return;
  throw new HandoffError('path_mismatch', `${first} is staged or committed, and drafts are no records.`, {
    hint: `Take it out of the index: git rm -r --cached ${DRAFTS}; the files stay. Then trigger the relay again.`,
    data: { path: first },
  });
}

/** The draft as its author left it. Whatever else is in its place is refused, and nothing is followed to somewhere else. */
export function readRelayDraft(path: string): Uint8Array {
  const bytes = readPlain(path);
  if (Buffer.from(bytes).toString('utf8').trim() === '') {
    throw new HandoffError('baton_empty', `The handoff ${path} is empty, and an empty handoff hands over nothing.`, {
      hint: 'Have the agent write it, or write it yourself; then git handoff relay retry.',
      data: { path },
    });
  }
  return bytes;
}

/** The same, and what looks like a secret is refused before anything is signed. */
export function checkRelayDraft(path: string): Uint8Array {
  const bytes = readRelayDraft(path);
  const [secret] = findSecrets(Buffer.from(bytes).toString('utf8'));
  if (!secret) return bytes;
  throw new HandoffError('secret_found', `${path} seems to hold a secret: line ${secret.line} (${secret.rule}).`, {
    hint: 'Take it out, and change it if it was ever shared; then git handoff relay retry. If it is none: git handoff relay force.',
    data: { path, line: secret.line },
  });
}

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

function readPlain(path: string): Uint8Array {
  const folder = dirname(path);
  const file = tryOpen(path);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw missing(path, 'it is no file');
    if (realpathSync(folder) !== folder) throw missing(path, 'its folder is a link to somewhere else');
    if (stat.size > MAX_RECORD_BYTES) throw tooLarge(path, stat.size);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function tryOpen(path: string): number {
  try {
    return openSync(path, FLAGS);
  } catch (error) {
    if (!hasCode(error)) throw error;
    throw missing(path, error.code === 'ELOOP' ? 'it is a link to somewhere else' : 'it was not written');
  }
}

function missing(path: string, why: string): HandoffError {
  return new HandoffError('baton_missing', `Expected the handoff in ${path}: ${why}.`, {
    hint: 'The session is still open. See what the agent did, or write the file yourself; then git handoff relay retry.',
    data: { path },
  });
}

function tooLarge(path: string, size: number): HandoffError {
  return new HandoffError(
    'too_large',
    `The handoff ${path} has ${size} bytes; at most ${MAX_RECORD_BYTES} fit a record.`,
    {
      hint: 'Have it shortened to what a successor needs; then git handoff relay retry.',
      data: { path, limit: MAX_RECORD_BYTES },
    },
  );
}
