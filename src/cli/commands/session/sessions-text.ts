import { randomBytes } from 'node:crypto';
import { fenceText, makeFence } from '../../../core/text/fence.ts';
import { listSome } from '../../../core/text/list-some.ts';
import { quoteWord } from '../../../core/text/quote.ts';
import type { Work } from '../../../custody/baton/work-place.ts';
import type { Bundle, Warning } from '../../../custody/bundle.ts';
import { missingSection } from '../../../custody/section-warning.ts';
import type { PickupResult } from '../../../verbs/session/pickup.ts';
import type { RecordResult } from '../../../verbs/session/record-verbs.ts';
import type { ReleaseResult, SessionStateResult } from '../../../verbs/session/release.ts';
import type { RestoreResult } from '../../../verbs/session/restore.ts';
import type { StartResult } from '../../../verbs/session/start.ts';
import type { StatusResult } from '../../../verbs/session/status.ts';
import type { WrapResult } from '../../../verbs/session/wrap.ts';
import type { SalvageResult } from '../../../verbs/terminals/salvage.ts';
import type { Paint } from '../../terminal.ts';
import { committed, count, fields, lines, shortId } from '../../text/layout.ts';
import { excerpt, paintState, section, time, warnings } from './session-words.ts';

export function formatRecord({ identity, delta_id, path }: RecordResult, paint: Paint): string {
  return lines(`${paint('green', '✓')} ${identity}: ${shortId(delta_id)}  ${paint('dim', path)}`);
}

export function formatState({ session_id, state, identity }: SessionStateResult, paint: Paint): string {
  return lines(`${paint('green', '✓')} ${identity}: session ${session_id.slice(0, 8)} is ${paintState(state, paint)}`);
}

export function formatRelease(result: ReleaseResult, paint: Paint): string {
  const { session_id, state, identity, released_identity } = result;
  const whose = `session ${session_id.slice(0, 8)} of ${released_identity}`;
  return lines(`${paint('green', '✓')} ${identity}: ${whose} is ${paintState(state, paint)}`);
}

export function formatStart(result: StartResult, paint: Paint): string {
  const verb = result.resumed ? 'goes on' : 'starts';
  const last: [string, string][] = result.last_wrapped
    ? [['last wrap', `${result.last_wrapped.identity}: ${result.last_wrapped.summary}`]]
    : [];
  return lines(
    `${paint('green', '✓')} ${paint('bold', result.identity)} ${verb} in session ${result.session_id.slice(0, 8)}`,
    fields([...contextRows(result), ...last], paint, '  '),
    openThings(result, paint),
    warnings(result.warnings, paint),
  );
}

/** What the baton says below, and what is said of a task that came along, is not said again. */
export function formatPickup(result: PickupResult, paint: Paint): string {
  const { controller_status: status, baton, tasks, todos } = result;
  const from = result.predecessor_session_id?.slice(0, 8);
  const carried = new Set(tasks.map(({ task_id }) => task_id));
  const focus = todos.focus.filter(({ task_id }) => !carried.has(task_id));
  const shown = [...result.adrs, ...result.wip, ...result.pending_signals, ...(baton ? [baton] : [])];
  const ids = new Set(shown.map(({ delta_id }) => delta_id));
  const recent_deltas = result.recent_deltas.filter(({ delta_id }) => !ids.has(delta_id));
  return lines(
    `${paint('green', '✓')} ${paint('bold', status.identity)} continues ${from ? `session ${from}` : 'from nothing'} in ${result.session_id.slice(0, 8)}`,
    fields(pickupRows(result), paint, '  '),
    section(
      'Yours now',
      tasks.map(({ task_id, title, status: state, token }) => `${task_id} ${title} (${state}, lock ${token})`),
      paint,
    ),
    openThings({ ...result, recent_deltas, todos: { ...todos, focus } }, paint),
    section(
      'Messages for you',
      result.pending_signals.map((signal) => `${signal.from}: ${excerpt(signal)}`),
      paint,
    ),
    warnings(result.warnings, paint),
    result.waiting.length > 0 ? [`${count(result.waiting.length, 'other baton')} waiting: git handoff batons`] : [],
    baton ? ['', ...fenced(baton)] : [],
    result.cd === null ? [] : ['', result.cd],
  );
}

