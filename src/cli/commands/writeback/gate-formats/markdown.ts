import type { Finding } from '../../../../core/error.ts';
import { listSome } from '../../../../core/text/list-some.ts';
import type { GateResult, GateReview, GateSession, GateThought, GateWaiver } from '../../../../gate/result.ts';
import { count, lines } from '../../../text/layout.ts';
import {
  ADVICE,
  bySeverity,
  claimedOnly,
  duration,
  placeOf,
  problemsAndWarnings,
  reasonOf,
  shortSession,
  size,
  verdict,
} from './facts.ts';
import { quoted } from './markdown-text.ts';
import { custodyDiagram } from './mermaid.ts';

/** By this line the comment is found again, and updated. */
const MARKER = '<!-- git-handoff gate -->';
/** A comment takes 65,536 characters; what is cut is cut at a whole entry, and counted. */
const MOST = 60_000;
/** How many items the lists inside one entry show. */
const LISTED = 8;
const SHORT = 120;
/** How long reasons and remedies may be: the command to run comes last. */
const LONG = 800;

type Section = (result: GateResult, room: number) => string;

/** What each may take of the room that is left, so that none leaves nothing for the next. */
const SECTIONS: readonly [Section, number][] = [
  [sessions, 1 / 4],
  [thoughts, 1 / 2],
  [reviews, 1 / 2],
  [waivers, 1],
];

/** A comment for a pull request: the verdict, why, and for the reviewer who did what. */
export function formatMarkdown(result: GateResult): string {
  const top = lines(MARKER, heading(result), '', facts(result));
  let page = top + findingsSection(result, (MOST - top.length) / 2);
  for (const [section, share] of SECTIONS) page += section(result, (MOST - page.length) * share);
  return page;
}

function heading(result: GateResult): string {
  return `## ${result.pass ? '✅' : '❌'} git-handoff: ${verdict(result)}`;
}

function facts(result: GateResult): string {
  const { base, head, policy_version, root, advisory } = result;
  const range = `${quoted(head.slice(0, 12))} onto ${base === null ? 'nothing' : quoted(base.slice(0, 12))}`;
  const judged = policy_version === null ? 'no policy' : `policy ${policy_version}`;
  const trusted = root === null ? '' : ` of root ${quoted(root.slice(0, 12))}`;
  return `${size(result)}, ${range}, judged by ${judged}${trusted}${advisory ? `; ${ADVICE}` : ''}.`;
}

function findingsSection(result: GateResult, room: number): string {
  const { errors, warnings } = bySeverity(result);
  if (errors.length + warnings.length === 0) return lines('', 'Nothing speaks against it.');
  const entries = [...errors, ...warnings].map(findingEntry);
  return lines('', `### ${problemsAndWarnings(result)}`, '', cutTo(entries, room));
}

function findingEntry(finding: Finding): string[] {
  const place = placeOf(finding);
  return [
    `- **${finding.severity}** \`${finding.code}\`${place === null ? '' : ` at ${quoted(place)}`}`,
    `  - ${quoted(reasonOf(finding), LONG)}`,
    `  - What to do: ${quoted(finding.hint, LONG)}`,
  ];
}

function sessions({ sessions: all }: GateResult, room: number): string {
  const diagram = custodyDiagram(all);
  const picture = diagram === null ? ['There are too many to draw.', ''] : ['```mermaid', diagram, '```', ''];
  return details('Sessions: who did what', all.map(sessionEntry), room, picture);
}

function sessionEntry(session: GateSession): string[] {
  const { session_id, identity, state, records, predecessor_session_id: before, started_at } = session;
  const from = before === null ? '' : `, continues ${quoted(shortSession(before))}`;
  const who = `${quoted(identity)} in ${quoted(shortSession(session_id))}`;
  return [
    `- ${who}: ${state}, ${count(records, 'record')}, since ${quoted(started_at)}${from}`,
    ...(session.intent === null ? [] : [`  - Intent: ${quoted(session.intent)}`]),
    ...(session.tasks.length === 0 ? [] : [`  - Tasks: ${list(session.tasks)}`]),
    ...(session.summary === null ? [] : [`  - Left behind: ${quoted(session.summary)}`]),
  ];
}

