import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createUnsynced, guarded } from '../../disk/durable.ts';
import { readSteps, relayFolder, type State } from './chain.ts';
import type { Relay } from './relay.ts';

/** The steps of which nobody was told yet. Of two who ask, one gets each. */
export function takeUntold(state: State, id: string): Relay[] {
  const steps = readSteps(state, id);
  return steps.filter((relay, at) => isNews(steps[at - 1], relay) && take(toldFile(state, id, at)));
}

export function hasUntold(state: State, id: string): boolean {
  const steps = readSteps(state, id);
  return steps.some((relay, at) => isNews(steps[at - 1], relay) && !existsSync(toldFile(state, id, at)));
}

/** What was only learnt is no news. */
export function isNews(before: Relay | undefined, { state, step }: Relay): boolean {
  return before?.state !== state || before.step !== step;
}

function take(path: string): boolean {
  return guarded(path, () => createUnsynced(path, '\n'));
}

function toldFile(state: State, id: string, at: number): string {
  return join(relayFolder(state, id), 'told', String(at + 1));
}
