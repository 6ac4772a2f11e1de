import { HandoffError } from '../../core/error.ts';
import { listSome } from '../../core/text/list-some.ts';
import { type Agent, readAgents } from '../../relay/agents.ts';
import { processOf } from '../../relay/running.ts';
import type { Repository } from '../../repository/repository.ts';

/** By session, or the beginning of its id; else by name: then the one that runs. */
export function requireAgent(repository: Repository, id: string): Agent {
  const { agents } = readAgents(repository);
  const bySession = /^[0-9a-f][0-9a-f-]{3,}$/.test(id)
    ? agents.filter(({ session_id }) => session_id.startsWith(id))
    : [];
  const byName = agents.filter((agent) => agent.identity === id && processOf(repository.host, agent) !== 'gone');
  const found = bySession.length > 0 ? bySession : byName;
  if (found.length === 1) return found[0]!;
  const among =
    found.length > 1
      ? `: ${listSome(
          found.map(({ session_id }) => session_id.slice(0, 13)),
          5,
        )}`
      : '';
  throw new HandoffError(
    'unknown_session',
    found.length === 0
      ? `No agent is known by ${JSON.stringify(id)}.`
      : `${JSON.stringify(id)} means several agents${among}.`,
    { hint: 'git handoff agent list shows the agents and their sessions.', data: { id } },
  );
}
