import type { ChangedSession } from '../audit/delta/sessions.ts';
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
  const of = (kind: string): PlacedRecord[] => added.filter(({ record }) => record.kind === kind);
  const covered = new Map([...covers].map(([account, commits]) => [account.delta_id, commits.size]));
  return {
    sessions: sessions
      .filter(({ records }) => records.length > 0)
      .map(toSession)
      .sort((a, b) => (a.started_at < b.started_at ? -1 : 1)),
    thoughts: of('thought').map((placed) => toThought(placed, covered.get(placed.record.id) ?? 0)),
    reviews: of('review').map(toReview),
    waivers: of('waiver').map(toWaiver),
  };
}

type Opening = Record<'session_id' | 'identity' | 'at', string> &
  Partial<Record<'predecessor_session_id' | 'intent' | 'task', string>>;

function toSession({ folder, records }: ChangedSession): GateSession {
  const opening = records[0]!.record;
  const baton = records.find(({ record }) => record.kind === 'baton');
  const { session_id, identity, at, predecessor_session_id, intent, task } = opening.fields as Opening;
  const named = records.map(({ record }) => record.fields.task_id as string | undefined);
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

function toThought({ path, record: { id, fields } }: PlacedRecord, covers: number): GateThought {
  const thought = fields as unknown as Omit<GateThought, 'evidence'> & Partial<Pick<GateThought, 'evidence'>>;
  const { task_id, identity, commit_sha, summary, tests_run, evidence = [], blockers, files_changed } = thought;
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

type Verdict = Pick<GateReview, 'task_id' | 'identity' | 'verdict'>;

function toReview({ path, record: { id, fields } }: PlacedRecord): GateReview {
  const { task_id, identity, verdict, checked, text } = fields as unknown as Partial<GateReview> & Verdict;
  return { delta_id: id, path, task_id, identity, verdict, checked: checked ?? [], text: text ?? null };
}

function toWaiver({ path, record: { id, fields } }: PlacedRecord): GateWaiver {
  const { identity, commit_sha, reason } = fields as unknown as GateWaiver;
  return { delta_id: id, path, identity, commit_sha, reason };
}
