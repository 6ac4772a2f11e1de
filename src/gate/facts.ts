import type { ChangedSession } from '../audit/delta/sessions.ts';
import type { PickupRecord, StartRecord } from '../core/generated/types.ts';
import { isOfKind, type SharedFields } from '../core/record/kinds.ts';
import type { PlacedRecord } from '../core/record/record-summary.ts';
import { summarise } from '../core/record/summary.ts';
import type { Account } from '../core/writeback/account.ts';
import type { CommitSet } from './coverage/ancestry.ts';
import type { GateResult, GateReview, GateSession, GateThought, GateWaiver } from './result.ts';

/** Who did what, as the records that arrive tell it. */
export function gateFacts(
  sessions: readonly ChangedSession[],
  added: readonly PlacedRecord[],
  covers: ReadonlyMap<Account, CommitSet>,
): Pick<GateResult, 'sessions' | 'thoughts' | 'reviews' | 'waivers'> {
  const covered = new Map([...covers].map(([account, commits]) => [account.delta_id, commits.size]));
  return {
    sessions: sessions
      .filter(({ records }) => records.length > 0)
      .map(toSession)
      .sort((a, b) => (a.started_at < b.started_at ? -1 : 1)),
    thoughts: added.filter(isOfKind('thought')).map((placed) => toThought(placed, covered.get(placed.record.id) ?? 0)),
    reviews: added.filter(isOfKind('review')).map(toReview),
    waivers: added.filter(isOfKind('waiver')).map(toWaiver),
  };
}

/** The first record that counts, where its kind does not matter. */
type First = SharedFields & Partial<Pick<PickupRecord, 'predecessor_session_id'> & Pick<StartRecord, 'intent'>>;

function toSession({ folder, records }: ChangedSession): GateSession {
  const first: First = records[0]!.record.fields;
  const baton = records.find(isOfKind('baton'));
  const { session_id, identity, at, predecessor_session_id, intent, task } = first;
  const named = records.map(({ record: { fields } }) => ('task_id' in fields ? fields.task_id : undefined));
  return {
    session_id,
    identity,
    started_at: at,
    predecessor_session_id: predecessor_session_id ?? null,
    path: folder,
    records: records.length,
    state: records.at(-1)!.record.kind === 'seal' ? 'sealed' : baton ? 'wrapped' : 'open',
    intent: intent ?? null,
    tasks: [...new Set([task, ...named].filter((id) => id !== undefined))],
    summary: baton ? summarise(baton.record) : null,
  };
}

function toThought({ path, record: { id, fields } }: PlacedRecord<'thought'>, covers: number): GateThought {
  const { task_id, identity, commit_sha, summary, tests_run, evidence = [], blockers, files_changed } = fields;
  return {
    delta_id: id,
    path,
    task_id,
    identity,
    commit_sha,
    summary,
    tests_run,
    evidence: evidence.map(({ command, exit_code, duration_ms }) => ({ command, exit_code, duration_ms })),
    blockers,
    files_changed,
    covers,
  };
}

function toReview({ path, record: { id, fields } }: PlacedRecord<'review'>): GateReview {
  const { task_id, identity, verdict, checked = [], text = null } = fields;
  return { delta_id: id, path, task_id, identity, verdict, checked, text };
}

function toWaiver({ path, record: { id, fields } }: PlacedRecord<'waiver'>): GateWaiver {
  const { identity, commit_sha, reason } = fields;
  return { delta_id: id, path, identity, commit_sha, reason };
}
