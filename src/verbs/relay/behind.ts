import { bestEffort } from '../../disk/best-effort.ts';
import { startBehind } from '../../relay/background.ts';
import { markedRelays, readRelay } from '../../relay/cycle/chain.ts';
import { isDriven } from '../../relay/cycle/driver.ts';
import { hasUntold } from '../../relay/cycle/told.ts';
import type { StateDirectory } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';

/**
 * Sees that somebody drives what is under way: a process of its own, which outlives whoever asked. Whoever looks at relays after a
 * crash starts it again. Where there is no program to start, the next one who waits drives.
 */
export function drivenFrom(repository: Repository): void {
  const { program, dirs, env } = repository;
  if (!program || isDriven(repository)) return;
  const waits = markedRelays(repository).some((id) => bestEffort(() => isWaiting(repository, id)) ?? false);
  if (!waits) return;
  const { HANDOFF_SESSION, HANDOFF_IDENTITY, HANDOFF_RELAY, ...plain } = env;
  startBehind(program, ['-C', dirs.commonDir, 'relay', 'drive', '--json'], plain);
}

/** For a driver: there is something to do or to tell, or whoever was to take the mark away was killed. */
function isWaiting(repository: StateDirectory, id: string): boolean {
  const state = readRelay(repository, id)?.relay.state;
  return (state !== undefined && state !== 'failed') || hasUntold(repository, id);
}
