import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An environment in which nobody's configuration, hooks or identity can change what a test sees. */
export const isolatedEnv: NodeJS.ProcessEnv = {
  ...withoutGit(process.env),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
};

/** In memory where there is room: what is written is synced again and again, and half the time would go into the disk. */
const BASE = hasRoom('/dev/shm') ? '/dev/shm' : tmpdir();

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize > 2 * 1024 ** 3;
}

/** A real path of an empty directory, removed when the running test ends. */
export function temporaryDirectory(): string {
  const { path, remove } = disposableDirectory();
  onTestFinished(remove);
  return path;
}

/** For `beforeAll`, where no test is running: the caller removes it in `afterAll`. */
export function disposableDirectory(): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(BASE, 'git-handoff-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** Runs git in the isolated environment and returns its output without the last newline. */
export function git(dir: string, ...args: string[]): string {
  return gitInput(dir, '', ...args);
}

export function gitInput(dir: string, input: string | Uint8Array, ...args: string[]): string {
  const out = execFileSync('git', ['-C', dir, ...args], { input, env: isolatedEnv, stdio: ['pipe', 'pipe', 'pipe'] });
  return out.toString('utf8').replace(/\n$/, '');
}

function withoutGit(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('GIT_')));
}
