import { closeSync, lstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { bestEffort } from '../disk/best-effort.ts';
import { replaceFile } from '../disk/durable.ts';
import type { GitConfig } from '../git/config.ts';
import { isExecutable } from '../git/executable.ts';
import { readOwnConfig } from '../git/own-config.ts';
import { type Git, runGit } from '../git/run.ts';
import type { Directories, GitAccess, Settings, TimeAndHost } from './parts.ts';

// Where git looks for the configuration of the whole machine was decided when it was built. It is asked once, when a session
// begins, and remembered together with the program that said so.

type Place = Pick<GitAccess, 'git'> & Pick<Directories, 'dirs'> & Pick<TimeAndHost, 'host'>;

/** The configuration as its files have it; null where git has to be asked. */
export function readConfigFiles({ git, dirs, host }: Place): GitConfig | null {
  const system = systemFile(git, dirs.commonDir, host.owner);
  return system === undefined ? null : readOwnConfig(git, dirs, host.owner, system);
}

/** Asks git, if it was not asked yet and nothing but this stands in the way of reading the files. */
export async function learnSystemFile(repository: Place & Settings): Promise<void> {
  const { git, dirs, host } = repository;
  if (systemFile(git, dirs.commonDir, host.owner) !== undefined) return;
  const program = findProgram(git.env);
  if (program === null || !isBinary(program.path) || readOwnConfig(git, dirs, host.owner, null) === null) return;
  const [system, told] = await Promise.all([askGit(git), repository.config()]);
  if (system === null || !isSame(readOwnConfig(git, dirs, host.owner, system), told)) return;
  bestEffort(() => replaceFile(memoryPath(dirs.commonDir), JSON.stringify({ program: program.seen, system })));
}

/** Null when there is none; undefined when only git knows. */
function systemFile(git: Git, commonDir: string, owner: number | null): string | null | undefined {
  const { GIT_CONFIG_NOSYSTEM: none, GIT_CONFIG_SYSTEM: named } = git.env;
  if (none !== undefined) return /^(?:1|true|yes|on)$/i.test(none) ? null : undefined;
  if (named !== undefined) return isAbsolute(named) ? named : undefined;
  const told = bestEffort(() => readMemory(memoryPath(commonDir), owner));
  return told && told.program === findProgram(git.env)?.seen ? told.system : undefined;
}

interface Memory {
  program: string;
  system: string;
}

function memoryPath(commonDir: string): string {
  return join(commonDir, 'handoff/system-config.json');
}

/** Only a file of ours is believed: another user who can write there must not choose the configuration that we read. */
function readMemory(path: string, owner: number | null): Memory | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.uid !== owner || stat.size > LARGEST) return null;
  const { program, system } = tryParse(readFileSync(path, 'utf8'));
  return typeof program === 'string' && typeof system === 'string' && isAbsolute(system) ? { program, system } : null;
}

const LARGEST = 1 << 14;

function tryParse(text: string): Partial<Record<keyof Memory, unknown>> {
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The file that would be started as git, and what tells it from another one, which may look for the configuration elsewhere. */
function findProgram({ PATH = '' }: NodeJS.ProcessEnv): { path: string; seen: string } | null {
  for (const folder of PATH.split(delimiter)) {
    if (!isAbsolute(folder)) return null;
    const path = join(folder, 'git');
    if (!isExecutable(path)) continue;
    const stat = statSync(path);
    const seen = [path, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(' ');
    if (stat.isFile()) return { path, seen };
  }
  return null;
}

/** A script may call another git tomorrow and look the same: only a binary is remembered. */
function isBinary(path: string): boolean {
  const start = Buffer.alloc(4);
  const file = openSync(path, 'r');
  try {
    readSync(file, start);
  } finally {
    closeSync(file);
  }
  return start.toString('latin1') === '\x7fELF';
}

/** Git names the file with each key, and in its error where there is none. An empty file tells nothing: null. */
async function askGit(git: Git): Promise<string | null> {
  const { code, stdout, stderr } = await runGit(git, ['config', '--system', '--list', '--show-origin', '-z']);
  const [, missing] = /^fatal: unable to read config file '(\/.*)': No such file or directory$/m.exec(stderr) ?? [];
  if (code !== 0) return missing ?? null;
  const [first = '', ...more] = stdout
    .toString('utf8')
    .split('\0')
    .slice(0, -1)
    .filter((_, at) => at % 2 === 0);
  const isOne = first.startsWith('file:/') && more.every((origin) => origin === first);
  return isOne ? first.slice('file:'.length) : null;
}

function isSame(ours: GitConfig | null, gits: GitConfig): boolean {
  const text = (config: GitConfig) => JSON.stringify(config.keys().map((key) => [key, config.all(key)]));
  return ours !== null && text(ours) === text(gits);
}
