import { HandoffError } from '../core/error.ts';
import { listSome } from '../core/text/list-some.ts';

interface Named {
  session_id: string;
  identity: string;
}

/** For a name that no session has, or that several have. */
export function unknownSession(prefix: string, matches: readonly Named[]): HandoffError {
  const data = { session: prefix };
  if (matches.length < 2) {
    const message = `There is no session ${JSON.stringify(prefix)} here.`;
    return new HandoffError('unknown_session', message, { hint: 'git handoff sessions', data });
  }
  const names = matches.map(({ identity, session_id }) => `${identity}/${session_id}`);
  return new HandoffError('unknown_session', `${names.length} sessions begin with ${JSON.stringify(prefix)}.`, {
    hint: `Name one of them: ${listSome(names, 5)}`,
    data,
  });
}
