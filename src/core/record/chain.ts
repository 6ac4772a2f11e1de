import { HandoffError } from '../error.ts';
import type { SignedHead } from './front-matter.ts';
import { type DocumentKind, isRecordKind, type RecordKind } from './kinds.ts';
import type { ParsedRecord } from './record.ts';

/** The place a record was found at, which must say the same as the record itself. */
export interface RecordPlace {
  identity: string;
  sid8: string;
  seq: number;
  kind: RecordKind;
}

/** What a chain is checked by; small, so that a hundred thousand of them fit in memory. */
export interface Link {
  seq: number;
  kind: RecordKind;
  id: string;
  prev: string | null;
  clock: number;
  at: string;
  sessionId: string;
  inheritedFrom: string | null;
  /** For a pickup: the session it continues. */
  predecessor: string | null;
  lock: { task: string; token: number } | null;
  fingerprint: string;
}

export interface ChainFault {
  code: 'chain_broken' | 'stale_token';
  seq: number;
  /** The id of the record, because two records may have the same number. */
  id: string;
  expected: string;
  found: string;
}

/** SPEC §6.2: path, kind, identity, session and number agree; the record was written for this repository. */
export function assertRecordPlace(
  record: SignedHead | ParsedRecord<DocumentKind>,
  place: RecordPlace,
  repoId: string,
): asserts record is SignedHead {
  if (record.kind !== place.kind || !isSignedHead(record))
    throw mismatch('path_mismatch', 'kind', place.kind, record.kind);
  const { identity, session_id, seq, repo } = record.fields;
  const sid8 = session_id.slice(0, 8);
  if (identity !== place.identity) throw mismatch('path_mismatch', 'identity', place.identity, identity);
  if (sid8 !== place.sid8) throw mismatch('path_mismatch', 'session_id', place.sid8, sid8);
  if (seq !== place.seq) throw mismatch('path_mismatch', 'seq', place.seq, seq);
  if (repo !== repoId) throw mismatch('repo_mismatch', 'repo', repoId, repo);
}

/** A document in the place of a record has none of a record's keys. */
function isSignedHead(record: SignedHead | ParsedRecord<DocumentKind>): record is SignedHead {
  return isRecordKind(record.kind);
}

export function toLink({ kind, fields }: Pick<SignedHead, 'kind' | 'fields'>, id: string, fingerprint: string): Link {
  return {
    seq: fields.seq,
    kind,
    id,
    prev: fields.prev,
    clock: fields.clock,
    at: fields.at,
    sessionId: fields.session_id,
    inheritedFrom: fields.inherited_from ?? null,
    predecessor: fields.predecessor_session_id ?? null,
    lock: fields.lock ?? null,
    fingerprint,
  };
}

/**
 * SPEC §6.4. `links` are the good records of one session by number; a missing number is a fault unless `damaged` says
 * that a bad file stands there, which has its own finding.
 */
export function chainFaults(links: readonly Link[], damaged: ReadonlySet<number>): ChainFault[] {
  const faults: ChainFault[] = [];
  const session = {
    opening: links[0]!,
    end: links.find((link) => link.kind === 'baton')?.seq ?? Number.POSITIVE_INFINITY,
    tokens: new Map<string, number>(),
  };
  let before: Link | null = null;
  for (const link of links) {
    const follows: boolean = link.seq === (before?.seq ?? 0) + 1;
    if (follows) checkLink(link, before, session, faults);
    else {
      highestToken(link, session.tokens);
      if (link.seq === before?.seq) faults.push(fault(link, `one record ${link.seq}`, 'two'));
      else if (!damaged.has(link.seq - 1)) faults.push(fault(link, `record ${link.seq - 1} before it`, 'none'));
    }
    before = link;
  }
  return faults;
}

interface Whole {
  opening: Link;
  /** The number of the baton, if there is one. */
  end: number;
  /** The highest token seen so far, by task. */
  tokens: Map<string, number>;
}

/** Written out: it runs for every record there is, and words are only made for what is wrong. */
function checkLink(link: Link, before: Link | null, { opening, end, tokens }: Whole, faults: ChainFault[]): void {
  const { seq, kind, prev, clock, sessionId, inheritedFrom, lock } = link;
  const opens = kind === 'start' || kind === 'pickup';
  if (prev !== (before?.id ?? null)) faults.push(fault(link, `prev ${before?.id ?? null}`, `${prev}`));
  if (opens !== (seq === 1)) faults.push(fault(link, 'start or pickup first and only first', `${kind} at ${seq}`));
  if (clock <= (before?.clock ?? 0)) faults.push(fault(link, `a clock above ${before?.clock ?? 0}`, `${clock}`));
  if (sessionId !== opening.sessionId) faults.push(fault(link, `session ${opening.sessionId}`, sessionId));
  if (seq > end && kind !== 'seal') faults.push(fault(link, 'nothing but a seal after the baton', kind));
  if (opening.seq === 1 && inheritedFrom !== opening.predecessor) {
    faults.push(fault(link, `inherited_from ${opening.predecessor}`, `${inheritedFrom}`));
  }
  const token = highestToken(link, tokens);
  if (lock && lock.token < token)
    faults.push(fault(link, `a token of at least ${token}`, `${lock.token}`, 'stale_token'));
}

function fault(
  { seq, id }: Link,
  expected: string,
  found: string,
  code: ChainFault['code'] = 'chain_broken',
): ChainFault {
  return { code, seq, id, expected, found };
}

/** SPEC §6.5: within a session the token of a task's lock never goes down, whatever was recorded in between. Keeps that of the link. */
function highestToken({ lock }: Link, tokens: Map<string, number>): number {
  if (!lock) return 0;
  const token = tokens.get(lock.task) ?? 0;
  tokens.set(lock.task, Math.max(token, lock.token));
  return token;
}

function mismatch(
  code: 'path_mismatch' | 'repo_mismatch',
  key: string,
  expected: unknown,
  found: unknown,
): HandoffError {
  const hint =
    code === 'repo_mismatch'
      ? 'The record was written for another repository; it proves nothing here.'
      : 'A record is valid only at its own path; move it back or remove it.';
  return new HandoffError(code, `${key}: expected ${expected}, found ${found}`, {
    hint,
    data: { expected: String(expected), found: String(found) },
  });
}
