import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { NO_REPOSITORY } from './objects/store-error.ts';
import type { Stop } from './stop.ts';

export interface Git {
  dir: string;
  /** The caller's environment as it came; what git may see of it is decided by `gitEnv`. */
  env: NodeJS.ProcessEnv;
  /** Variables set on purpose, after the cleaning: a temporary index, the quarantine of a push. */
  set?: Record<string, string>;
  /** Ends what is started here, when nobody waits for it any longer. */
  stop?: Stop;
}

export interface RunOptions {
  input?: Uint8Array | string;
  config?: Record<string, string>;
  /** Milliseconds, for what talks to another machine. Too late is a failure like any other: exit code 128. */
  timeout?: number;
  /** Called now and then with what git has written to standard error so far. When it returns true, git is ended. */
  isEnough?(said: string): boolean;
}

export interface GitResult {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** Runs git and returns whatever it answers; throws only when git cannot be started. */
export async function runGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
  const child = spawnGit(git, args, options.config);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', ignoreEarlyExit);
  const timer = options.timeout && setTimeout(() => stderr.unshift(stop(child, options.timeout!)), options.timeout);
  const { isEnough } = options;
  const look = isEnough && setInterval(() => isEnough(Buffer.concat(stderr).toString()) && end(child), LOOK);
  child.stdin.end(options.input ?? '');
  const code = await exitCode(child).finally(() => [timer, look].forEach(clearTimeout));
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') };
}

/** Runs git synchronously: for steps between which the process must not be ended. */
export function runGitSync(git: Git, args: readonly string[], input = ''): GitResult {
  const { argv, env } = commandLine(git, args);
  const { status, signal, stdout, stderr, error } = spawnSync('git', argv, {
    env,
    input,
    windowsHide: true,
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (error && status === null) throw startFailure(error); // else it ended before it had read all: its code says why
  return { code: status ?? codeOf(signal), stdout, stderr: stderr.toString('utf8') };
}

/** What it prints; any exit code but 0 is a typed error. */
export function readGitSync(git: Git, args: readonly string[], input?: string): Buffer {
  const result = runGitSync(git, args, input);
  if (result.code !== 0) throw gitFailure(args, result);
  return result.stdout;
}

/** Runs git and returns its output; any exit code but 0 is a typed error. */
export async function readGit(git: Git, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const result = await runGit(git, args, options);
  if (result.code !== 0) throw gitFailure(args, result);
  return result.stdout;
}

/** What git does with a person at the terminal, such as in an editor. Returns its exit code. */
export function runGitOnTerminal(git: Git, args: readonly string[], config: Record<string, string>): Promise<number> {
  const { argv, env } = commandLine(git, args, config);
  return exitCode(spawn('git', argv, { env, stdio: 'inherit' }));
}

/** Starts git. Nothing outside this file does. */
export function spawnGit(
  git: Git,
  args: readonly string[],
  config: Record<string, string> = {},
  pipes = 3,
): ChildProcessWithoutNullStreams {
  const { argv, env } = commandLine(git, args, config);
  const stdio = Array.from({ length: pipes }, () => 'pipe' as const);
  const child = spawn('git', argv, { env, stdio, windowsHide: true });
  git.stop?.watch(child);
  return child as ChildProcessWithoutNullStreams;
}

/** The fixed flags and the clean environment. */
function commandLine(git: Git, args: readonly string[], config: Record<string, string> = {}) {
  const chosen = Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  return { argv: ['-C', git.dir, ...FLAGS, ...chosen, ...args], env: { ...gitEnv(git.env), ...git.set } };
}

/**
 * Git dies rather than take more than this at once; the error's data says how much it wanted. A file of nothing but line ends is small in a push, and to compare it takes
 * git some fifty times as many bytes as it has.
 */
export function limitMemory(git: Git, bytes: number): Git {
  return { ...git, set: { ...git.set, GIT_ALLOC_LIMIT: String(bytes) } };
}

/** For what compares commits: git would first read the index, which has a line for every file, and never look at it. */
export function withoutIndex(git: Git): Git {
  return { ...git, set: { ...git.set, GIT_INDEX_FILE: join(dirname(devNull), 'git-handoff-has-no-index') } };
}

// A repository's own configuration can name programs to run. `diff.external` is not here: set to nothing it makes
// `git diff` fail, and the plumbing (`diff-tree`, `cat-file`) never reads it.
const FLAGS = [
  '--no-pager',
  '--no-replace-objects',
  ...['-c', 'core.fsmonitor=false'],
  ...['-c', 'core.quotePath=false'],
  ...['-c', 'log.showSignature=false'],
  ...['-c', 'protocol.ext.allow=never'],
  ...['-c', 'submodule.recurse=false'],
];

const KEPT =
  /^GIT_((AUTHOR|COMMITTER)_.*|TRACE.*|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|EXEC_PATH|SSH|SSH_COMMAND)$/;

const FIXED = {
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LITERAL_PATHSPECS: '1',
  // A path that cannot exist: the null device itself would make git print its deprecation advice.
  GIT_GRAFT_FILE: join(devNull, 'none'),
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  LC_ALL: 'C',
};

/** What git may see of an environment: no inherited GIT_DIR, index, object store or injected configuration. */
export function gitEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !/^GIT_/i.test(name) || KEPT.test(name));
  return { ...Object.fromEntries(kept), ...FIXED };
}

