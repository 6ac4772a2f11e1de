import type { Finding } from '../../../core/error.ts';
import type { GateResult, GateReview, GateSession, GateThought, GateWaiver } from '../../../gate/result.ts';
import type { Paint } from '../../terminal.ts';
import { clip, headedTable, lines, paragraph, roomFor, shortId } from '../../text/layout.ts';
import { bySeverity, claimedOnly, placeOf, reasonOf, shortSession, verdictLine } from './gate-formats/facts.ts';

const WIDTH = 80;

/** The verdict, what speaks against it, and for the reviewer who did what. */
export function formatGate(result: GateResult, paint: Paint): string {
  const { errors, warnings } = bySeverity(result);
  return lines(
    formatVerdict(result, paint),
    findings('Problems', errors, paint),
    findings('Warnings', warnings, paint),
    sessionTable(result.sessions, paint),
    thoughtTable(result.thoughts, paint),
    reviewTable(result.reviews, paint),
    waiverTable(result.waivers, paint),
  );
}

function formatVerdict(result: GateResult, paint: Paint): string {
  const { pass, policy_version, root } = result;
  const trusted = root === null ? '' : paint('dim', `\n  policy ${policy_version}, root ${shortId(root)}`);
  const [word = '', ...rest] = verdictLine(result).split(':');
  return `${paint(pass ? 'green' : 'red', `${pass ? '✓' : '✗'} ${word}`)}:${rest.join(':')}${trusted}`;
}

function findings(title: string, all: readonly Finding[], paint: Paint): string[] {
  return all.length === 0 ? [] : ['', paint('bold', title), ...all.flatMap((finding) => formatFinding(finding, paint))];
}

function formatFinding(finding: Finding, paint: Paint): string[] {
  const { severity, code, hint } = finding;
  return [
    `  ${paint(severity === 'error' ? 'red' : 'yellow', code)}  ${paint('bold', placeOf(finding) ?? '')}`.trimEnd(),
    ...paragraph(reasonOf(finding), WIDTH, '    '),
    ...paragraph(hint, WIDTH, '    → ', '      ').map((line) => paint('cyan', line)),
  ];
}

function sessionTable(sessions: readonly GateSession[], paint: Paint): string[] {
  const rows = sessions.map(({ session_id, identity, state, predecessor_session_id: before, ...session }) => [
    shortSession(session_id),
    identity,
    state,
    String(session.records),
    before === null ? '-' : shortSession(before),
    session.summary ?? session.intent ?? '-',
  ]);
  return table('Sessions', ['SESSION', 'IDENTITY', 'STATE', 'RECORDS', 'CONTINUES', 'SUMMARY'], rows, paint);
}

function thoughtTable(thoughts: readonly GateThought[], paint: Paint): string[] {
  const rows = thoughts.map((thought) => [
    thought.task_id,
    thought.identity,
    thought.commit_sha.slice(0, 12),
    String(thought.covers),
    ran(thought),
    thought.summary,
  ]);
  return table('Thoughts', ['TASK', 'IDENTITY', 'COMMIT', 'COVERS', 'TESTS', 'SUMMARY'], rows, paint);
}

/** `1/2 ok, 3 claimed`: of two that ran one succeeded. */
function ran(thought: GateThought): string {
  const { evidence } = thought;
  const claimed = claimedOnly(thought).length;
  const ok = evidence.filter(({ exit_code }) => exit_code === 0).length;
  const parts = [];
  if (evidence.length > 0) parts.push(`${ok}/${evidence.length} ok`);
  if (claimed > 0) parts.push(`${claimed} claimed`);
  return parts.join(', ') || '-';
}

function reviewTable(reviews: readonly GateReview[], paint: Paint): string[] {
  const rows = reviews.map(({ task_id, identity, verdict, text, checked }) => [
    task_id,
    identity,
    verdict,
    text ?? (checked.join(', ') || '-'),
  ]);
  return table('Reviews', ['TASK', 'IDENTITY', 'VERDICT', 'TEXT'], rows, paint);
}

function waiverTable(waivers: readonly GateWaiver[], paint: Paint): string[] {
  const rows = waivers.map(({ commit_sha, identity, reason }) => [commit_sha.slice(0, 12), identity, reason]);
  return table('Waivers', ['COMMIT', 'IDENTITY', 'REASON'], rows, paint);
}

/** The last column gets what is left of the line. */
function table(title: string, heads: string[], rows: readonly string[][], paint: Paint): string[] {
  if (rows.length === 0) return [];
  const room = roomFor(heads.length - 1, [heads, ...rows], paint.columns ?? WIDTH);
  const cut = rows.map((row) => row.with(-1, clip(row.at(-1)!, room)));
  return ['', paint('bold', title), ...headedTable(heads, cut, paint)];
}
