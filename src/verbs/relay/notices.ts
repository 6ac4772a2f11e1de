import { runBeside } from '../../relay/background.ts';
import type { Relay } from '../../relay/cycle/relay.ts';
import type { Settings } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';
import { findProgram } from '../agents/found-program.ts';
import { entryOf, type RelayEntry } from './relays.ts';

/** What `handoff.notify` names, and the desktop where there is one. What they do changes nothing here. */
export async function notify(repository: Repository, relay: Relay): Promise<void> {
  const { state, step, failure } = relay;
  const entry: RelayEntry = { ...entryOf(repository, relay.relay_id), state, step, error: failure };
  const command =
    (await repository.config())
      .get('handoff.notify')
      ?.split(/\s+/)
      .filter((word) => word !== '') ?? [];
  if (command.length > 0) await run(repository, command, `${JSON.stringify({ event: 'relay', ...entry })}\n`);
  const { DISPLAY, WAYLAND_DISPLAY } = repository.env;
  const isTold = state === 'failed' || state === 'done';
  if (isTold && (DISPLAY || WAYLAND_DISPLAY))
    await run(repository, ['notify-send', '--app-name=git-handoff', headline(entry)], '');
}

/** A program that is not there, or fails, is no failure of the relay. */
async function run({ env }: Settings, [name = '', ...args]: readonly string[], input: string): Promise<void> {
  const program = name.startsWith('/') ? name : findProgram(name, env);
  if (program) await runBeside(program, args, env, input);
}

/** A relay in a line. */
export function headline({ identity, session_id, state, step, error }: RelayEntry): string {
  const which = `Relay of ${identity} (${session_id.slice(0, 8)})`;
  if (error && state === 'failed') return `${which} failed at ${error.step}: ${error.message}`;
  return `${which}: ${state === 'under_way' ? step : state}`;
}
