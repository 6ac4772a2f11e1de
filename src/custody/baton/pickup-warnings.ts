import type { Warning } from '../bundle.ts';
import type { Entered } from '../enter.ts';
import type { Predecessor } from '../predecessor.ts';
import type { ReceivedBaton } from './received-baton.ts';
import type { Waiting } from './waiting-batons.ts';

/** Warns an heir whose baton was meant for somebody else; and one who gets nothing, of the batons that wait for others. */
export function notForYou(identity: string, predecessor: Predecessor | null, forOthers: readonly Waiting[]): Warning[] {
  const meant = predecessor?.baton?.next_agent ?? identity;
  if (meant !== identity)
    return [{ kind: 'not_for_you', message: `This baton was meant for ${meant}. You have it now.` }];
  const [first, ...more] = forOthers;
  if (!first) return [];
  const { baton, session } = first;
  const others = more.length > 0 ? ` ${more.length} more wait for others: git handoff batons.` : '';
  const take = `git handoff pickup --from-session ${session.session_id.slice(0, 8)}`;
  return [
    {
      kind: 'not_for_you',
      message: `A baton of ${baton.identity} waits for ${baton.next_agent}, not for you: ${take}${others && `.${others}`}`,
    },
  ];
}

/** Warnings about a missing baton, and about sessions that were ended by others. */
export function custodyWarnings(
  predecessor: Predecessor | null,
  baton: ReceivedBaton | null,
  released: Entered['released'],
  forOthers: readonly Waiting[],
): Warning[] {
  const nothing = forOthers.length > 0 ? 'No baton waits for you.' : 'There is no baton: nobody has wrapped this work.';
  const warnings: Warning[] = released.map(({ identity, session_id }) => ({
    kind: 'released',
    message: `Taken over by force: session ${session_id.slice(0, 8)} of ${identity}.`,
  }));
  if (!predecessor?.session.baton) {
    const message = baton
      ? `The session before this one left no baton; this is an earlier one, of ${baton.agent_identity}.`
      : nothing;
    warnings.push({ kind: 'no_baton', message });
  }
  if (baton?.reconstructed) {
    const message = `Nobody who did the work wrote this baton: ${baton.agent_identity} put it together from what was known. Look at the code before you believe it.`;
    warnings.push({ kind: 'baton_reconstructed', message });
  }
  if (predecessor?.abandoned) {
    const { identity, last_at } = predecessor.session;
    warnings.push({
      kind: 'abandoned',
      message: `${identity} has not wrapped, and shows no sign of life here; its last record is of ${last_at}.`,
    });
  }
  return warnings;
}
