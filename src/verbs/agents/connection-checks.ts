import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { HandoffError } from '../../core/error.ts';
import { readLinked } from '../../disk/state-file.ts';
import type { Settings } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { PROGRAMS } from '../../runtimes/programs.ts';
import { AGENT_EVENTS, type AgentEvent } from '../../runtimes/runtime.ts';
import type {
  Connected,
  PlacedPart,
  ProgramTrust,
  RuntimeProgram,
  Scope,
  UserPlaces,
} from '../../runtimes/runtime-settings.ts';
import type { PartState } from '../../runtimes/settings/part.ts';
import { homeOf, partsOf, placeFor } from './connection.ts';
import { readArrival } from './event-state.ts';
import { findProgram, programVersion } from './found-program.ts';

/** What was seen; an error is thrown for what does not hold. */
interface Seen {
  detail: string;
  fix: string | null;
}

type Look = [name: string, look: () => Promise<Seen>];

/** Part of ours in a file, and what has become of it. */
interface FoundPart {
  placed: PlacedPart;
  file: string;
  state: PartState | 'unreadable';
}

interface Connection {
  program: RuntimeProgram;
  /** Where it is started from; null where it is not installed. */
  path: string | null;
  /** Where our hooks are, with all that belongs to them. */
  scopes: { scope: Scope; parts: FoundPart[] }[];
}

/** For each agent's program that is installed here or was connected: does what connect wrote still hold, and has anything arrived? */
export function connectionLooks(repository: Repository): Look[] {
  const known = PROGRAMS.map((program) => findConnection(repository, program));
  const present = known.filter(({ path, scopes }) => path !== null || scopes.length > 0);
  return present.map((connection) => [connection.program.name, () => lookAt(repository, connection)]);
}

function findConnection(repository: Repository, program: RuntimeProgram): Connection {
  const wanted: Scope[] = repository.dirs.topLevel ? ['project', 'user'] : ['user'];
  const all = wanted.map((scope) => ({ scope, parts: foundParts(repository, program, scope) }));
  const scopes = all.filter(({ parts }) => parts.some(({ placed, state }) => placed.use === 'hooks' && isOurs(state)));
  return { program, path: findProgram(program.program, repository.env), scopes };
}

/** A file that cannot be read does not count: nobody knows whether ours is in it. */
function isOurs(state: FoundPart['state']): boolean {
  return state === 'complete' || state === 'harmed';
}

function foundParts(repository: Repository, program: RuntimeProgram, scope: Scope): FoundPart[] {
  const stand = { repository, env: repository.env };
  const { top } = placeFor(scope, stand);
  return partsOf(program, scope, stand).map((placed) => {
    const choices = placed.paths.map((path) => resolve(top, path));
    const file = choices.find((choice) => existsSync(choice)) ?? choices[0] ?? top;
    return { placed, file, state: stateOf(placed, file) };
  });
}

function stateOf({ part }: PlacedPart, file: string): FoundPart['state'] {
  try {
    return part.state(readLinked(file)?.toString('utf8') ?? null);
  } catch {
    return 'unreadable'; // connect says why, in full
  }
}

async function lookAt(repository: Repository, { program, path, scopes }: Connection): Promise<Seen> {
  const version = path === null ? null : await programVersion(path, repository.env);
  const installed = path === null ? 'not installed here' : (version ?? 'installed');
  if (scopes.length === 0) return { detail: `${installed}; not connected`, fix: `git handoff connect ${program.name}` };
  const where = scopes.map(({ scope }) => (scope === 'user' ? 'for you' : 'in this repository')).join(' and ');
  for (const { scope, parts } of scopes) assertWhole(program, scope, parts);
  if (path !== null) assertReachable(repository);
  const arrived = arrivals(repository, program);
  if (path !== null) for (const { scope, parts } of scopes) assertTrusted(repository, program, scope, parts, arrived);
  const twice = scopes.length > 1 ? `git handoff disconnect ${program.name} --user` : null;
  return { detail: `${installed}; connected ${where}; ${told(repository, program, arrived)}`, fix: twice };
}

