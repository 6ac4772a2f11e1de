import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { openRepositoryAt } from '../../src/repository/repository.ts';
import type { RelayEntry } from '../../src/verbs/relay/relays.ts';
import { type AgentRunResult, agentRun } from '../../src/verbs/terminals/agent-run.ts';
import { HOOK } from '../agents/event.ts';
import { type Begun, begin, type Run, run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { isolatedEnv, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { type TmuxServer, until } from './tmux-server.ts';

const SCRIPT = fileURLToPath(new URL('./scripted-agent.mjs', import.meta.url));
const copy = template();

/** What the scripted program does wrong; nothing where nothing is said. */
export interface Mode {
  write?: 'ok' | 'nothing' | 'empty' | 'blank' | 'folder' | 'link' | 'large' | 'secret' | 'elsewhere';
  hooks?: boolean;
  starts?: boolean;
  takes?: boolean;
  stops?: boolean;
  behind?: boolean;
  leaves?: boolean;
  dies?: 'start' | 'prompt' | 'stop';
  double?: boolean;
}

export interface Logged {
  role: 'predecessor' | 'successor';
  pid: number;
  event?: string;
  prompt?: string;
  answer?: string;
  typed?: string;
  held?: string;
  read?: string;
  begun?: string[];
  identity?: string;
  relay?: string | null;
  env?: string | null;
}

/** A repository, a terminal, and a scripted program called `claude` on the PATH. */
export interface Stage {
  place: Place;
  agents: string;
  agent(role: 'predecessor' | 'successor', mode: Mode): void;
  log(): Logged[];
  /** `git handoff …` in it, to its end. */
  handoff(...args: string[]): Run;
  /** The same, not waited for. */
  begin(...args: string[]): Begun;
  json<T = RelayEntry>(...args: string[]): T;
  start(prompt?: string): Promise<AgentRunResult>;
}

export function stage(server: TmuxServer, env: NodeJS.ProcessEnv = {}): Stage {
  const agents = temporaryDirectory();
  const { HOME, SHELL, HANDOFF_TMUX_SOCKET } = server.env;
  writeFileSync(join(agents, 'claude'), `#!/bin/sh\nexec ${process.execPath} ${SCRIPT} "$@"\n`);
  chmodSync(join(agents, 'claude'), 0o755);
  const own = {
    HOME,
    SHELL,
    HANDOFF_TMUX_SOCKET,
    PATH: `${agents}:${process.env.PATH}`,
    AGENT_DIR: agents,
    AGENT_HOOK: HOOK,
    ...env,
  };
  const place = open(copy(), { env: own });
  const options = { cwd: place.dir, env: { ...isolatedEnv, ...place.env } };
  const agent: Stage['agent'] = (role, mode) => writeFileSync(join(agents, `as-${role}`), JSON.stringify(mode));
  agent('predecessor', {});
  agent('successor', {});
  const log = () => readLog(join(agents, 'log'));
  onTestFinished(() => endAll(log(), join(place.dir, '.git/handoff/relays/driver')));
  const handoff: Stage['handoff'] = (...args) => run(args, options);
  return {
    place,
    agents,
    agent,
    log,
    handoff,
    begin: (...args) => begin(args, options),
    json: (...args) => JSON.parse(handoff(...args, '--json').stdout),
    async start(prompt) {
      const program = { node: process.execPath, hook: HOOK };
      const repository = openRepositoryAt(place.dir, { env: options.env, host: nodeHost, program });
      const started = await agentRun(repository, { as: 'donna', runtime: 'claude', ...(prompt ? { prompt } : {}) });
      await repository.close();
      await until('the agent is idle', () => log().some(({ event }) => event === (prompt ? 'Stop' : 'SessionStart')));
      return started;
    },
  };
}

function readLog(path: string): Logged[] {
  if (!existsSync(path)) return [];
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line));
}

/** Nothing of a test runs on: each by its own number, and the one that drives last, since events start it. */
async function endAll(logged: readonly Logged[], drivers: string): Promise<void> {
  for (const pid of new Set(logged.map((entry) => entry.pid))) end(pid);
  await sleep(500); // whoever looked last may just have started one
  for (const file of existsSync(drivers) ? readdirSync(drivers) : []) {
    const { pid } = JSON.parse(readFileSync(join(drivers, file), 'utf8'));
    end(pid);
    await until('it has ended', () => !nodeHost.isRunning(pid));
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
