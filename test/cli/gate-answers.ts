import type { Finding } from '../../src/core/error.ts';
import type { GateResult } from '../../src/gate/result.ts';

/** An answer in which every text that others write, or could, is the same. */
export function answerOf(text: string, findings: Finding[] = [findingOf(text)]): GateResult {
  return {
    pass: !findings.some(({ severity }) => severity === 'error'),
    base: 'b'.repeat(40),
    head: 'a'.repeat(40),
    commits: 3,
    records: 12,
    root: 'f'.repeat(64),
    policy_version: 4,
    advisory: false,
    findings,
    sessions: [
      sessionOf('11111111-51cf-4c61-9a39-2b7fd2f9a1de', null, text),
      sessionOf('22222222-51cf-4c61-9a39-2b7fd2f9a1de', '11111111-51cf-4c61-9a39-2b7fd2f9a1de', text),
    ],
    thoughts: [
      {
        delta_id: `sha256:${'1'.repeat(64)}`,
        path: text,
        task_id: text,
        identity: text,
        commit_sha: 'c'.repeat(40),
        summary: text,
        tests_run: [text, 'npm test'],
        evidence: [
          { command: ['npm', 'test'], exit_code: 0, duration_ms: 12345 },
          { command: [text, 'x'], exit_code: 1, duration_ms: 12 },
        ],
        blockers: [{ [text]: text }],
        files_changed: [text],
        covers: 2,
      },
    ],
    reviews: [
      {
        delta_id: `sha256:${'2'.repeat(64)}`,
        path: text,
        task_id: text,
        identity: text,
        verdict: 'approve',
        checked: [text],
        text,
      },
    ],
    waivers: [
      { delta_id: `sha256:${'3'.repeat(64)}`, path: text, identity: text, commit_sha: 'd'.repeat(40), reason: text },
    ],
  };
}

export function findingOf(text: string, severity: Finding['severity'] = 'error'): Finding {
  return { code: 'writeback_missing', severity, path: text, line: 7, message: text, hint: text };
}

export function sessionOf(id: string, before: string | null, text: string): GateResult['sessions'][number] {
  return {
    session_id: id,
    identity: text,
    started_at: '2026-02-20T14:30:25.123Z',
    predecessor_session_id: before,
    path: text,
    records: 5,
    state: 'wrapped',
    intent: text,
    tasks: [text],
    summary: text,
  };
}