function thoughts({ thoughts: all }: GateResult, room: number): string {
  return details('Thoughts: what was done, what ran', all.map(thoughtEntry), room);
}

function thoughtEntry(thought: GateThought): string[] {
  const { task_id, identity, commit_sha, covers, summary, evidence, blockers, files_changed } = thought;
  const claimed = claimedOnly(thought);
  return [
    `- ${quoted(task_id)} by ${quoted(identity)} at ${quoted(commit_sha.slice(0, 12))}, covers ${count(covers, 'commit')}`,
    `  - ${quoted(summary)}`,
    ...shortened(evidence.map(evidenceLine), 'ran'),
    ...(claimed.length === 0 ? [] : [`  - Claimed, not seen to run: ${list(claimed)}`]),
    ...(evidence.length + claimed.length === 0 ? ['  - No tests are named.'] : []),
    ...shortened(blockers.map(blockerLine), 'blockers'),
    ...(files_changed.length === 0 ? [] : [`  - ${count(files_changed.length, 'file')}: ${list(files_changed)}`]),
  ];
}

function evidenceLine({ command, exit_code, duration_ms }: GateThought['evidence'][number]): string {
  const end = exit_code === 0 ? '✅ exit 0' : `❌ exit ${exit_code}`;
  return `  - Ran: ${quoted(command.join(' '), SHORT)} ${end}, ${duration(duration_ms)}`;
}

function blockerLine(blocker: Record<string, string>): string {
  const pairs = Object.entries(blocker).map(([key, value]) => `${key}: ${value}`);
  return `  - Blocker: ${quoted(pairs.join(', '))}`;
}

function reviews({ reviews: all }: GateResult, room: number): string {
  return details('Reviews', all.map(reviewEntry), room);
}

function reviewEntry({ identity, verdict: says, task_id, checked, text }: GateReview): string[] {
  return [
    `- ${quoted(identity)} ${says === 'approve' ? '✅ approves' : '❌ rejects'} ${quoted(task_id)}`,
    ...(checked.length === 0 ? [] : [`  - Checked: ${list(checked)}`]),
    ...(text === null ? [] : [`  - ${quoted(text)}`]),
  ];
}

function waivers({ waivers: all }: GateResult, room: number): string {
  return details('Waivers', all.map(waiverEntry), room);
}

function waiverEntry({ identity, commit_sha, reason }: GateWaiver): string[] {
  return [`- ${quoted(identity)} waives ${quoted(commit_sha.slice(0, 12))}: ${quoted(reason)}`];
}

/** Folded until someone wants to know. The blank lines let Markdown be Markdown inside of HTML. */
function details(title: string, entries: readonly string[][], room: number, first: readonly string[] = []): string {
  if (entries.length === 0) return '';
  const open = ['', '<details>', `<summary>${title} (${entries.length})</summary>`, ''];
  const close = ['', '</details>'];
  const used = lines(open, first, close).length;
  return lines(open, first, cutTo(entries, room - used), close);
}

const MORE = 60;

/** The entries that have room, and how many have not. */
function cutTo(entries: readonly string[][], room: number): string[] {
  const shown: string[] = [];
  let left = room - MORE;
  for (const [at, entry] of entries.entries()) {
    left -= lines(entry).length;
    if (left < 0) return [...shown, `- … and ${count(entries.length - at, 'more', 'more')}`];
    shown.push(...entry);
  }
  return shown;
}

function list(items: readonly string[]): string {
  const named = items.map((item) => quoted(item, SHORT));
  return listSome(named, LISTED);
}

function shortened(rows: readonly string[], what: string): string[] {
  const rest = rows.length - LISTED;
  return rest > 0 ? [...rows.slice(0, LISTED), `  - … and ${rest} more ${what}`] : [...rows];
}
