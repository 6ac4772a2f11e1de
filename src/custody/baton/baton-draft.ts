import { isOfKind } from '../../core/record/kinds.ts';
import type { PlacedRecord } from '../../core/record/record-summary.ts';
import { excerptOf } from '../../core/text/excerpt.ts';

/** What is known of a session when it is about to be wrapped. */
export interface KnownWork {
  records: readonly PlacedRecord[];
  /** Tasks that it holds. */
  claimed: readonly string[];
  /** Its commits, the newest first, and how many older ones there are. */
  commits: readonly string[];
  moreCommits: number;
  /** Paths that are not committed. */
  uncommitted: readonly string[];
}

/** A line that somebody has to fill in. Readers of Markdown do not see it; the wrap of a draft that still has it warns. */
const BLANK = /^<!-- fill in: .* -->$/gm;

export function countBlanks(body: string): number {
  return body.match(BLANK)?.length ?? 0;
}

/** Where nobody is left who could fill them in. */
export function withoutBlanks(body: string): string {
  return body.replace(BLANK, 'Nobody has said.');
}

/** The sections that the policy asks for, each with what is known, or with what to fill in. */
export function draftBaton(sections: readonly string[], work: KnownWork): string {
  const names = sections.length > 0 ? sections : ['current work', 'next steps'];
  return `${names.map((name) => `# ${capitalised(name)}\n\n${sectionText(name, work)}\n`).join('\n')}`;
}

/** What a section is about, by the words of its name. */
const TOPICS: readonly { isIn: RegExp; lines(work: KnownWork): string[]; blank: string }[] = [
  {
    isIn: /next|to ?do|follow/i,
    lines: () => [],
    blank: 'what whoever comes next should do first, and how they will know that it is done',
  },
  { isIn: /decision|decid/i, lines: decisions, blank: 'what was decided and why, or that nothing was' },
  { isIn: /block|risk|question|problem/i, lines: blockers, blank: 'what stands in the way, or that nothing does' },
  { isIn: /file|change/i, lines: files, blank: 'which files matter' },
  { isIn: /progress|done|result/i, lines: progress, blank: 'what is done, and what shows it' },
  {
    isIn: /work|current|goal|context|state/i,
    lines: listCurrentWork,
    blank: 'what this is about, and how far it has come',
  },
];

function sectionText(name: string, work: KnownWork): string {
  const topic = TOPICS.find(({ isIn }) => isIn.test(name));
  const lines = topic?.lines(work) ?? [];
  return lines.length > 0 ? listed(lines) : `<!-- fill in: ${topic?.blank ?? name.replaceAll('-->', '')} -->`;
}

const MOST_LINES = 60;

function listed(lines: readonly string[]): string {
  const rest = lines.length - MOST_LINES;
  const shown = rest > 0 ? [...lines.slice(0, MOST_LINES), `and ${rest} more`] : lines;
  return shown.map((line) => `- ${line}`).join('\n');
}

function listCurrentWork({ records, claimed }: KnownWork): string[] {
  const wip = new Map<string, string | null>();
  for (const { record } of records.filter(isOfKind('wip')))
    wip.set(record.fields.key, record.fields.state === 'open' ? (record.fields.text ?? '') : null);
  const open = [...wip]
    .filter(([, text]) => text !== null)
    .map(([key, text]) => `under way, ${key}: ${oneLine(text!)}`);
  return [...claimed.map((task) => `task ${task}`), ...open];
}

function progress({ records, commits, moreCommits }: KnownWork): string[] {
  const thoughts = records.filter(isOfKind('thought')).map(({ record: { fields } }) => {
    const runs = (fields.evidence ?? []).map(
      ({ command, exit_code }) => `\`${oneLine(command.join(' '))}\` ended with ${exit_code}`,
    );
    return [`${fields.task_id}: ${oneLine(fields.summary)}`, ...runs].join('; ');
  });
  const notes = records.filter(isOfKind('note')).map(({ record }) => oneLine(record.fields.text));
  const rest = moreCommits > 0 ? [`and ${moreCommits} commits before`] : [];
  return [...thoughts, ...notes, ...commits.map((line) => `commit ${oneLine(line)}`), ...rest];
}

function decisions({ records }: KnownWork): string[] {
  return records
    .filter(isOfKind('decision'))
    .map(({ record: { fields } }) => `${oneLine(fields.title)} (${fields.status})`);
}

/** Those of the newest thought about each task: the ones before it may be out of the way. */
function blockers({ records }: KnownWork): string[] {
  const newest = new Map(
    records.filter(isOfKind('thought')).map(({ record: { fields } }) => [fields.task_id, fields.blockers]),
  );
  return [...newest].flatMap(([task, found]) =>
    found.map((blocker) => `${task}: ${oneLine(Object.values(blocker).join(', '))}`),
  );
}

function files({ records, uncommitted }: KnownWork): string[] {
  const changed = new Set(records.filter(isOfKind('thought')).flatMap(({ record }) => record.fields.files_changed));
  return [
    ...uncommitted.map((path) => `not committed: ${oneLine(path)}`),
    ...[...changed].filter((path) => !uncommitted.includes(path)).map(oneLine),
  ];
}

function oneLine(text: string): string {
  return excerptOf(text.replace(/\s+/g, ' ').trim()).text;
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
