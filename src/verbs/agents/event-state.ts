import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { bestEffort } from '../../disk/best-effort.ts';
import { replaceFile } from '../../disk/durable.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { Session } from '../../journal/sessions/registry.ts';
import { dirsOf } from '../../journal/sessions/session-state.ts';
import type { StateDirectory } from '../../repository/parts.ts';
import type { AgentEvent, RuntimeName } from '../../runtimes/runtime.ts';

// What events leave in the state directory. All of it helps and none of it decides: a file that cannot be written is not missed.

/** When an event arrived last is the time of this file. The shell writes it too. */
export function stampArrival({ stateDir }: StateDirectory, runtime: RuntimeName, event: AgentEvent): void {
  const path = join(stateDir, 'runtimes', runtime, event);
  bestEffort(() => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '\n');
  });
}

/** When each event of a runtime arrived last. */
export function readArrival({ stateDir }: StateDirectory, runtime: RuntimeName, event: AgentEvent): Date | null {
  const stat = bestEffort(() => statSync(join(stateDir, 'runtimes', runtime, event), { throwIfNoEntry: false }));
  return stat ? stat.mtime : null;
}

const MOST_LOGGED = 64 * 1024;

/** Why an event was answered with nothing although something went wrong. Half of a log that is full is forgotten. */
export function logFault({ stateDir }: StateDirectory, line: string): void {
  const path = join(stateDir, 'runtimes', 'log');
  bestEffort(() => {
    mkdirSync(dirname(path), { recursive: true });
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MOST_LOGGED) replaceFile(path, newestHalf(readFileSync(path, 'utf8')));
    appendFileSync(path, `${line}\n`);
  });
}

function newestHalf(text: string): string {
  const half = text.slice(-MOST_LOGGED / 2);
  return half.slice(half.indexOf('\n') + 1);
}

/**
 * Of a session: `stop`, what its last stop was told (its time is when that was looked at); `reminder`, what is still to be told to the model;
 * `held`, the reason for which this turn was held; `forgot`, that there was a compaction;
 * `turn`, which of prompt and stop came last. The shell writes that one, too.
 */
export type Mark = 'stop' | 'reminder' | 'held' | 'forgot' | 'turn';

export function readMark(repository: StateDirectory, session: Pick<Session, 'session_id'>, mark: Mark): string | null {
  return bestEffort(() => readStateText(markPath(repository, session, mark)));
}

/** `at`: what changed after it was not looked at. */
export function writeMark(repository: StateDirectory, session: Session, mark: Mark, text: string, at?: Date): void {
  const path = markPath(repository, session, mark);
  bestEffort(() => {
    replaceFile(path, text);
    if (at) utimesSync(path, at, at);
  });
}

export function dropMark(repository: StateDirectory, session: Session, mark: Mark): void {
  bestEffort(() => rmSync(markPath(repository, session, mark), { force: true }));
}

function markPath(repository: StateDirectory, { session_id }: Pick<Session, 'session_id'>, mark: Mark): string {
  return join(dirsOf(repository).sessions, session_id, `agent-${mark}`);
}

/** Whether a prompt came after the last stop. Who was interrupted has told of no stop. */
export function isTurnUnderWay(repository: StateDirectory, session_id: string): boolean {
  return readMark(repository, { session_id }, 'turn')?.trim() === 'prompt';
}

/** How full the context of a session's agent is, as its runtime said last. */
export interface ContextUsed {
  runtime: RuntimeName;
  used_percentage: number;
  at: string;
}

export function writeContextUsed(repository: StateDirectory, session: Session, used: ContextUsed): void {
  bestEffort(() => replaceFile(contextPath(repository, session), `${JSON.stringify(used)}\n`));
}

/** Null where it said nothing, or nothing that makes sense. */
export function readContextUsed(repository: StateDirectory, session: Session): ContextUsed | null {
  const used = parseJson<ContextUsed>(bestEffort(() => readStateText(contextPath(repository, session))) ?? '');
  const percent = used?.used_percentage;
  return used && typeof percent === 'number' && percent >= 0 && percent <= 100 ? used : null;
}

function contextPath(repository: StateDirectory, { session_id }: Session): string {
  return join(dirsOf(repository).sessions, session_id, 'agent-context');
}
