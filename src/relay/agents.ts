import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../core/bytes/json.ts';
import { HandoffError } from '../core/error.ts';
import { isIdentityName, isSessionId } from '../core/names.ts';
import { guarded, replaceSynced } from '../disk/durable.ts';
import { ifThere } from '../disk/if-there.ts';
import { readStateText } from '../disk/state-file.ts';
import type { StateDirectory } from '../repository/parts.ts';
import { RUNTIME_NAMES, type RuntimeName } from '../runtimes/runtime.ts';
import type { ProcessMark } from './processes.ts';
import type { Seat, TerminalPlace } from './terminal.ts';

/** One running process of an agent's program, under one identity, in one session. */
export interface Agent {
  session_id: string;
  identity: string;
  /** Null for any other command. */
  runtime: RuntimeName | null;
  /** Null where it runs in none that we know of. */
  seat: Seat | null;
  /** Its own process; null where nobody could tell which that is. */
  program: ProcessMark | null;
  /** The work tree that it was started in. */
  directory: string;
  /** The session that it continues. */
  previous_session_id: string | null;
  started_at: string;
  /** Who has put it here: `agent run`, its own first event, or the relay that started it. */
  bound_by: 'run' | 'event' | 'relay';
}

/** A file of the register that is none of ours, or is damaged: it is left alone, and said. */
interface BrokenAgent {
  path: string;
  reason: string;
}

export interface Register {
  agents: Agent[];
  broken: BrokenAgent[];
}

/** Where everything about agents is, beside the sessions. */
export function agentsFolder({ stateDir }: Pick<StateDirectory, 'stateDir'>): string {
  return join(stateDir, 'agents');
}

function agentFile(repository: Pick<StateDirectory, 'stateDir'>, session: string): string {
  if (!isSessionId(session)) throw new Error(`${JSON.stringify(session)} is no session id.`);
  return join(agentsFolder(repository), `${session}.json`);
}

/** A session has one agent at most: another one takes the place of the one before. */
export function writeAgent(repository: Pick<StateDirectory, 'stateDir'>, agent: Agent): void {
  const path = agentFile(repository, agent.session_id);
  guarded(path, () => replaceSynced(path, `${JSON.stringify(agent)}\n`));
}

/** Null where none is known, and where the file is not as we write it. */
export function readAgent(repository: Pick<StateDirectory, 'stateDir'>, session: string): Agent | null {
  if (!isSessionId(session)) return null;
  const read = readFile(agentFile(repository, session), session);
  return 'agent' in read ? read.agent : null;
}

/** All that can be read, by their beginning. */
export function readAgents(repository: Pick<StateDirectory, 'stateDir'>): Register {
  const folder = agentsFolder(repository);
  const names = (ifThere(() => readdirSync(folder)) ?? []).filter((name) => name.endsWith('.json')).sort();
  const read = names.map((name) => readFile(join(folder, name), name.slice(0, -'.json'.length)));
  const agents = read.flatMap((each) => ('agent' in each ? [each.agent] : []));
  const broken = read.flatMap((each) => ('reason' in each ? [each] : []));
  return { agents: agents.sort((a, b) => (a.started_at < b.started_at ? -1 : 1)), broken };
}

export function removeAgent(repository: Pick<StateDirectory, 'stateDir'>, session: string): void {
  const path = agentFile(repository, session);
  guarded(path, () => rmSync(path, { force: true }));
}

/** Whoever may write to the state directory may have written this: nothing of it is believed by its name. */
function readFile(path: string, session: string): { agent: Agent } | BrokenAgent {
  try {
    const found = parseJson<Record<string, unknown>>(readStateText(path) ?? '');
    const agent = found && toAgent(found);
    if (agent?.session_id === session) return { agent };
    return { path, reason: agent ? 'it is about another session than its name' : 'it is not what git-handoff writes' };
  } catch (error) {
    if (error instanceof HandoffError) return { path, reason: error.message };
    throw error;
  }
}

function toAgent(found: Record<string, unknown>): Agent | null {
  const { session_id, identity, runtime, seat, program, directory, previous_session_id, started_at, bound_by } = found;
  if (typeof session_id !== 'string' || !isSessionId(session_id)) return null;
  if (typeof identity !== 'string' || !isIdentityName(identity)) return null;
  if (typeof directory !== 'string' || typeof started_at !== 'string') return null;
  const named = RUNTIME_NAMES.find((name) => name === runtime) ?? null;
  const by = BOUND_BY.find((each) => each === bound_by);
  const previous = typeof previous_session_id === 'string' ? previous_session_id : null;
  if ((named === null && runtime !== null) || !by || (previous !== null && !isSessionId(previous))) return null;
  return {
    session_id,
    identity,
    runtime: named,
    seat: toSeat(seat),
    program: toMark(program),
    directory,
    previous_session_id: previous,
    started_at,
    bound_by: by,
  };
}

const BOUND_BY = ['run', 'event', 'relay'] as const;

function toSeat(found: unknown): Seat | null {
  const { place, first } = fieldsOf(found);
  const { kind, socket, pane } = fieldsOf(place);
  const mark = toMark(first);
  if (kind !== 'tmux' || typeof socket !== 'string' || typeof pane !== 'string' || !mark) return null;
  return { place: { kind, socket, pane } satisfies TerminalPlace, first: mark };
}

function toMark(found: unknown): ProcessMark | null {
  const { pid, space, started } = fieldsOf(found);
  if (!Number.isSafeInteger(pid) || typeof pid !== 'number' || pid <= 0) return null;
  return typeof space === 'string' && typeof started === 'string' ? { pid, space, started } : null;
}

function fieldsOf(found: unknown): Record<string, unknown> {
  return typeof found === 'object' && found !== null ? Object.fromEntries(Object.entries(found)) : {};
}
