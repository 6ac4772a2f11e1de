import { setTimeout as sleep } from 'node:timers/promises';
import { listRelays } from '../../relay/cycle/chain.ts';
import type { Repository } from '../../repository/repository.ts';
import { drivenFrom } from './behind.ts';
import { entryOf, type OnStep, type RelayEntry, requireRelay, showSteps } from './relays.ts';

/** Milliseconds: for eyes, not for programs. */
const LOOK_EVERY = 200;

/** Shows each step as it is made, until none of what is watched is under way. What was done before is shown as it stands. */
export async function relayWatch(
  repository: Repository,
  { id }: { id?: string },
  onStep: OnStep,
): Promise<{ relays: RelayEntry[] }> {
  const named = id === undefined ? null : requireRelay(repository, id);
  const shown = new Map<string, number>();
  for (;;) {
    const ids = named === null ? listRelays(repository) : [named];
    const relays = ids.map((each) => showNew(repository, each, shown, onStep));
    const open = relays.filter(({ state }) => state === 'under_way');
    if (open.length === 0)
      return { relays: named === null ? relays.filter(({ state }) => state === 'failed') : relays };
    drivenFrom(repository);
    await sleep(LOOK_EVERY);
  }
}

/** Of what was over before anybody looked nothing is shown, and of the rest how it stands. */
function showNew(repository: Repository, id: string, shown: Map<string, number>, onStep: OnStep): RelayEntry {
  const before = shown.get(id);
  const entry = entryOf(repository, id);
  if (before === undefined && !isEnded(entry)) onStep(entry);
  const from = before ?? Number.POSITIVE_INFINITY;
  shown.set(id, showSteps(repository, id, from, onStep));
  return entry;
}

function isEnded({ state }: RelayEntry): boolean {
  return state === 'done' || state === 'abandoned';
}