function assertWhole({ name, title }: RuntimeProgram, scope: Scope, parts: readonly FoundPart[]): void {
  const lost = parts.filter(({ state }) => state !== 'complete');
  if (lost.length === 0) return;
  const what = lost.map(({ file, state }) => `${file} (${LACKS[state]})`).join(', ');
  throw new HandoffError('unsupported', `${title} is connected, but not as it should be: ${what}.`, {
    hint: `git handoff connect ${name}${scope === 'user' ? ' --user' : ''}`,
  });
}

const LACKS: Record<FoundPart['state'], string> = {
  absent: 'ours is missing',
  harmed: 'ours was changed, or is of another version',
  unreadable: 'it cannot be read',
  complete: '',
};

function assertReachable({ env }: Settings): void {
  if (findProgram('git-handoff', env) !== null) return;
  throw new HandoffError('unsupported', 'Hooks find no git-handoff on the PATH, and do nothing.', {
    hint: 'In a clone of git-handoff: npm ci && npm pack && npm install --global ./git-handoff-*.tgz',
  });
}

/** What has arrived since is proof; before that, what the program wrote about trust is all that is known. */
function assertTrusted(
  repository: Repository,
  { title, trust, byHand }: RuntimeProgram,
  scope: Scope,
  parts: readonly FoundPart[],
  arrived: ReadonlyMap<AgentEvent, Date>,
): void {
  const hooksFile = parts.find(({ placed }) => placed.use === 'hooks')!.file;
  const since = statSync(hooksFile).mtime;
  if (trust === null || [...arrived.values()].some((at) => at >= since)) return;
  const top = scope === 'user' ? null : repository.dirs.topLevel;
  if (isTrusted(trust, { home: homeOf(repository.env), env: repository.env }, { top, hooksFile })) return;
  throw new HandoffError(
    'unsupported',
    `${title} is connected, but nothing has arrived, and it has not been trusted.`,
    {
      hint: byHand[scope].join(' ') || 'Start it once.',
    },
  );
}

/** What cannot be read gives no trust. */
function isTrusted(trust: ProgramTrust, places: UserPlaces, connected: Connected): boolean {
  try {
    return trust.isGiven(readLinked(trust.file(places))?.toString('utf8') ?? '', connected);
  } catch {
    return false;
  }
}

function arrivals(repository: Repository, { name }: RuntimeProgram): Map<AgentEvent, Date> {
  const found = AGENT_EVENTS.map((event) => [event, readArrival(repository, name, event)] as const);
  return new Map(found.filter((entry): entry is [AgentEvent, Date] => entry[1] !== null));
}

/** Each event by when it was last told of; those that the program has no name for are said, not hidden. */
function told(repository: Repository, { events, speech }: RuntimeProgram, arrived: Map<AgentEvent, Date>): string {
  const now = repository.now();
  const awaited = new Set(events.map((name) => speech.events[name]!));
  const seen = [...arrived].map(([event, at]) => `${event} ${age(now, at)} ago`);
  const never = [...awaited].filter((event) => !arrived.has(event));
  const lacking = LIFE.filter((event) => !awaited.has(event));
  return [
    seen.length > 0 ? `arrived: ${seen.join(', ')}` : 'no event has arrived yet',
    ...(never.length > 0 && seen.length > 0 ? [`not yet: ${never.join(', ')}`] : []),
    ...(lacking.length > 0 ? [`it has no ${lacking.join(', ')}`] : []),
  ].join('; ');
}

/** The events that make up a session's life. */
const LIFE: readonly AgentEvent[] = [
  'session_start',
  'prompt',
  'tool',
  'compacting',
  'compacted',
  'stop',
  'session_end',
];

function age(now: Date, at: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - at.getTime()) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}
