import { quoteWord } from '../../core/text/quote.ts';
import type { Warning } from '../bundle.ts';
import type { KnownSessions } from '../known-sessions.ts';
import { describeWaiting, type WaitingBaton, waitingBatons } from './waiting-batons.ts';

/** Whoever takes a task that somebody put down has not read yet what was said of it. Null where nothing was. */
export function batonAbout(knownSessions: KnownSessions, task: string, now: Date): string | null {
  const waiting = describeWaiting(knownSessions, waitingBatons(knownSessions.history), now);
  const baton = waiting.find(({ task_ids }) => task_ids.includes(task));
  return baton ? `${task} was put down with a baton that nobody has picked up: ${inShort(baton)}` : null;
}

/** Whoever opens fresh work though a baton is meant for them. */
export function forYouWarnings(knownSessions: KnownSessions, identity: string, now: Date): Warning[] {
  const meant = waitingBatons(knownSessions.history).filter(({ baton }) => baton.next_agent === identity);
  const [baton] = describeWaiting(knownSessions, meant.slice(0, 1), now);
  if (!baton) return [];
  const take = `git handoff pickup --as ${quoteWord(identity)} --from-session ${baton.session_id.slice(0, 8)} --force --reason TEXT`;
  const message = `A baton waits for ${identity}, and start does not hand it over: ${inShort(baton)}. To continue that work instead: ${take}`;
  return [{ kind: 'baton_waiting', message }];
}

function inShort({ delta_id, identity }: WaitingBaton): string {
  return `git handoff show ${delta_id.slice('sha256:'.length, 'sha256:'.length + 12)} shows what ${identity} wrote`;
}
