import { join } from 'node:path';
import { parseJson } from '../../core/bytes/json.ts';
import { emptyHistory, type History } from '../../core/session/history.ts';
import type { IdentityKey } from '../../core/trust/key-standing.ts';
import { isRevoked } from '../../core/trust/key-standing.ts';
import type { Role, Trust } from '../../core/trust/trust.ts';
import { isOid } from '../../git/objects/asked-name.ts';
import type { Oid } from '../../git/objects/store.ts';
import { dropCached, newestCached, readCached, writeCached } from '../tree/cache.ts';

/** A history that held, of which folder it is, and what its verdict rested on besides bytes. */
export interface HistoryState {
  sessions: Oid;
  repoId: string;
  owners: Owner[];
  /** Identities with a record that does not count because its key was revoked. */
  distrusted: string[];
  history: History;
}

export interface Owner {
  name: string;
  standing: Standing;
  /** The keys its records are signed with, as `labelOf` has them. */
  fingerprints: string[];
  /** The `sid8` of every session it has, with spaces between: nine bytes each, and never parsed. */
  sids: string;
}

type Standing = Role | 'distrusted';

/** The role that an identity is judged by, or that it is distrusted; null for one that is not signed in. */
export function standingOf(name: string, { identities, distrusted }: Trust): Standing | null {
  return identities.get(name)?.role ?? (distrusted.has(name) ? 'distrusted' : null);
}

/** The labels of its keys, by fingerprint. */
export function labelsOf(name: string, { identities, distrusted }: Trust): Map<string, string> {
  const keys = (identities.get(name) ?? distrusted.get(name))?.keys ?? [];
  return new Map(keys.map((key) => [key.fingerprint, labelOf(key)]));
}

/** A key that was revoked when the history was read is the same only as long as that says the same. */
export function labelOf(key: IdentityKey): string {
  return isRevoked(key) ? `${key.fingerprint} ${key.cutoff ?? 0}` : key.fingerprint;
}

/** Every key that signed anything must still be allowed to: revocations and entitlement are judged anew. SPEC §7.4 */
export function isStillTrusted(state: HistoryState, trust: Trust): boolean {
  return state.repoId === trust.repoId && state.owners.every((owner) => isStillOwner(owner, trust));
}

function isStillOwner({ name, standing, fingerprints }: Owner, trust: Trust): boolean {
  const labels = new Set(labelsOf(name, trust).values());
  return standingOf(name, trust) === standing && fingerprints.every((label) => labels.has(label));
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
      writeCached(join(folder, state.sessions), state);
      for (const name of newestCached(folder).slice(STATES)) dropCached(join(folder, name));
    },
  };
}

/** A file that was cut off, or is none, is no state; nor is one that somebody else wrote there. */
function readState(folder: string, name: string): HistoryState | null {
  const state = parseJson<Partial<HistoryState>>(readCached(join(folder, name)));
  return isState(state) ? state : null;
}

function isState(state: Partial<HistoryState> | null): state is HistoryState {
  const isWhole = Array.isArray(state?.owners) && Array.isArray(state.distrusted);
  return isWhole && Object.keys(emptyHistory()).every((key) => Object.hasOwn(state.history ?? {}, key));
}
