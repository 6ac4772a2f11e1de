import { HandoffError } from '../core/error.ts';
import type { Host } from '../disk/moment.ts';
import type { Agent } from './agents.ts';
import { isInForeground, isRunning } from './processes.ts';

/** Whether an agent's program runs. `unknown`: it was never known which process it is. */
export type AgentProcess = 'running' | 'gone' | 'unknown';

export function processOf(host: Host, { program }: Agent): AgentProcess {
  if (program === null) return 'unknown';
  return isRunning(host, program) ? 'running' : 'gone';
}

/** What is typed must reach the agent's program, and not a shell that it was stopped in, nor a program that it runs. */
export function assertReadsKeys(host: Host, agent: Agent): void {
  const { program, session_id, identity } = agent;
  if (program === null || isInForeground(host, program)) return;
  const data = { session_id, pid: program.pid };
  const sid8 = session_id.slice(0, 8);
  if (!isRunning(host, program)) throw agentGone(agent);
  throw new HandoffError(
    'agent_gone',
    `The agent of ${identity} (session ${sid8}) runs, but its terminal is not its own now.`,
    {
      hint: `It was stopped (Ctrl-Z), or something else reads the keyboard. Look: git handoff agent attach ${sid8}`,
      data,
    },
  );
}

function agentGone({ session_id, identity, program }: Agent): HandoffError {
  const sid8 = session_id.slice(0, 8);
  return new HandoffError('agent_gone', `The agent of ${identity} (session ${sid8}) does not run any more.`, {
    hint: `What it left is taken up with: git handoff salvage ${sid8} --as NAME`,
    data: { session_id, pid: program?.pid ?? null },
  });
}
