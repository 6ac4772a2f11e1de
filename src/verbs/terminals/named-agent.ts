import { HandoffError } from '../../core/error.ts';
import { listSome } from '../../core/text/list-some.ts';
import { type Agent, readAgents } from '../../relay/agents.ts';
import { processOf } from '../../relay/running.ts';
import type { TimeAndHost } from '../../repository/parts.ts';
import type { Repository } from '../../repository/repository.ts';

/** By session, or the beginning of its id; else by name: the one that runs, or the last one that ran. */
export function requireAgent(repository: Repository, id: string): Agent {
  const { agents } = readAgents(repository);
  const bySession = SESSION.test(id) ? agents.filter(({ session_id }) => session_id.startsWith(id)) : [];
  const found = bySession.length > 0 ? bySession : agentsNamed(repository, agents, id);
  const [agent, ...others] = found;
  if (agent && others.length === 0) return agent;
  throw notOne(id, found);
}

const SESSION = /^[0-9a-f][0-9a-f-]{3,}$/;

/** One that has ended may have left its last lines in its window: it can be shown, and its window taken away. */
function agentsNamed({ host }: TimeAndHost, agents: readonly Agent[], name: string): Agent[] {
  const own = agents.filter(({ identity }) => identity === name);
  const alive = own.filter((agent) => processOf(host, agent) !== 'gone');
  if (alive.length > 0) return alive;
  return own.toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1)).slice(0, 1);
}

function notOne(id: string, found: readonly Agent[]): HandoffError {
  const sessions = found.map(({ session_id }) => session_id.slice(0, 13));
  const message =
    found.length === 0
      ? `No agent is known by ${JSON.stringify(id)}.`
      : `${JSON.stringify(id)} means several agents: ${listSome(sessions, 5)}.`;
  return new HandoffError('unknown_session', message, {
    hint: 'git handoff agent list shows the agents and their sessions.',
    data: { id },
  });
}
