import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { quoteWord } from '../core/text/quote.ts';
import { guarded, replacePrivate } from '../disk/durable.ts';
import { ifThere } from '../disk/if-there.ts';
import type { Host } from '../disk/moment.ts';
import { carriedEnvironment } from './environment.ts';

/** What is to run in a terminal, once it may. */
export interface Launch {
  /** The program, by its whole path, and its arguments. */
  argv: readonly string[];
  directory: string;
  /** As the caller has it: what the program may not see of it is left out here. */
  env: NodeJS.ProcessEnv;
  /** What it sees besides. */
  set: Readonly<Record<string, string>>;
}

// A terminal is opened before the session, so that whoever gets none has opened nothing; and its program starts after it, because it
// has to know the session. In between a shell waits, no longer than whoever started it lives.
const WAIT = 'until [ -e "$1" ]; do kill -0 "$2" 2>/dev/null || exit 0; sleep 0.05; done; . "$1"';

/** Whose it is, is in its name. */
export function launchFile(folder: string, { pid }: Host): string {
  return join(folder, `${pid}-${randomBytes(6).toString('hex')}.launch`);
}

/** What those have left that were killed before anybody had read it. */
export function tidyLaunches(folder: string, { isRunning }: Host): void {
  for (const name of ifThere(() => readdirSync(folder)) ?? []) {
    const pid = /(\d+)-[0-9a-f]+\.launch/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) dropLaunch(join(folder, name));
  }
}

/** What the terminal is opened with: it waits for the file, then it becomes the program. */
export function waitingArgv(file: string, pid: number): string[] {
  return ['/bin/sh', '-c', WAIT, 'git-handoff', file, String(pid)];
}

/** Lets it begin. The file is for its owner alone, as the environment may have keys in it, and is gone as soon as it was read. */
export function letBegin(file: string, launch: Launch): void {
  guarded(file, () => replacePrivate(file, launchScript(file, launch)));
}

/** Where nothing has read it. */
export function dropLaunch(file: string): void {
  guarded(file, () => ifThere(() => rmSync(file)));
}

/** For a shell, each word between quotes: what is in it is never read as anything else. */
function launchScript(file: string, { argv, directory, env, set }: Launch): string {
  const carried = carriedEnvironment(env);
  const stale = Object.keys(env).filter(
    (name) => /^[A-Za-z_]\w*$/.test(name) && !(name in carried) && !KEPT.test(name),
  );
  const dropped = [...new Set([...OF_A_SESSION, ...stale])].filter((name) => !(name in set));
  const exported = Object.entries({ ...carried, ...set });
  return [
    `rm -f -- ${quoteWord(file)}`,
    `unset ${dropped.join(' ')}`,
    ...exported.map(([name, value]) => `export ${name}=${quoteWord(value)}`),
    `cd -- ${quoteWord(directory)} || exit 126`,
    `exec ${argv.map(quoteWord).join(' ')}`,
    '',
  ].join('\n');
}

/** What the terminal itself says, and the shell. */
const KEPT = /^(?:TMUX|TMUX_PANE|TERM|TERM_PROGRAM|TERM_PROGRAM_VERSION|COLUMNS|LINES|PWD|OLDPWD|SHLVL|PPID|_)$/;
const OF_A_SESSION = [
  'HANDOFF_IDENTITY',
  'HANDOFF_SESSION',
  'HANDOFF_PREVIOUS_SESSION',
  'HANDOFF_PROMPT',
  'HANDOFF_RELAY',
];

/** Whether a process is still the shell that waits, as its command line has it. */
export function isWaiting(commandLine: string, file: string): boolean {
  return commandLine.includes(basename(file));
}
