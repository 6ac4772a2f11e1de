import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Draft, type Place, type SessionOptions, type Written, writeBytes } from '../handoff.ts';
import { type Step, seal, writeSealed } from '../sealing.ts';
import { git } from '../temporary.ts';

export const CHECKPOINT = '.handoff/ledger/checkpoint';

const START: Draft = { kind: 'start', intent: 'to be sealed' };

/** A session with a seal over it, written and not staged. The seal is the last of its records. */
export function sealedSession(place: Place, options: SessionOptions = {}, steps: Step[] = [START, seal()]): Written[] {
  return writeSealed(place, steps, { sessionId: randomUUID(), ...options });
}

/** So many of them, committed. Returns the seals by id. */
export function commitSealed(place: Place, count = 1, options: SessionOptions = {}): Written[] {
  const seals = Array.from({ length: count }, () => sealedSession(place, options).at(-1)!);
  commitHandoff(place);
  return byId(seals);
}

export function commitHandoff({ dir }: Place, message = 'records'): string {
  git(dir, 'add', '--all', '--', '.handoff');
  git(dir, 'commit', '--quiet', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

function byId(seals: readonly Written[]): Written[] {
  return [...seals].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The entries of the ledger as its bundles have them, by c2sp.org/tlog-tiles. */
export function entriesOf({ dir }: Place): string[] {
  return filesIn(dir, '.handoff/ledger/tile/entries').flatMap((path) => splitEntries(readFileSync(join(dir, path))));
}

function splitEntries(bundle: Buffer): string[] {
  const entries: string[] = [];
  for (let at = 0; at < bundle.length; ) {
    const end = at + 2 + bundle.readUInt16BE(at);
    entries.push(bundle.subarray(at + 2, end).toString('utf8'));
    at = end;
  }
  return entries;
}

/** Every file of the ledger in the work tree, in order. */
export function ledgerFiles({ dir }: Place): string[] {
  return filesIn(dir, '.handoff/ledger').map((path) => path.slice('.handoff/ledger/'.length));
}

function filesIn(dir: string, folder: string): string[] {
  const entries = readdirSync(join(dir, folder), { withFileTypes: true });
  return entries
    .flatMap((entry) => (entry.isDirectory() ? filesIn(dir, `${folder}/${entry.name}`) : [`${folder}/${entry.name}`]))
    .sort();
}

export interface CheckpointParts {
  origin: string;
  size: number;
  root: string;
  /** Of a note: up to and including the last LF before the blank line. */
  text: string;
  signatures: string;
}

export function checkpointOf({ dir }: Place): CheckpointParts {
  const whole = readFileSync(join(dir, CHECKPOINT), 'utf8');
  const end = whole.lastIndexOf('\n\n') + 1;
  const text = whole.slice(0, end);
  const [origin = '', size, root = ''] = text.split('\n');
  return {
    origin,
    size: Number(size),
    root: Buffer.from(root, 'base64').toString('hex'),
    text,
    signatures: whole.slice(end + 1),
  };
}

export function writeCheckpoint({ dir }: Place, text: string, ...signatures: string[]): void {
  writeBytes(dir, CHECKPOINT, `${text}\n${signatures.join('')}`);
}
