import { join } from 'node:path';
import type { History } from '../core/history.ts';
import { parseJson } from '../core/json.ts';
import type { IdentityKey, Role, Trust } from '../core/trust.ts';
import { isOid, type Oid } from '../git/store.ts';
import { dropCached, newestCached, readCached, writeCached } from './cache.ts';
import { maxBytes } from './session.ts';

/** A history that held, of which folder it is, and what its verdict rested on besides bytes. */
export interface HistoryState {
  sessions: Oid;
  repoId: string;
  recordBytes: number;
  owners: Owner[];
  /** The `sid8` of every session there is, with spaces between: nine bytes each, and never parsed. */
  sids: string;
  history: History;
}

export interface Owner {
  name: string;
  role: Role;
  /** The keys its records are signed with, as `labelOf` has them. */
  fingerprints: string[];
}

/** A key that was revoked when the history was read is the same only as long as that says the same. */
export function labelOf({ fingerprint, state, cutoff = 0 }: IdentityKey): string {
  return state === 'revoked' ? `${fingerprint} ${cutoff}` : fingerprint;
}

/** Every key that signed anything must still be allowed to: revocations and entitlement are judged anew. SPEC §7.4 */
export function isStillTrusted(state: HistoryState, trust: Trust): boolean {
  return (
    state.repoId === trust.repoId &&
    state.recordBytes <= maxBytes(trust) &&
    state.owners.every((owner) => isStillOwner(owner, trust))
  );
}

function isStillOwner({ name, role, fingerprints }: Owner, trust: Trust): boolean {
  const identity = trust.identities.get(name);
  return identity?.role === role && fingerprints.every((label) => identity.keys.some((key) => labelOf(key) === label));
}

export interface HistoryCache {
  get(sessions: Oid): HistoryState | null;
  /** The newest first. */
  all(): Iterable<HistoryState>;
  save(state: HistoryState): void;
}

/** A branch or two, and where they were before. */
const STATES = 4;

/** A file for each state, named after the folder it is of: whoever looks for one reads no other. */
export function openHistoryCache(folder: string | null): HistoryCache {
  if (folder === null) return { get: () => null, all: () => [], save: () => {} };
  return {
    get: (sessions) => readState(folder, sessions),
    *all() {
      for (const name of newestCached(folder).filter(isOid)) {
        const state = readState(folder, name);
        if (state) yield state;
      }
    },
    save(state) {
      writeCached(join(folder, state.sessions), JSON.stringify(state));
      for (const name of newestCached(folder).slice(STATES)) dropCached(join(folder, name));
    },
  };
}

/** A file that was cut off, or is none, is no state. */
function readState(folder: string, name: string): HistoryState | null {
  return parseJson(readCached(join(folder, name)));
}
