import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI, run } from '../cli/cli.ts';
import type { Place } from '../handoff.ts';
import { git, temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, worktree } from '../verbs/agents.ts';
import { hasTmux, tmuxServer, until } from './tmux-server.ts';

const copy = template();

/** Says what it sees, then reads until it is told to end. */
const AGENT = `
printf '%s\\n' "$HANDOFF_IDENTITY" "$HANDOFF_SESSION" "$HANDOFF_PREVIOUS_SESSION" "$HANDOFF_PROMPT" "$SETTING" "$CLAUDECODE" "$PWD" > seen
while read -r line; do printf '%s\\n' "$line" >> heard; case $line in /exit) exit 0 ;; esac; done
`;

describe.skipIf(!hasTmux)('an agent in a terminal', () => {
  const server = tmuxServer(afterAll);

  function here(env: NodeJS.ProcessEnv = {}): Place {
    const { HOME, SHELL, HANDOFF_TMUX_SOCKET } = server.env;
    return open(copy(), { env: { HOME, SHELL, HANDOFF_TMUX_SOCKET, ...env } });
  }

  /** A program on the PATH by that name. */
  function installed(name: string, script = AGENT): string {
    const folder = temporaryDirectory();
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}`);
    chmodSync(join(folder, name), 0o755);
    return `${folder}:${process.env.PATH}`;
  }

  const panes = (): string[] => server.ask('list-panes', '-a', '-F', '#{pane_id}').split('\n').filter(Boolean);

  async function seen({ dir }: Place): Promise<string[]> {
    const path = join(dir, 'seen');
    await until('the agent has said what it sees', () => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
    return readFileSync(path, 'utf8').split('\n');
  }

  it('is started in the session that it belongs to, and is in the list until it has ended', async () => {
    const place = here({ SETTING: "it's; $(x)\n2", CLAUDECODE: '1' });
    const { session_id, ...started } = await place.handoff.agent.run({ as: 'donna', command: ['sh', '-c', AGENT] });
    expect(started).toMatchObject({ identity: 'donna', runtime: null, opened: 'started', directory: place.dir });
    expect(started.terminal).toEqual({ kind: 'tmux', socket: server.socket, pane: expect.stringMatching(/^%\d+$/) });
    expect(await seen(place)).toEqual(['donna', session_id, '', '', "it's; $(x)", '2', '', place.dir, '']);
    const { agents } = await place.handoff.agent.list();
    expect(agents).toMatchObject([
      { session_id, state: 'running', terminal: started.terminal, relay: null, task_ids: [] },
    ]);
    const again = place.handoff.agent.run({ as: 'donna', command: ['cat'] });
    await expect(again).rejects.toMatchObject({ code: 'identity_conflict', exitCode: 3 });
    expect(await place.handoff.agent.stop({ id: session_id.slice(0, 8) })).toMatchObject({ state: 'gone' });
    expect(panes()).not.toContain(started.terminal.pane);
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [{ state: 'gone' }] });
    expect(await place.handoff.agent.stop({ id: 'donna' })).toMatchObject({ session_id, state: 'gone' });
    const next = await place.handoff.agent.run({ as: 'donna', command: ['cat'] });
    expect(next).toMatchObject({ session_id, opened: 'resumed' });
    await place.handoff.wrap({ as: 'donna', message: 'the end' });
    await place.handoff.agent.stop({ id: 'donna' });
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [] });
    expect(await place.handoff.agent.list({ all: true })).toMatchObject({ agents: [{ state: 'ended' }] });
  });

  it('picks up what waits for it, and claims the task that it is given', async () => {
    const place = here();
    await place.handoff.task.add({ id: 'T1', title: 'first' });
    const first = await place.handoff.start({ as: 'donna' });
    await place.handoff.wrap({ as: 'donna', message: 'go on', nextAgent: 'erin' });
    const prompt = 'what it is told; $(first)';
    const erin = await place.handoff.agent.run({ as: 'erin', prompt, command: ['sh', '-c', AGENT] });
    expect(erin).toMatchObject({ opened: 'picked_up', previous_session_id: first.session_id });
    expect((await seen(place)).slice(0, 4)).toEqual(['erin', erin.session_id, first.session_id, prompt]);
    await place.handoff.agent.stop({ id: 'erin' });
    await place.handoff.identity.add({ name: 'rick' });
    const fresh = await place.handoff.agent.run({ as: 'rick', task: 'T1', worktree: true, command: ['cat'] });
    expect(fresh.directory).not.toBe(place.dir);
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [{}, { identity: 'rick', task_ids: ['T1'] }] });
  });

  it('is a runtime with its first prompt as an argument, ended by its own exit word', async () => {
    const script = `printf '%s\\n' "$@" > args\n${AGENT}`;
    const place = here({ PATH: installed('codex', script) });
    const { session_id } = await place.handoff.agent.run({ as: 'donna', runtime: 'codex', prompt: 'login' });
    await seen(place);
    expect(readFileSync(join(place.dir, 'args'), 'utf8')).toBe('-c\nfeatures.daemon_auto_start=false\n login\n');
    const stopping = place.handoff.agent.stop({ id: session_id, timeout: '1' });
    await expect(stopping).rejects.toMatchObject({ code: 'agent_still_running', exitCode: 1 });
    expect(readFileSync(join(place.dir, 'heard'), 'utf8')).toBe('/quit\n');
    await place.handoff.agent.stop({ id: session_id, timeout: '1', force: true });
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [{ state: 'gone' }] });
  });

  it('is not typed to while something else reads its terminal', async () => {
    const script = 'set -m; sh -c "echo > child; exec sleep 1000"; sleep 1000';
    const place = here({ PATH: installed('claude', script) });
    const { session_id } = await place.handoff.agent.run({ as: 'donna', runtime: 'claude' });
    await until('its child reads the keys', () => existsSync(join(place.dir, 'child')));
    const stopping = place.handoff.agent.stop({ id: session_id });
    await expect(stopping).rejects.toMatchObject({ code: 'agent_gone' });
    await place.handoff.agent.stop({ id: session_id, timeout: '1', force: true });
  });

  it('is shown by a command', async () => {
    const place = here();
    const { session_id, terminal } = await place.handoff.agent.run({ as: 'donna', command: ['cat'] });
    const command = ['tmux', '-S', server.socket, 'attach-session', '-t', terminal.pane];
    expect(await place.handoff.agent.attach({ id: 'donna' })).toMatchObject({ session_id, command, attached: false });
    server.ask('kill-pane', '-t', terminal.pane);
    await expect(place.handoff.agent.attach({ id: session_id })).rejects.toMatchObject({ code: 'no_terminal' });
    await expect(place.handoff.agent.attach({ id: 'nobody' })).rejects.toMatchObject({ code: 'unknown_session' });
  });

  it('says how full its context is, and warns from 75 % on', async () => {
    const place = here();
    const { session_id } = await place.handoff.agent.run({ as: 'donna', command: ['cat'] });
    const path = join(place.dir, '.git/handoff/sessions', session_id, 'agent-context');
    const keep = (percent: unknown) => writeFileSync(path, JSON.stringify({ used_percentage: percent, at: 'now' }));
    keep(74);
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [{ context_used: 74 }], warnings: [] });
    keep(75.4);
    const { warnings } = await place.handoff.agent.list();
    expect(warnings).toMatchObject([{ kind: 'context_nearly_full', message: expect.stringContaining('75 % full') }]);
    expect((await place.handoff.status({ as: 'donna' })).warnings).toMatchObject(warnings);
    for (const wrong of [-1, 101, '80', null]) {
      keep(wrong);
      expect(await place.handoff.agent.list()).toMatchObject({ agents: [{ context_used: null }] });
    }
  });

  describe('that cannot be started leaves nothing behind:', () => {
    const sessionsOf = async (place: Place): Promise<string[]> =>
      (await place.handoff.sessions()).sessions.map(({ identity }) => identity);

    async function refused(place: Place, options: Parameters<Place['handoff']['agent']['run']>[0], code: string) {
      const before = panes();
      await expect(place.handoff.agent.run(options)).rejects.toMatchObject({ code });
      const after = (): string[] => panes().filter((pane) => !before.includes(pane));
      await until('no terminal is left', () => after().length === 0);
      const agents = join(place.dir, '.git/handoff/agents');
      expect(existsSync(agents) ? readdirSync(agents) : []).toEqual([]);
    }

    it('no such program', async () => {
      const place = here();
      await refused(place, { as: 'donna', command: ['no-such-program'] }, 'spawn_failed');
      await refused(place, { as: 'donna', command: [place.dir] }, 'spawn_failed');
      await refused(place, { as: 'donna', runtime: 'claude', command: ['./no-such'] }, 'spawn_failed');
      expect(await sessionsOf(place)).toEqual([]);
    });

    it('no name, a name that nobody has, one whose key is elsewhere', async () => {
      const place = here();
      await refused(place, { command: ['cat'] }, 'usage');
      await refused(place, { as: 'nobody', command: ['cat'] }, 'unknown_identity');
      await refused(place, { as: 'donna', command: ['cat'], prompt: ' ' }, 'usage');
      const elsewhere = open(place, { env: { HANDOFF_KEYS: temporaryDirectory() } });
      await refused(elsewhere, { as: 'donna', command: ['cat'] }, 'no_key');
      expect(await sessionsOf(place)).toEqual([]);
    });

    it('no tmux, or none that answers', async () => {
      const place = here();
      const bin = temporaryDirectory();
      const without = open(place, { env: { PATH: git(place.dir, '--exec-path') } });
      await refused(without, { as: 'donna', command: ['/bin/cat'] }, 'no_terminal');
      const socket = join(bin, 'no/such/folder/socket');
      const dead = open(place, { env: { HANDOFF_TMUX_SOCKET: socket } });
      await refused(dead, { as: 'donna', command: ['cat'] }, 'no_terminal');
      expect(await sessionsOf(place)).toEqual([]);
    });

    it('a session of that name in another work tree', async () => {
      const place = here();
      await worktree(place, 'other').handoff.start({ as: 'donna' });
      await refused(place, { as: 'donna', command: ['cat'] }, 'identity_conflict');
      await refused(place, { as: 'erin', worktree: true, command: ['cat'] }, 'usage');
      expect(await sessionsOf(place)).toEqual(['donna']);
    });

    it('a program that ends at once', async () => {
      const place = here();
      const command = ['sh', '-c', 'echo no luck today; exec git-handoff-has-no-such-program'];
      const error = await place.handoff.agent.run({ as: 'donna', command }).catch((found) => found);
      // where it has run for a moment it was started, and the list says that it is gone
      if (error.code) expect(error).toMatchObject({ code: 'spawn_failed', message: /no luck today|said nothing/ });
      await until('it is gone', async () =>
        (await place.handoff.agent.list()).agents.every(({ state }) => state === 'gone'),
      );
    });

    it('a state directory that cannot be written', async () => {
      const place = here();
      await place.handoff.start({ as: 'donna' });
      writeFileSync(join(place.dir, '.git/handoff/agents'), 'in the way');
      const before = panes();
      const running = place.handoff.agent.run({ as: 'donna', command: ['cat'] });
      await expect(running).rejects.toMatchObject({ code: 'io', exitCode: 4 });
      await until('no terminal is left', () => panes().every((pane) => before.includes(pane)));
    });
  });

  it('is bound by its first event where it was started by hand, and not to the terminal of another', async () => {
    const place = here();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const told = join(temporaryDirectory(), 'told');
    const event = [process.execPath, CLI, 'agent-event', 'claude', 'SessionStart'];
    const program = `
      const { spawnSync } = require('node:child_process');
      spawnSync(${JSON.stringify(event[0])}, ${JSON.stringify(event.slice(1))}, { input: '{}', cwd: ${JSON.stringify(place.dir)} });
      require('node:fs').writeFileSync(${JSON.stringify(told)}, String(process.pid));
      setInterval(() => {}, 1000);`;
    const env = Object.entries(place.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    // as a shell does that a person types into: each job leads a group of its own
    const shell = ['sh', '-c', 'set -m; "$0" -e "$1"; sleep 1000', process.execPath, program];
    server.ask('new-session', '-d', '-s', 'by-hand', ...env, ...shell);
    await until('the event was told', () => existsSync(told));
    const pane = server.ask('display-message', '-p', '-t', 'by-hand:', '#{pane_id}').trim();
    const { agents } = await place.handoff.agent.list();
    expect(agents).toMatchObject([{ session_id, runtime: 'claude', state: 'running', terminal: { pane } }]);
    const register = (): string => readFileSync(join(place.dir, `.git/handoff/agents/${session_id}.json`), 'utf8');
    expect(JSON.parse(register()).program.pid).toBe(Number(readFileSync(told, 'utf8')));
    // a program that serves several terminals has the environment of the first
    const foreign = { ...place.env, TMUX: `${server.socket},1,0`, TMUX_PANE: pane };
    const { code } = run(['agent-event', 'claude', 'SessionStart'], { cwd: place.dir, env: foreign });
    expect(code).toBe(0);
    expect(await place.handoff.agent.list()).toMatchObject({ agents: [{ session_id, terminal: null }] });
  });
});