function pickupRows(result: PickupResult): [string, string][] {
  const { baton, context, todos } = result;
  const rows = contextRows(result);
  if (baton) rows.push(['baton', batonRow(baton)]);
  if (baton?.head && baton.branch !== context.branch)
    rows.push(['left at', `${baton.branch ?? 'no branch'} ${baton.head.slice(0, 12)}`]);
  if (result.work) rows.push(...workRows(result.work, context.branch));
  if (baton?.saved) rows.push(['not committed', formatSaved(baton.saved, baton.session_id)]);
  const shown = new Set([...todos.focus, ...result.tasks].map(({ task_id }) => task_id));
  const rest = baton?.focus.filter((id) => !shown.has(id)) ?? [];
  if (rest.length > 0) rows.push(['focus', rest.join(', ')]);
  return rows;
}

/** With its summary, unless that is in its text. */
function batonRow({ agent_identity, created_at, summary, body }: NonNullable<PickupResult['baton']>): string {
  const from = `${agent_identity}, ${time(created_at)}`;
  return body.includes(summary) ? from : `${from}: ${summary}`;
}

/** How to get to the work, where that is not here. Only what is a branch is put into a command. */
function workRows({ branch, worktree, remote, ahead, behind, is_here }: Work, here: string | null): [string, string][] {
  if (branch === null) return [];
  const apart = [ahead ? `${ahead} ahead` : '', behind ? `${behind} behind` : ''].filter(Boolean).join(', ');
  const rows: [string, string][] = remote && apart ? [['remote', `${remote}: ${apart}`]] : [];
  if (branch === here) return rows;
  if (worktree) return [['work', `on ${branch}: cd ${quoteWord(worktree)}`], ...rows];
  const isUsable = is_here && !branch.startsWith('-');
  return [
    ['work', isUsable ? `on ${branch}: git switch ${quoteWord(branch)}` : `on ${branch}, which is no branch here`],
    ...rows,
  ];
}

/** The words of somebody else, between lines they could not have guessed. */
function fenced(baton: NonNullable<PickupResult['baton']>): string[] {
  const fence = makeFence(baton.body, () => randomBytes(16).toString('hex'));
  const { agent_identity: identity, created_at: at } = baton;
  const source = { delta_id: shortId(baton.delta_id), session_id: baton.session_id.slice(0, 8) };
  return [fenceText(baton.body, { identity, ...source, at }, fence).replace(/\n$/, '')];
}

export function formatWrap(
  { session_id, identity, baton, saved, seal, commit, warnings: found }: WrapResult,
  paint: Paint,
): string {
  const sealed: [string, string][] = seal ? [['root', `${seal.root} over ${count(seal.tree_size, 'record')}`]] : [];
  const uncommitted = saved ? [['not committed', formatSaved(saved, session_id)] as [string, string]] : [];
  return lines(
    `${paint('green', '✓')} session ${session_id.slice(0, 8)} of ${identity} is wrapped, ${committed(commit)}`,
    fields(
      [['baton', shortId(baton.delta_id)], ['path', baton.path], ['summary', baton.summary], ...uncommitted, ...sealed],
      paint,
      '  ',
    ),
    warnings(joinSections(found), paint),
  );
}

export function formatSalvaged(result: SalvageResult, paint: Paint): string {
  const { salvaged_identity, salvaged_session_id, identity, session_id, baton, saved, commit } = result;
  const uncommitted = saved ? [['not committed', formatSaved(saved, session_id)] as [string, string]] : [];
  const rows: [string, string][] = [['baton', shortId(baton.delta_id)], ['path', baton.path], ...uncommitted];
  const whose = `session ${salvaged_session_id.slice(0, 8)} of ${salvaged_identity}`;
  return lines(
    `${paint('green', '✓')} ${identity} has put together what ${whose} left, ${committed(commit)}`,
    fields(rows, paint, '  '),
    `  git handoff pickup --from-session ${session_id.slice(0, 8)} --as NAME`,
    warnings(joinSections(result.warnings), paint),
  );
}

