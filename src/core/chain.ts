import { HandoffError } from './error.ts';
import type { RecordKind } from './kinds.ts';
import type { ParsedRecord } from './record.ts';

/** The place a record was found at, which must say the same as the record itself. */
export interface Place {
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
  expected: string;
  found: string;
}

/** SPEC §6.2: path, kind, identity, session and number agree; the record was written for this repository. */
export function assertPlace(record: ParsedRecord, place: Place, repoId: string): void {
  const { fields } = record;
  const pairs: [string, unknown, unknown][] = [
    ['kind', place.kind, record.kind],
    ['identity', place.identity, fields.identity],
    ['session_id', place.sid8, (fields.session_id as string).slice(0, 8)],
    ['seq', place.seq, fields.seq],
  ];
  for (const [key, expected, found] of pairs)
    if (expected !== found) throw mismatch('path_mismatch', key, expected, found);
  if (fields.repo !== repoId) throw mismatch('repo_mismatch', 'repo', repoId, fields.repo);
}

export function toLink(record: ParsedRecord, id: string, fingerprint: string): Link {
  const { fields } = record;
  return {
    seq: fields.seq as number,
    kind: record.kind as RecordKind,
    id,
    prev: fields.prev as string | null,
    clock: fields.clock as number,
    at: fields.at as string,
    sessionId: fields.session_id as string,
    inheritedFrom: (fields.inherited_from as string | undefined) ?? null,
    predecessor: (fields.predecessor_session_id as string | undefined) ?? null,
    lock: (fields.lock as unknown as Link['lock'] | undefined) ?? null,
    fingerprint,
  };
}

/**
 * SPEC §6.4. `links` are the good records of one session by number; a missing number is a fault unless `damaged` says
 * that a bad file stands there, which has its own finding.
 */
export function chainFaults(links: readonly Link[], damaged: ReadonlySet<number>): ChainFault[] {
  const faults: ChainFault[] = [];
  const bySeq = new Map(links.map((link) => [link.seq, link]));
  const opening = bySeq.get(1) ?? links[0]!;
  const end = links.find((link) => link.kind === 'baton')?.seq ?? Number.POSITIVE_INFINITY;
  for (const link of links) {
    const before = bySeq.get(link.seq - 1) ?? null;
    if (link.seq > 1 && !before && damaged.has(link.seq - 1)) continue;
    for (const [ok, expected, found, code] of rules(link, before, opening, end)) {
      if (!ok) faults.push({ code: code ?? 'chain_broken', seq: link.seq, expected, found });
    }
  }
  return faults;
}

type Rule = [ok: boolean, expected: string, found: string, code?: ChainFault['code']];

function rules(link: Link, before: Link | null, opening: Link, end: number): Rule[] {
  const opens = link.kind === 'start' || link.kind === 'pickup';
  if (link.seq > 1 && !before) return [[false, `record ${link.seq - 1} before it`, 'none']];
  return [
    [link.prev === (before?.id ?? null), `prev ${before?.id ?? null}`, `${link.prev}`],
    [opens === (link.seq === 1), 'start or pickup first and only first', `${link.kind} at ${link.seq}`],
    [link.clock > (before?.clock ?? 0), `a clock above ${before?.clock ?? 0}`, `${link.clock}`],
    [link.sessionId === opening.sessionId, `session ${opening.sessionId}`, link.sessionId],
    [link.seq <= end || link.kind === 'seal', 'nothing but a seal after the baton', link.kind],
    [link.inheritedFrom === opening.predecessor, `inherited_from ${opening.predecessor}`, `${link.inheritedFrom}`],
    [!isStale(link, before), `a token of at least ${before?.lock?.token}`, `${link.lock?.token}`, 'stale_token'],
  ];
}

/** SPEC §6.5: within a session the token of a task's lock never goes down. */
function isStale(link: Link, before: Link | null): boolean {
  if (!link.lock || !before?.lock || link.lock.task !== before.lock.task) return false;
  return link.lock.token < before.lock.token;
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
