import { HandoffError } from '../../core/error.ts';
import type { Terminal, TerminalPlace } from '../../relay/terminal.ts';
import { openTmux } from '../../relay/tmux.ts';
import { requireSeat } from '../../relay/type-to.ts';
import type { Repository } from '../../repository/repository.ts';
import { requireAgent } from './named-agent.ts';

export interface AttachOptions {
  id: string;
  /** A person is there, who can be shown it. */
  show?: boolean;
}

export interface AttachResult {
  session_id: string;
  identity: string;
  terminal: TerminalPlace;
  /** What shows it, wherever a person is. */
  command: string[];
  attached: boolean;
}

/** Shows an agent's terminal to a person; where there is none, says how. */
export async function agentAttach(repository: Repository, { id, show = false }: AttachOptions): Promise<AttachResult> {
  const agent = requireAgent(repository, id);
  const { session_id, identity } = agent;
  const seat = requireSeat(agent);
  const terminal: Terminal = openTmux(repository.env, repository.host);
  if ((await terminal.screen(seat)) === null) throw notThere(identity, session_id);
  if (show) await terminal.show(seat.place);
  return { session_id, identity, terminal: seat.place, command: terminal.attachCommand(seat.place), attached: show };
}

function notThere(identity: string, session_id: string): HandoffError {
  const sid8 = session_id.slice(0, 8);
  return new HandoffError('no_terminal', `The terminal of ${identity} (session ${sid8}) is gone.`, {
    hint: `Its window was closed or tmux has ended. What it left is taken up with: git handoff salvage ${sid8} --as NAME`,
    data: { session_id },
  });
}
