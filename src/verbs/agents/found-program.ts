import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { isExecutable } from '../../git/executable.ts';

/** Longer than any of them takes to say its version; one that hangs has none. Milliseconds. */
const PATIENCE = 10_000;

/** The file that a shell would start; null where there is none. */
export function findProgram(name: string, { PATH = '' }: NodeJS.ProcessEnv): string | null {
  const places = PATH.split(delimiter).filter(isAbsolute);
  return places.map((place) => join(place, name)).find(isProgram) ?? null;
}

export function isProgram(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false) && isExecutable(path);
}

/** What a program says that it is; null where it does not say so. */
export function programVersion(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env, timeout: PATIENCE, maxBuffer: 1 << 16, killSignal: 'SIGKILL' as const };
    const child = execFile(path, ['--version'], options, (error, stdout) => {
      resolve(error ? null : (/\d+\.\d+(?:[\w.+-]*\w)?/.exec(stdout)?.[0] ?? null));
    });
    child.stdin?.end();
  });
}
