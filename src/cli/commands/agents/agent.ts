import { RUNTIME_NAMES } from '../../../runtimes/runtime.ts';
import type { AttachOptions, AttachResult } from '../../../verbs/terminals/agent-attach.ts';
import type { AgentEntry, AgentListing } from '../../../verbs/terminals/agent-list.ts';
import type { AgentRunOptions, AgentRunResult } from '../../../verbs/terminals/agent-run.ts';
import type { StopOptions } from '../../../verbs/terminals/agent-stop.ts';
import { type Argument, defineVerb, type Family } from '../../command.ts';

const text = () => import('./agent-text.ts');
const ID: Argument = { name: 'ID', about: 'its session, or the beginning; or a name: the one that runs, or ran last' };

const run = defineVerb<Omit<AgentRunOptions, 'from'>, AgentRunResult>({
  name: 'run',
  summary: 'start an agent in a terminal',
  purpose:
    'Starts an agent in a tmux window of its own, in the work tree and bound to its session: the one of that name that is open here, ' +
    'else what waits for it is picked up, else a fresh one is opened. The program gets your environment, HANDOFF_IDENTITY and ' +
    'HANDOFF_SESSION. Behind -- stands any other command; it finds --prompt in HANDOFF_PROMPT.',
  args: [{ name: 'COMMAND', about: 'another program than the runtime, behind --', optional: true, variadic: true }],
  flags: [
    {
      flags: '--runtime <name>',
      about: 'the program; default: handoff.runtime, else the only one',
      choices: RUNTIME_NAMES,
    },
    { flags: '--task <id>', about: 'claim this task for it' },
    { flags: '--worktree', about: "in the work tree of the baton's branch, or of the task" },
    { flags: '--fresh', about: 'continue nothing, whatever waits' },
    { flags: '--prompt <text>', about: 'what it is told first' },
    { flags: '--local', about: 'go on without the remote that handoff.remote names' },
  ],
  examples: [
    { run: 'git handoff agent run --as donna --task P0.1 --worktree', does: 'a new agent on a task' },
    { run: 'git handoff agent run --as lola --runtime codex --prompt "go on"', does: 'another program continues' },
    { run: 'git handoff agent run --as bert -- ./my-agent', does: 'any command' },
  ],
  run: async (context, options) =>
    (await import('../../../verbs/terminals/agent-run.ts')).agentRun(await context.repository(), {
      ...options,
      from: context.directory,
    }),
  text: async (result, paint) => (await text()).formatRun(result, paint),
});

const list = defineVerb<{ all?: boolean }, AgentListing>({
  name: 'list',
  summary: 'who works in which terminal',
  purpose:
    'Lists agents: their program, whether it runs, how full its context is as far as it says, their tasks and terminals. Agents that ' +
    'were started by hand are known once their hooks have told of a session.',
  flags: [{ flags: '--all', about: 'also those that have ended with their sessions' }],
  examples: [{ run: 'git handoff agent list', does: 'who is at work' }],
  run: async (context, options) =>
    (await import('../../../verbs/terminals/agent-list.ts')).agentList(await context.repository(), options),
  text: async (result, paint) => (await text()).formatAgents(result, paint),
});

const attach = defineVerb<AttachOptions, AttachResult>({
  name: 'attach',
  summary: "show an agent's terminal",
  purpose:
    "Shows an agent's terminal to you, until you leave it (Ctrl-B, D). Without a terminal of yours it prints the command.",
  args: [ID],
  examples: [{ run: 'git handoff agent attach 7c1f09aa', does: 'see what it is doing' }],
  run: async (context, options) =>
    (await import('../../../verbs/terminals/agent-attach.ts')).agentAttach(await context.repository(), {
      ...options,
      show: context.isTerminal,
    }),
  text: async (result, paint) => (await text()).formatAttach(result, paint),
});

const stop = defineVerb<StopOptions, AgentEntry>({
  name: 'stop',
  summary: 'end an agent',
  purpose:
    'Ends an agent as a person would, by the exit word of its program, and waits until its process is gone. Its session stays open, ' +
    'with all that it holds.',
  args: [ID],
  flags: [
    { flags: '--timeout <seconds>', about: 'how long it may take; default: 15', atLeast: 1 },
    { flags: '--force', about: 'then take its terminal away' },
  ],
  examples: [{ run: 'git handoff agent stop 7c1f09aa', does: 'end it' }],
  run: async (context, options) =>
    (await import('../../../verbs/terminals/agent-stop.ts')).agentStop(await context.repository(), options),
  text: async (result, paint) => (await text()).formatStopped(result, paint),
});

export const agent: Family = {
  name: 'agent',
  summary: 'agents in terminals: run, list, attach, stop',
  purpose: 'An agent is one running program, under one identity, in one session. tmux holds its terminal.',
  examples: [
    { run: 'git handoff agent run --as donna', does: 'start one' },
    { run: 'git handoff agent list', does: 'see who works' },
  ],
  verbs: [run, list, attach, stop],
};
