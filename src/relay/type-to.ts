import { join } from 'node:path';
import { HandoffError } from '../core/error.ts';
import { oneAtATime } from '../disk/one-at-a-time.ts';
import type { StateDirectory, TimeAndHost } from '../repository/parts.ts';
import { type Agent, agentsFolder } from './agents.ts';
import { assertReadsKeys } from './running.ts';
import type { Seat, Terminal } from './terminal.ts';

/** Types a line to an agent and submits it. Two at once would mix their letters, so the second waits. */
export async function typeTo(
  repository: StateDirectory & TimeAndHost,
  terminal: Terminal,
  agent: Agent,
  text: string,
): Promise<void> {
  const seat = requireSeat(agent);
  const turn = join(agentsFolder(repository), `${agent.session_id}.typing`);
  await oneAtATime(turn, repository, async () => {
    assertReadsKeys(repository.host, agent);
    await terminal.submit(seat, text);
  });
}

export function requireSeat({ seat, session_id, identity }: Agent): Seat {
  if (seat) return seat;
  throw new HandoffError('no_terminal', `The agent of ${identity} runs in no terminal that is known.`, {
    hint: 'Start agents with git handoff agent run --as NAME, or by hand inside tmux with connected hooks: then it is known.',
    data: { session_id },
  });
}
