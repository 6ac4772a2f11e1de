import { type ChildProcess, spawn as spawnProcess, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isolatedEnv } from '../temporary.ts';

export const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
if (!existsSync(CLI)) throw new Error(`${CLI} is missing. These tests run what is published: npm run build`);

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** The published command as a process, without anybody's colours. */
export function run(args: readonly string[], { cwd = '/', env = {} }: RunOptions = {}): Run {
  return spawn(process.execPath, [CLI, ...args], { cwd, env });
}

/** The same, not waited for. */
export function begin(args: readonly string[], { cwd = '/', env = {} }: RunOptions = {}): Begun {
  const child = spawnProcess(process.execPath, [CLI, ...args], { cwd, env: { ...quietEnv(), ...env } });
  const run: Run = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (run.stdout += chunk));
  child.stderr.on('data', (chunk) => (run.stderr += chunk));
  const ended = new Promise<Run>((resolve) => child.on('close', (code) => resolve({ ...run, code })));
  return { child, ended };
}

export interface Begun {
  child: ChildProcess;
  ended: Promise<Run>;
}

/** A script in which "$@" is the command. */
export function bash(script: string, { cwd = '/', env = {} }: RunOptions = {}): Run {
  return spawn('bash', ['--norc', '-c', script, 'bash', process.execPath, CLI], { cwd, env });
}

function spawn(command: string, args: readonly string[], { cwd, env }: Required<RunOptions>): Run {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...quietEnv(), ...env },
    encoding: 'utf8',
  });
  return { code: status, stdout, stderr };
}

function quietEnv(): NodeJS.ProcessEnv {
  const { FORCE_COLOR: _, NO_COLOR: __, ...quiet } = isolatedEnv;
  return quiet;
}

/** What a failure prints with --json. */
export function errorOf({ stdout }: Run): { code: string; message: string; hint: string | null; data: unknown } {
  return JSON.parse(stdout).error;
}

/** Everything but printable text and line breaks: nothing that a terminal would obey or a reader could not see. */
export const UNSAFE = /[^\P{C}\n]/u;
