import type { Place } from '../handoff.ts';
import { commitHandoff, commitSealed, sealedSession } from '../ledger/sealed.ts';
import { seal } from '../sealing.ts';
import { open } from '../verbs/agents.ts';
import { append, onMain } from './ledgers.ts';
import { document, identityAfter, type Scenario, START } from './scenario.ts';

/** A sealed session with a waiver, by a maintainer who is none any more. */
export async function demotedAuthor(place: Place): Promise<void> {
  await open(place).handoff.identity.add({ name: 'carol', role: 'maintainer' });
  const waiver = { kind: 'waiver' as const, commit_sha: 'a'.repeat(40), reason: 'urgent' };
  sealedSession(place, { identity: 'carol' }, [START, waiver, seal()]);
  commitHandoff(place);
  asCarol(place, 'agent');
}

function asCarol(place: Place, role: string): void {
  document(place, 'identities/carol/identity.yaml', identityAfter(place, 'carol', { role }));
}

/** What does not hold is left out of the ledger, and stops nobody else. */
export const PASSED_OVER: Scenario[] = [
  {
    name: 'an append beside the sealed session of a maintainer who was demoted',
    async build(place) {
      await demotedAuthor(place);
      return onMain(place, async () => {
        commitSealed(place, 2);
        await append(place);
      });
    },
  },
  {
    name: 'a session that is sealed again, and appended again',
    build: (place) =>
      onMain(place, async () => {
        const options = { sessionId: '9a1b2c3d-0000-4000-8000-000000000001' };
        sealedSession(place, options, [START, seal()]);
        commitHandoff(place);
        await append(place);
        sealedSession(place, options, [START, seal(), { kind: 'note', text: 'more' }, seal(1)]);
        commitHandoff(place);
        await append(place);
      }),
  },
];
