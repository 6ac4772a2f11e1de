import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitConfig } from '../git/config.ts';
import type { RepositoryDirs } from '../git/discover.ts';
import { type Git, gitFailure, runGit } from '../git/run.ts';
import type { FileToWrite } from './files.ts';

/** Who a commit is by, and when: as commit objects have it. */
interface Ident {
  name: string;
  email: string;
  date: string;
}

export interface DirectCommit {
  branch: string;
  head: string;
  files: readonly FileToWrite[];
  message: string;
  author: Ident;
  committer: Ident;
}

/**
 * A commit that adds files to a branch, at a cost that does not depend on how many files the repository has: `git commit`
 * looks at every one of them. The index is not read: whoever calls this has staged the same files, so that what else is
 * staged stays staged. Null when the branch has moved on: then nothing was done.
 */
export async function commitDirectly(git: Git, commit: DirectCommit): Promise<string | null> {
  const args = ['fast-import', '--quiet', '--date-format=raw'];
  const result = await runGit(git, args, { input: importStream(commit) });
  const oid = /^[0-9a-f]{40,64}$/m.exec(result.stdout.toString('latin1'))?.[0];
  if (result.code === 0 && oid) return oid;
  if (/Not updating|cannot lock ref|Failed to update/i.test(result.stderr)) return null;
  throw gitFailure(args, result);
}

function importStream({ branch, head, files, message, author, committer }: DirectCommit): Buffer {
  const parts: (string | Uint8Array)[] = [
    `commit refs/heads/${branch}\nmark :1\nauthor ${formatIdent(author)}\ncommitter ${formatIdent(committer)}\n`,
    ...data(Buffer.from(message)),
    `from ${head}\n`,
    ...files.flatMap(({ path, bytes }) => [`M 100644 inline ${path}\n`, ...data(bytes)]),
    'get-mark :1\n',
  ];
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function data(bytes: Uint8Array): (string | Uint8Array)[] {
  return [`data ${bytes.length}\n`, bytes, '\n'];
}

function formatIdent({ name, email, date }: Ident): string {
  return `${name} <${email}> ${date}`;
}

const HOOKS = ['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit'];
const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply', 'sequencer'];
const OTHERWISE = ['core.hookspath', 'i18n.commitencoding', 'user.useconfigonly'];

/** Whether nobody could tell such a commit from one by `git commit`: no hook to run, nothing to sign, no merge under way. */
export function isPlain(dirs: RepositoryDirs, config: GitConfig): boolean {
  const hooks = HOOKS.map((name) => join(dirs.commonDir, 'hooks', name));
  return (
    !hooks.some(isExecutable) &&
    !UNDER_WAY.some((name) => existsSync(join(dirs.gitDir, name))) &&
    !OTHERWISE.some((key) => config.get(key) !== undefined) &&
    !config.keys().some((key) => /^(?:hook|author|committer)\./.test(key)) &&
    /^(?:false|no|off|0|)$/i.test(config.get('commit.gpgsign') ?? '')
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** As git would sign the commit; null where that cannot be said for sure, and git must be asked. */
export function identOf(
  role: 'AUTHOR' | 'COMMITTER',
  env: NodeJS.ProcessEnv,
  config: GitConfig,
  identity: string,
  now: Date,
): Ident | null {
  const email = env[`GIT_${role}_EMAIL`] ?? config.get('user.email') ?? env.EMAIL;
  const name = env[`GIT_${role}_NAME`] ?? config.get('user.name');
  const date = formatDate(env[`GIT_${role}_DATE`], now);
  if (date === null) return null;
  if (email === undefined) return { name: identity, email: `${identity}@git-handoff.invalid`, date };
  if (name === undefined || /[<>\n\0]/.test(name + email) || name.trim() === '') return null;
  return { name: name.trim(), email: email.trim(), date };
}

/** Only times that have one reading: `@seconds +zone`, and ISO 8601 in UTC. */
function formatDate(given: string | undefined, now: Date): string | null {
  if (given === undefined) return `${Math.floor(now.getTime() / 1000)} ${zone(now)}`;
  const raw = /^@?([0-9]{9,12}) ([+-][0-9]{4})$/.exec(given);
  if (raw) return `${raw[1]} ${raw[2]}`;
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(given) ? `${Date.parse(given) / 1000} +0000` : null;
}

function zone(now: Date): string {
  const minutes = -now.getTimezoneOffset();
  const digits = Math.floor(Math.abs(minutes) / 60) * 100 + (Math.abs(minutes) % 60);
  return `${minutes < 0 ? '-' : '+'}${String(digits).padStart(4, '0')}`;
}
