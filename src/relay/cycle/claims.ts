import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { createFile, guarded } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { TimeAndHost } from '../../repository/parts.ts';
import { isRunning, markProcess, type ProcessMark } from '../processes.ts';
import { type Numbered, relayFolder, type State } from './chain.ts';

/** Whoever is about to do what a step needs says so first, in a file that only one can make. */
interface Claim {
  by: ProcessMark;
  /** What it is about to do, where there is more than one way. */
  how: string;
  at: string;
}

/** `first`: nobody has begun. `again`: who had begun is gone, and nobody knows how far it came. Null: somebody else is at it. */
export type Turn = 'first' | 'again' | null;

/** Two drivers, a hook and a retry at once: one of them gets the turn. */
export function claimStep(place: State & TimeAndHost, { number, relay }: Numbered, how: string): Turn {
  const { host } = place;
  const claims = claimsOf(place, relay.relay_id, number);
  const last = claims.at(-1);
  const holder = last === undefined ? null : readClaim(place, relay.relay_id, number, last);
  if (holder && isRunning(host, holder.by)) return null;
  const mine = (last ?? 0) + 1;
  const by = markProcess(host, host.pid);
  const path = claimFile(place, relay.relay_id, number, mine);
  const claim = { by: by ?? NOBODY, how, at: place.now().toISOString() } satisfies Claim;
  if (!guarded(path, () => createFile(path, `${JSON.stringify(claim)}\n`))) return null;
  return last === undefined ? 'first' : 'again';
}

/** What somebody has begun at this number; null where nobody has. */
export function begunStep(state: State, { number, relay }: Numbered): Pick<Claim, 'how' | 'at'> | null {
  const first = claimsOf(state, relay.relay_id, number)[0];
  return first === undefined ? null : readClaim(state, relay.relay_id, number, first);
}

/** Where the system cannot tell about its own process, nobody holds the claim for longer than it takes to look. */
const NOBODY: ProcessMark = { pid: 0, space: '', started: '' };

function claimsOf(state: State, id: string, number: number): number[] {
  const names = ifThere(() => readdirSync(join(relayFolder(state, id), 'claims'))) ?? [];
  const own = names.flatMap((name) => {
    const [step, claim, ...more] = name.split('.').map(Number);
    return step === number && claim !== undefined && claim > 0 && more.length === 0 ? [claim] : [];
  });
  return own.sort((a, b) => a - b);
}

function readClaim(state: State, id: string, number: number, claim: number): Claim | null {
  const found = parseJson<Claim>(readStateText(claimFile(state, id, number, claim)) ?? '');
  return found && typeof found.by === 'object' ? found : null;
}

function claimFile(state: State, id: string, number: number, claim: number): string {
  return join(relayFolder(state, id), 'claims', `${number}.${claim}`);
}
