import type { History } from '../core/history.ts';
import type { Role, Trust } from '../core/trust.ts';
import type { Oid } from '../git/store.ts';
import { readCached, writeCached } from './cache.ts';
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
  /** The keys its records are signed with. */
  fingerprints: string[];
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
  return (
    identity?.role === role &&
    fingerprints.every((print) => identity.keys.some((key) => key.fingerprint === print && key.state !== 'revoked'))
  );
}

export interface HistoryCache {
  get(sessions: Oid): HistoryState | null;
  /** The newest first. */
  all(): Iterable<HistoryState>;
  save(state: HistoryState): void;
}

/** A branch or two, and where they were before. */
const STATES = 4;

/** One state a line, after the oid that names it: whoever looks for one parses no other. */
export function openHistoryCache(path: string | null): HistoryCache {
  const lines = path ? readCached(path).split('\n') : [];
  return {
    get: (sessions) => parse(lines.find((line) => line.startsWith(`${sessions} `)) ?? ''),
    *all() {
      for (const line of lines) {
        const state = parse(line);
        if (state) yield state;
      }
    },
    save(state) {
      const others = lines.filter((line) => line !== '' && !line.startsWith(`${state.sessions} `));
      const kept = [`${state.sessions} ${JSON.stringify(state)}`, ...others].slice(0, STATES);
      if (path) writeCached(path, `${kept.join('\n')}\n`);
    },
  };
}

/** A line that was cut off, or is none, is no state. */
function parse(line: string): HistoryState | null {
  try {
    return JSON.parse(line.slice(line.indexOf(' ') + 1));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