/** The typed error for an exit code that means failure. */
export function gitFailure(args: readonly string[], { code, stderr }: Omit<GitResult, 'stdout'>): HandoffError {
  const line = reason(stderr);
  const message = `git ${args[0]} failed with exit code ${code}: ${line}`;
  const [, wanted, limit] = /attempting to allocate (\d+) over limit (\d+)/.exec(stderr) ?? [];
  if (wanted && limit)
    return new HandoffError('io', message, { data: { wanted: Number(wanted), limit: Number(limit) } });
  if (isTooDeep({ code, stderr })) return new HandoffError('io', `${message}: ${DEEP}`, { data: { isTooDeep: true } });
  if (/dubious ownership/.test(stderr)) return new HandoffError('not_a_repository', message, ownershipHint(stderr));
  if (/not a git repository/i.test(stderr)) return new HandoffError('not_a_repository', message, NO_REPOSITORY);
  if (/\.lock': File exists/.test(stderr)) return new HandoffError('io', message, LOCKED);
  if (/promisor remote/.test(stderr)) return new HandoffError('io', message, PARTIAL);
  if (/bad config|bad numeric config/.test(stderr)) return new HandoffError('io', message, BAD_CONFIG);
  return new HandoffError('io', message, { data: { code } });
}

// Nothing is fetched behind the caller's back (GIT_NO_LAZY_FETCH).
const PARTIAL = { hint: 'This is a partial clone; fetch the rest: `git fetch --refetch --no-filter`.' };

const BAD_CONFIG = { hint: 'Mend that line of the configuration: git config --edit, or an editor.' };

/** The hint for users who meet a lock of git's. */
export const LOCKED = {
  hint: 'Another git process is running in this repository: wait until it ends and try again. If none is, one was killed and left that lock file behind; then remove the file.',
};

function ownershipHint(stderr: string): { hint: string } {
  const command = /git config --global --add safe\.directory .+/.exec(stderr)?.[0];
  return { hint: `The repository belongs to another user. If you trust it: \`${command ?? 'see safe.directory'}\`.` };
}

// Traces, hints and warnings may come first.
function reason(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /^(fatal|error|usage):/.test(line)) ?? lines[0] ?? 'it said nothing';
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(startFailure(cause)));
    child.on('close', (code, signal) => resolve(code ?? codeOf(signal)));
  });
}

const FAULT = 139;

/** The exit code that stands for a signal, where that says more than that git was ended. */
export function codeOf(signal: NodeJS.Signals | null): number {
  return signal === 'SIGSEGV' ? FAULT : 128;
}

/** Git calls itself for each folder in a folder, until its stack is full; newer ones (2.43) say how far they go. */
function isTooDeep({ code, stderr }: Pick<GitResult, 'code' | 'stderr'>): boolean {
  return code === FAULT || /exceeded maximum allowed tree depth/.test(stderr);
}

const DEEP = 'folders are nested more deeply than git can follow';

const LOOK = 20;

// What git itself started (ssh, git-remote-https) may live on, and would keep the pipes open and us waiting.
function end(child: ChildProcessWithoutNullStreams): void {
  child.kill();
  for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
}

function stop(child: ChildProcessWithoutNullStreams, timeout: number): Buffer {
  end(child);
  return Buffer.from(`fatal: it did not end within ${timeout / 1000} s\n`);
}

export function startFailure(cause: NodeJS.ErrnoException): HandoffError {
  if (cause.code !== 'ENOENT') return new HandoffError('io', `git could not be started: ${cause.message}`, { cause });
  return new HandoffError('io', 'git was not found on the PATH', { hint: 'Install git 2.36 or later.', cause });
}

// git may answer without reading its input; its exit code tells the rest.
function ignoreEarlyExit(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET' && error.code !== 'EOF') throw error;
}
