import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { createFile, guarded } from '../../disk/durable.ts';
import { readStateText } from '../../disk/state-file.ts';
import { type Numbered, relayFolder, type State } from '../../relay/cycle/chain.ts';
import type { Relay, Successor } from '../../relay/cycle/relay.ts';
import { dropLaunch, letBegin, waitingArgv } from '../../relay/launch.ts';
import { isRunning } from '../../relay/processes.ts';
import { untilStarted } from '../../relay/started.ts';
import type { Seat, Terminal } from '../../relay/terminal.ts';
import type { Repository } from '../../repository/repository.ts';
import type { RuntimeName } from '../../runtimes/runtime.ts';
import { planProgram } from '../terminals/program-to-run.ts';

type SuccessorAgent = Successor['agent'];

/**
 * A new terminal, in which a shell waits no longer than this process lives. Where it sits is written down before its program may
 * begin: whoever is killed in between has started nothing, or something that the next one finds.
 */
export async function spawnSuccessor(
  repository: Repository,
  terminal: Terminal,
  standing: Numbered,
  firstWords: string,
): Promise<SuccessorAgent> {
  const { relay } = standing;
  const runtime = runtimeOf(relay);
  const { argv } = await planProgram(repository, { runtime, prompt: firstWords });
  const file = join(relayFolder(repository, relay.relay_id), `${relay.relay_id}-${standing.number}.launch`);
  const title = `${relay.next_agent}-${relay.session_id.slice(0, 8)}`;
  const seat = await terminal.open({ title, argv: waitingArgv(file, repository.host.pid) });
  try {
    keepSeat(repository, standing, seat);
    letBegin(file, { argv, directory: relay.directory, env: repository.env, set: environmentOf(relay) });
    await untilStarted(repository.host, terminal, seat, file);
  } catch (error) {
    dropLaunch(file);
    await terminal.close(seat);
    throw error;
  }
  return { runtime, seat, program: seat.first };
}

/** Null where none was started for this number, or it has ended. */
export async function startedSuccessor(repository: Repository, standing: Numbered): Promise<SuccessorAgent | null> {
  const seat = parseJson<Seat>(readStateText(seatFile(repository, standing)) ?? '');
  if (!seat || !isRunning(repository.host, seat.first)) return null;
  return { runtime: runtimeOf(standing.relay), seat, program: seat.first };
}

/** Another one for this number has begun already: this one does not. */
function keepSeat(state: State, standing: Numbered, seat: Seat): void {
  const path = seatFile(state, standing);
  if (guarded(path, () => createFile(path, `${JSON.stringify(seat)}\n`))) return;
  throw new HandoffError('spawn_failed', 'Another successor was started at the same time.', {
    hint: 'git handoff agent list shows who runs; then git handoff relay retry.',
  });
}

function seatFile(state: State, { number, relay }: Numbered): string {
  return join(relayFolder(state, relay.relay_id), `seat-${number}`);
}

function environmentOf(relay: Relay): Record<string, string> {
  return {
    HANDOFF_IDENTITY: relay.next_agent,
    HANDOFF_PREVIOUS_SESSION: relay.session_id,
    HANDOFF_RELAY: relay.relay_id,
    ...(relay.successor?.session_id ? { HANDOFF_SESSION: relay.successor.session_id } : {}),
  };
}

/** `--to`, else the program that the predecessor has. */
export function runtimeOf({ to, predecessor }: Pick<Relay, 'to' | 'predecessor'>): RuntimeName {
  const runtime = to ?? predecessor.runtime;
  if (runtime) return runtime;
  throw new HandoffError(
    'usage',
    'The predecessor runs a program of its own kind, so nobody knows how to start another one.',
    {
      hint: 'Say which program continues: --to claude, for example.',
    },
  );
}
