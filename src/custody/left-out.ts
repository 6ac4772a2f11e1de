import { firstOf, type Limit, type Part, shareOf } from '../core/text/part.ts';

/** The lists that `start` and `pickup` show, and the command that shows the rest of each. Together they stay below 64 KiB. */
const LISTS = {
  recent_deltas: { items: 10, bytes: 8192, rest: 'git handoff log' },
  focus: { items: 20, bytes: 8192, rest: 'git handoff task list' },
  adrs: { items: 5, bytes: 6144, rest: 'git handoff decisions' },
  wip: { items: 20, bytes: 12_288, rest: 'git handoff wip list' },
  pending_signals: { items: 20, bytes: 12_288, rest: 'git handoff signal pending' },
  active_sessions: { items: 20, bytes: 4096, rest: 'git handoff sessions' },
  waiting: { items: 10, bytes: 6144, rest: 'git handoff batons' },
  reading: { items: 20, bytes: 4096, rest: 'git handoff show .handoff/project.yaml' },
} satisfies Record<string, Limit & { rest: string }>;

type ListName = keyof typeof LISTS;

/** By the name of the list, how many items are not in it; empty where everything is there. */
export type LeftOut = Partial<Record<ListName, number>>;

export function partOf<T>(name: ListName, items: readonly T[]): Part<T> {
  return firstOf(items, LISTS[name]);
}

/** One item of each author in turn, for lists that anybody may write to: nobody fills them alone. */
export function sharedPartOf<T>(name: ListName, items: readonly T[], authorOf: (item: T) => string): Part<T> {
  return shareOf(items, authorOf, LISTS[name]);
}

export function leftOutOf(parts: Partial<Record<ListName, Part<unknown>>>): LeftOut {
  const cut = Object.entries(parts).filter(([, { left }]) => left > 0);
  return Object.fromEntries(cut.map(([name, { left }]) => [name, left]));
}

export function leftOutWarnings(leftOut: LeftOut): { kind: 'left_out'; message: string }[] {
  return (Object.entries(leftOut) as [ListName, number][]).map(([name, left]) => ({
    kind: 'left_out',
    message: `Not all of ${name} is shown here, ${left} more: ${LISTS[name].rest}`,
  }));
}
