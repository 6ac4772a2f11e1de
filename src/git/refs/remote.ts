import { HandoffError } from '../../core/error.ts';
import { quoteWord } from '../../core/text/quote.ts';
import type { Oid, Ref } from '../objects/store.ts';
import { type Git, type GitResult, gitFailure, type RunOptions, runGit } from '../run.ts';

export interface Remote {
  git: Git;
  /** The name of a remote, or its URL. */
  name: string;
  /** Milliseconds that one conversation with it may take; 30 seconds if absent. */
  timeout?: number;
}

export interface PushAnswer {
  /** One character for each URL of the remote: `*` new, `!` refused, and what no push of a new ref should give. */
  flags: string;
  /** In the words of git or of the server. */
  summary: string;
}

/** The refs of the remote that begin with the prefix, in one process. */
export async function listRemote(remote: Remote, prefix: string): Promise<Ref[]> {
  const refs = await listMatching(remote, [`${prefix}*`]);
  // git matches the end of a name: refs/heads/<prefix>… is listed too.
  return refs.filter(({ name }) => name.startsWith(prefix));
}

/** Those of these refs that the remote has, in one process. */
export async function listNamed(remote: Remote, names: readonly string[]): Promise<Ref[]> {
  const refs = await listMatching(remote, names);
  return refs.filter(({ name }) => names.includes(name));
}

async function listMatching(remote: Remote, patterns: readonly string[]): Promise<Ref[]> {
  const args = ['ls-remote', '--refs', '--end-of-options', remote.name, ...patterns];
  const result = await converse(remote, args);
  if (result.code !== 0) throw remoteFailure(remote, gitFailure(args, result).message);
  const lines = result.stdout.toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => ({
    oid: line.slice(0, line.indexOf('\t')),
    name: line.slice(line.indexOf('\t') + 1),
  }));
}

/**
 * Asks the remote to put a ref where `expected` is (nothing, if that is empty), and for nothing else, whatever the
 * configuration adds to a push.
 */
export async function pushRef(remote: Remote, oid: Oid, ref: string, expected: Oid | ''): Promise<PushAnswer> {
  const args = [...PUSH, `--force-with-lease=${ref}:${expected}`, '--end-of-options', remote.name, `${oid}:${ref}`];
  const result = await converse(remote, args, { config: { 'push.pushOption': '', 'push.negotiate': 'false' } });
  const answers = result.stdout
    .toString('utf8')
    .split('\n')
    .map(parsePorcelain)
    .filter((line) => line?.ref === ref);
  if (answers.length === 0) throw remoteFailure(remote, gitFailure(args, result).message);
  return {
    flags: answers.map((line) => line!.flag).join(''),
    summary: answers.map((line) => line!.summary).join(', '),
  };
}

/** Asks the remote to move a branch on. True when it did; false when somebody else was faster. */
export async function pushBranch(remote: Remote, ref: string): Promise<boolean> {
  const args = ['push', '--porcelain', '--no-follow-tags', '--end-of-options', remote.name, `${ref}:${ref}`];
  const result = await converse(remote, args);
  if (result.code === 0) return true;
  const answers = result.stdout.toString('utf8').split('\n').map(parsePorcelain);
  const refused = answers.find((line) => line?.ref === ref && line.flag === '!');
  if (refused && (LOST.test(refused.summary) || MOVED.test(saidBy(result)))) return false;
  // what the server itself says tells more than that it said no
  const words = refused ? `${refused.summary} ${saidBy(result)}`.trim() : gitFailure(args, result).message;
  throw new HandoffError('io', `Remote ${shownName(remote)}: ${words}`, {
    hint: `The commits are here, and not there: git push ${quoteWord(shownName(remote))} shows all that it says.`,
  });
}

const LOST = /fetch first|non-fast-forward|cannot lock ref|failed to update ref|incorrect old value|stale info/;
/** What our own hook says, before git gets to compare. */
const MOVED = /the branch has moved: .*; fetch and push again/;
const MAX_SAID = 500;

function saidBy({ stderr }: GitResult): string {
  const lines = stderr.split('\n').filter((line) => line.startsWith('remote: '));
  return lines
    .map((line) => line.slice('remote: '.length).trim())
    .join(' ')
    .slice(0, MAX_SAID);
}

/** Brings a branch of the remote here, as the ref that git keeps for it. */
export async function fetchBranch(remote: Remote, ref: string, tracking: string): Promise<void> {
  const args = ['fetch', '--quiet', '--no-tags', '--end-of-options', remote.name, `+${ref}:${tracking}`];
  const result = await converse(remote, args);
  if (result.code !== 0) throw remoteFailure(remote, gitFailure(args, result).message);
}

export function remoteFailure(remote: Remote, message: string, hint = checkRemote(remote)): HandoffError {
  return new HandoffError('io', `Remote ${shownName(remote)}: ${message}`, { hint });
}

function checkRemote(remote: Remote): string {
  const shown = quoteWord(shownName(remote));
  return `Check the remote (\`git ls-remote ${shown}\`), or go on without it: \`--local\`.`;
}

/** Without a password that an address may have in it. */
export function shownName({ name }: Remote): string {
  return name.replace(/\/\/[^/@]*@/, '//');
}

const PUSH = [
  ...['push', '--porcelain', '--no-verify', '--no-signed', '--no-follow-tags'],
  ...['--recurse-submodules=no', '--no-force-if-includes'],
];

// Nobody may be there to answer. git asks no terminal (GIT_TERMINAL_PROMPT), and these keep it and ssh from asking a
// program with a window; ssh would otherwise open the terminal by itself.
const NO_QUESTIONS = { GIT_ASKPASS: '', SSH_ASKPASS: 'false', SSH_ASKPASS_REQUIRE: 'force' };

const TIMEOUT = 30_000;

/** One conversation of git with the remote, in which nobody is asked anything. */
export async function converse(
  remote: Remote,
  args: readonly string[],
  { config, ...options }: Omit<RunOptions, 'timeout'> = {},
): Promise<GitResult> {
  assertRemoteName(remote.name);
  const { git, timeout = TIMEOUT } = remote;
  const silent = { ...git, set: { ...git.set, ...NO_QUESTIONS } };
  return runGit(silent, args, { ...options, config: { ...patience(timeout), ...config }, timeout });
}

// When git is stopped its HTTP helper lives on: it must give up by itself.
function patience(timeout: number): Record<string, string> {
  const seconds = String(Math.ceil(timeout / 1000));
  return { 'credential.interactive': 'false', 'http.lowSpeedLimit': '1', 'http.lowSpeedTime': seconds };
}

function assertRemoteName(name: string): void {
  if (/^[^-\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$/.test(name)) return;
  throw new HandoffError('usage', `Not a remote: ${JSON.stringify(name)}`, {
    hint: 'Name one that `git remote` lists: `git config handoff.remote origin`.',
  });
}

/** `<flag>\t<from>:<to>\t<summary>` */
function parsePorcelain(line: string): { flag: string; ref: string; summary: string } | null {
  const [, flag, ref, summary] = /^([ +\-t*!=])\t[^\t:]*:([^\t]+)\t(.*)$/.exec(line) ?? [];
  return flag && ref ? { flag, ref, summary: summary ?? '' } : null;
}
