import { type Finding, hasErrors } from '../core/error.ts';
import type { Trust } from '../core/trust/trust.ts';
import { isAdvisory } from './advisory.ts';

/** The answer of `gate`: its findings say why a change is refused; the rest tells a reviewer who did what, and what ran. */
export interface GateResult {
  pass: boolean;
  /** Full commit ids; base is null where there was nothing before. */
  base: string | null;
  head: string;
  /** How many commits head brings. */
  commits: number;
  /** How many records and documents were added or changed. */
  records: number;
  root: string | null;
  policy_version: number | null;
  /** Whether that policy only advises: what a writeback lacks is a warning then. */
  advisory: boolean;
  findings: Finding[];
  /** In the order they began. Only what this change brings, and only what holds. */
  sessions: GateSession[];
  thoughts: GateThought[];
  reviews: GateReview[];
  waivers: GateWaiver[];
}

export interface GateSession {
  session_id: string;
  identity: string;
  started_at: string;
  predecessor_session_id: string | null;
  /** The path of its folder. */
  path: string;
  records: number;
  state: 'open' | 'wrapped' | 'sealed';
  intent: string | null;
  /** The tasks that its records name. */
  tasks: string[];
  /** The first line of its baton. */
  summary: string | null;
}

export interface GateThought {
  delta_id: string;
  path: string;
  task_id: string;
  identity: string;
  commit_sha: string;
  summary: string;
  tests_run: string[];
  evidence: { command: string[]; exit_code: number; duration_ms: number }[];
  blockers: Record<string, string>[];
  files_changed: string[];
  /** How many commits of the change it covers. */
  covers: number;
}

export interface GateReview {
  delta_id: string;
  path: string;
  task_id: string;
  identity: string;
  verdict: 'approve' | 'reject';
  checked: string[];
  text: string | null;
}

export interface GateWaiver {
  delta_id: string;
  path: string;
  identity: string;
  commit_sha: string;
  reason: string;
}

/** A verdict that tells of no sessions. */
export function answer(
  { base, head }: Pick<GateResult, 'base' | 'head'>,
  commits: number,
  trust: Trust | null,
  findings: Finding[],
): GateResult {
  return {
    pass: !hasErrors(findings),
    base,
    head,
    commits,
    records: 0,
    root: trust?.repoId ?? null,
    policy_version: trust?.policy.version ?? null,
    advisory: trust !== null && isAdvisory(trust),
    findings,
    sessions: [],
    thoughts: [],
    reviews: [],
    waivers: [],
  };
}
