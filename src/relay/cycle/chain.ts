import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { HandoffError } from '../../core/error.ts';
import { isSessionId } from '../../core/names.ts';
import { createFile, createUnsynced, guarded, replaceFile } from '../../disk/durable.ts';
import { ifThere } from '../../disk/if-there.ts';
import { readStateText } from '../../disk/state-file.ts';
import type { StateDirectory } from '../../repository/parts.ts';
import type { Relay } from './relay.ts';
import { STEPS } from './steps.ts';

// A relay is a chain of numbered files, each made by `link`: the highest is where it stands, and whoever linked it has made that
// step. Nothing of it is in any process alone.

export type State = Pick<StateDirectory, 'stateDir'>;

/** A relay, and the number of the file that says so. */
export interface Numbered {
  number: number;
  relay: Relay;
}

export function relaysFolder({ stateDir }: State): string {
  return join(stateDir, 'relays');
}

/** Has a mark of each relay that is not over: a shell can see whether there is any, and whoever waits watches it. */
export function openFolder(state: State): string {
  return join(relaysFolder(state), 'open');
}

export function relayFolder(state: State, id: string): string {
  if (!isRelayId(id)) throw new Error(`${JSON.stringify(id)} is no id of a relay.`);
  return join(relaysFolder(state), id);
}

/** It names a folder, and stands in commands that are printed. */
function isRelayId(id: string): boolean {
  const [session = '', number = '', ...more] = id.split('.');
  return isSessionId(session) && /^[1-9][0-9]{0,5}$/.test(number) && more.length === 0;
}

/** False where somebody else made this step, or another one from the same place. Then nothing changed. */
export function linkStep(state: State, number: number, relay: Relay): boolean {
  const path = stepFile(state, relay.relay_id, number);
  mark(state, relay); // before: whoever is killed in between leaves a mark too many, and none too few
  if (!guarded(path, () => createFile(path, `${JSON.stringify(relay)}\n`))) return false;
  ring(state, relay);
  return true;
}

function mark(state: State, { relay_id, state: stands }: Pick<Relay, 'relay_id' | 'state'>): void {
  const path = join(openFolder(state), relay_id);
  guarded(path, () => replaceFile(path, `${stands}\n`));
}

/** Tells whoever waits that something has happened to this relay. Of one that is over and told of, nobody waits. */
export function ring(state: State, { relay_id }: Pick<Relay, 'relay_id'>): void {
  const path = join(openFolder(state), relay_id);
  const now = Date.now() / 1000;
  guarded(path, () => ifThere(() => utimesSync(path, now, now)));
}

/** It is over, and everybody was told. */
export function unmark(state: State, { relay_id }: Pick<Relay, 'relay_id'>): void {
  const path = join(openFolder(state), relay_id);
  guarded(path, () => rmSync(path, { force: true }));
}

/** Those that are not over, or of whose end somebody is still to be told. */
export function markedRelays(state: State): string[] {
  return (ifThere(() => readdirSync(openFolder(state))) ?? []).filter(isRelayId).sort();
}

export function listRelays(state: State): string[] {
  return (ifThere(() => readdirSync(relaysFolder(state))) ?? []).filter(isRelayId).sort();
}

/** Where it stands; null where there is no such relay. */
export function readRelay(state: State, id: string): Numbered | null {
  const number = stepNumbers(state, id).at(-1);
  return number === undefined ? null : { number, relay: readStep(state, id, number) };
}

/** All its steps, the first one first. */
export function readSteps(state: State, id: string): Relay[] {
  return stepNumbers(state, id).map((number) => readStep(state, id, number));
}

/** The relays of a session, the first one first. */
export function relaysOf(state: State, session: string): string[] {
  const own = listRelays(state).filter((id) => id.startsWith(`${session}.`));
  return own.sort((a, b) => numberOf(a) - numberOf(b));
}

export function numberOf(id: string): number {
  return Number(id.slice(id.indexOf('.') + 1));
}

function stepNumbers(state: State, id: string): number[] {
  const names = ifThere(() => readdirSync(relayFolder(state, id))) ?? [];
  const numbers = names.flatMap((name) => (/^[0-9]{4,}\.json$/.test(name) ? [Number(name.slice(0, -5))] : []));
  return numbers.sort((a, b) => a - b);
}

function readStep(state: State, id: string, number: number): Relay {
  const path = stepFile(state, id, number);
  const relay = parseJson<Relay>(readStateText(path) ?? '');
  if (relay && isRelay(relay, id)) return relay;
  throw new HandoffError('io', `${path} cannot be read: it is not what git-handoff wrote.`, {
    hint: 'Look at it, and move the folder of that relay away. The session and its records are not touched by that.',
    data: { path },
  });
}

/** What of it becomes paths, commands or steps. */
function isRelay(found: Partial<Relay>, id: string): boolean {
  const { relay_id, session_id, identity, directory, draft_path, step, predecessor } = found;
  const texts = [identity, directory, draft_path].every((text) => typeof text === 'string');
  const isOwn = relay_id === id && typeof session_id === 'string' && id.startsWith(`${session_id}.`);
  return isOwn && texts && STEPS.some((each) => each === step) && typeof predecessor === 'object';
}

function stepFile(state: State, id: string, number: number): string {
  return join(relayFolder(state, id), `${String(number).padStart(4, '0')}.json`);
}

/** That a program has told of one of our texts. It is kept whatever state the relay is in: whoever tries again looks here first. */
export interface Seen {
  runtime_session: string | null;
  at: string;
}

export function keepSeen(state: State, id: string, token: string, seen: Seen): void {
  const path = seenFile(state, id, token);
  guarded(path, () => createUnsynced(path, `${JSON.stringify(seen)}\n`));
}

export function readSeen(state: State, id: string, token: string): Seen | null {
  return parseJson<Seen>(readStateText(seenFile(state, id, token)) ?? '') || null;
}

function seenFile(state: State, id: string, token: string): string {
  return join(relayFolder(state, id), 'seen', token.replace(/[^0-9a-z]/g, ''));
}
