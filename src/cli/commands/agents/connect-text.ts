import { relative } from 'node:path';
import type { ConnectResult } from '../../../verbs/agents/connect.ts';
import type { ChangedFile, ConnectedRuntime } from '../../../verbs/agents/connection.ts';
import type { Paint } from '../../terminal.ts';
import { lines } from '../../text/layout.ts';

export function formatConnected({ runtimes }: ConnectResult, paint: Paint, cwd: string): string {
  const shown = new Set<string>();
  return lines(
    runtimes.flatMap((runtime) => formatRuntime(runtime, paint, cwd, shown)),
    ['', `git handoff doctor shows what has arrived; git handoff disconnect takes all of it out again.`],
  );
}

export function formatDisconnected({ runtimes }: ConnectResult, paint: Paint, cwd: string): string {
  if (runtimes.every(({ files }) => files.length === 0)) return lines('Nothing of ours was there.');
  const shown = new Set<string>();
  return lines(runtimes.flatMap((runtime) => formatRuntime(runtime, paint, cwd, shown)));
}

function formatRuntime(
  { runtime, version, files, todo }: ConnectedRuntime,
  paint: Paint,
  cwd: string,
  shown: Set<string>,
): string[] {
  const head = paint('bold', version === null ? runtime : `${runtime} ${version}`);
  const told = files.flatMap((file) => formatFile(file, paint, cwd, shown));
  return [head, ...told, ...todo.map((step) => `  ${paint('cyan', 'by hand:')} ${step}`)];
}

/** What two programs share is shown once. */
function formatFile({ path, change, diff }: ChangedFile, paint: Paint, cwd: string, shown: Set<string>): string[] {
  const isNew = !shown.has(path);
  shown.add(path);
  const away = relative(cwd, path);
  const name = away.startsWith('..') ? path : away;
  const body = isNew && diff !== '' ? shortened(diff.split('\n')) : [];
  return [`  ${change.padEnd(9)}  ${name}`, ...body.map((line) => `    ${coloured(line, paint)}`)];
}

/** Enough to know what it is; --json has all of it. */
const SHOWN = 16;

function shortened(diff: readonly string[]): string[] {
  if (diff.length <= SHOWN + 1) return [...diff];
  return [...diff.slice(0, SHOWN), `… and ${diff.length - SHOWN} more lines`];
}

function coloured(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line);
  return line.startsWith('-') ? paint('red', line) : paint('dim', line);
}