function formatSaved({ commit, paths, more = 0 }: NonNullable<WrapResult['saved']>, session: string): string {
  const all = paths.length + more;
  const rest = all - Math.min(paths.length, MOST_NAMED);
  const names = [...paths.slice(0, MOST_NAMED), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  const fate = commit === null ? 'named, not saved' : `saved: git handoff restore ${session.slice(0, 8)}`;
  return `${count(all, 'file')} (${names}), ${fate}`;
}

const MOST_NAMED = 3;

export function formatRestore(
  { session_id, commit, paths, applied, warnings: found }: RestoreResult,
  paint: Paint,
): string {
  const what = `${count(paths.length, 'file')} of session ${session_id.slice(0, 8)}`;
  return lines(
    `${paint('green', '✓')} ${applied ? `${what} restored, not staged` : `${what}: all of it is here already`}`,
    fields(
      [
        ['saved as', commit.slice(0, 12)],
        ['files', listSome(paths, 10)],
      ],
      paint,
      '  ',
    ),
    warnings(found, paint),
  );
}

/** One line for all the sections that a baton lacks: a short baton lacks most of them, and six lines would hide the rest. */
function joinSections(found: readonly Warning[]): Warning[] {
  const names = found.map(missingSection).filter((name) => name !== null);
  const others = found.filter((warning) => missingSection(warning) === null);
  if (names.length === 0) return others;
  const message = `The baton lacks sections that the policy asks for: ${names.join(', ')}`;
  return [...others, { kind: 'section_missing', message }];
}

export function formatStatus(status: StatusResult, paint: Paint): string {
  const { session, baton, cd } = status;
  const none = cd === null ? 'none: git handoff start, or pickup' : `none here, one in another work tree: ${cd}`;
  const state = session ? `${session.session_id.slice(0, 8)}, ${session.state}` : none;
  const rows: [string, string][] = [
    ['session', state],
    ['baton', baton ? `${baton.identity}, ${time(baton.at)}: ${baton.summary}` : 'none'],
    ['project', [status.project, status.phase].filter(Boolean).join(', ') || '-'],
    ['branch', `${status.branch ?? 'detached'} ${status.head?.slice(0, 12) ?? '(no commit yet)'}`],
    ['tasks', [`${status.tasks.open_count} open`, ...held(status.claimed)].join('; ')],
    ...(status.context_used === null
      ? []
      : [['context', `${Math.round(status.context_used)} % full`] satisfies [string, string]]),
    ['messages', String(status.pending_signals)],
    [
      'active',
      status.active_sessions.map((each) => `${each.identity} ${each.session_id.slice(0, 8)}`).join(', ') || '-',
    ],
  ];
  return lines(
    paint('bold', status.identity),
    fields(rows, paint, '  '),
    section(
      'In focus',
      status.tasks.focus.map(({ task_id, title, status: state }) => `${task_id} ${title} (${state})`),
      paint,
    ),
    section('Remember', status.rules_reminders, paint),
    warnings(status.warnings, paint),
  );
}

function held(claimed: readonly string[]): string[] {
  return claimed.length > 0 ? [`yours: ${claimed.join(', ')}`] : [];
}

function contextRows({ context }: Bundle): [string, string][] {
  const rows: [string, string][] = [
    ['project', [context.project, context.phase].filter(Boolean).join(', ') || '-'],
    ['branch', `${context.branch ?? 'detached'} ${context.head?.slice(0, 12) ?? '(no commit yet)'}`],
  ];
  if (context.reading.length > 0) rows.push(['read first', context.reading.join(', ')]);
  return rows;
}

function openThings({ todos, wip, adrs, recent_deltas, rules_reminders }: Bundle, paint: Paint): string[] {
  return [
    ...section(
      'In focus',
      todos.focus.map(({ task_id, title, status }) => `${task_id} ${title} (${status})`),
      paint,
    ),
    ...section(
      'Under way',
      wip.map((each) => `${each.key} (${each.identity}): ${excerpt(each)}`),
      paint,
    ),
    ...section(
      'Decisions',
      adrs.map(({ title, status }) => `${title} (${status})`),
      paint,
    ),
    ...section(
      'Recent',
      recent_deltas.map(({ kind, identity, at, summary }) => `${time(at)} ${identity} ${kind}: ${summary}`),
      paint,
    ),
    ...section('Remember', rules_reminders, paint),
  ];
}
