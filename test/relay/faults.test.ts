import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { nodeHost } from '../../src/host.ts';
import { STEPS, type Step } from '../../src/relay/cycle/steps.ts';
import type { RelayEntry } from '../../src/verbs/relay/relays.ts';
import { git } from '../temporary.ts';
import { recordsOf } from '../verbs/agents.ts';
import { type Mode, type Stage, stage } from './scripted.ts';
import { BUSY, hasTmux, tmuxServer, until } from './tmux-server.ts';

// Whoever drives is killed at every step, and so are the agents and their terminals: what was made stays made, nothing is made twice,
// and the next command that looks goes on.

const BEFORE_THE_END = STEPS.filter((step) => step !== 'done');

describe.skipIf(!hasTmux)('a relay whose processes are killed', BUSY, () => {
  const server = tmuxServer(afterAll);

  const folder = (at: Stage) => join(at.place.dir, '.git/handoff/relays');
  const steps = (at: Stage, relay: string): Step[] => {
    const names = existsSync(join(folder(at), relay)) ? readdirSync(join(folder(at), relay)) : [];
    const files = names.filter((name) => name.endsWith('.json')).sort();
    return files.map((name) => JSON.parse(readFileSync(join(folder(at), relay, name), 'utf8')).step);
  };
  const drivers = (at: Stage): number[] => {
    const place = join(folder(at), 'driver');
    const files = existsSync(place) ? readdirSync(place) : [];
    return files.map((name) => JSON.parse(readFileSync(join(place, name), 'utf8')).pid).filter(nodeHost.isRunning);
  };
  const killDrivers = (at: Stage) => {
    for (const pid of drivers(at)) process.kill(pid, 'SIGKILL');
  };
  const ended = async (at: Stage, id: string, state = 'done'): Promise<RelayEntry> => {
    await until(`it is ${state}`, () => at.json('relay', 'show', id).state === state);
    return at.json('relay', 'show', id);
  };

  /** Nothing was made twice, and nothing is left over. */
  function expectOnce(at: Stage, id: string, relay: RelayEntry): void {
    expect(relay.history.map(({ step }) => step).filter((step) => step !== 'failed')).toEqual(
      expect.arrayContaining([...STEPS]),
    );
    const begun = at.log().filter(({ role, begun: argv }) => role === 'successor' && argv);
    const typed = at.log().filter(({ role, typed: text }) => role === 'predecessor' && text?.startsWith('[relay'));
    const batons = recordsOf(at.place, id).filter(({ name }) => name.endsWith('baton.md'));
    expect([begun.length, typed.length, batons.length]).toEqual([1, 1, 1]);
    expect(recordsOf(at.place, relay.successor!.session_id!)).toHaveLength(1);
    expect(at.json('verify')).toMatchObject({ findings: [] });
  }

  test.each(BEFORE_THE_END)('whoever drives is killed as soon as it is %s: who looks next goes on', async (step) => {
    const at = stage(server);
    const { session_id: id } = await at.start();
    const waiting = at.begin('relay', id, '--wait', '--timeout', '60');
    await until(`it is ${step}`, () => steps(at, `${id}.1`).includes(step));
    waiting.child.kill('SIGKILL');
    killDrivers(at);
    await waiting.ended;
    await until('it halts', () => at.json('relay', 'show', id).state !== 'under_way');
    const halted = at.json('relay', 'show', id);
    // whoever was killed between saying that it types and typing leaves it to a person: nobody knows whether it was sent
    if (halted.error?.code === 'delivery_unconfirmed') at.json('relay', 'retry', id);
    else expect(halted.state).toBe('done');
    expectOnce(at, id, await ended(at, id));
  });

  test('two who drive at once and the hooks make each step once', async () => {
    const at = stage(server);
    const { session_id: id } = await at.start();
    at.json('relay', id);
    const both = [at.begin('relay', 'drive'), at.begin('relay', 'drive')];
    const relay = await ended(at, id);
    await Promise.all(both.map((each) => each.ended));
    expectOnce(at, id, relay);
  });

  test('one process drives all relays, and ends when none is under way', async () => {
    const at = stage(server);
    const { session_id: id } = await at.start();
    at.json('relay', id);
    await until('somebody drives', () => drivers(at).length === 1);
    at.json('relay', 'list');
    expect(drivers(at)).toHaveLength(1);
    const relay = await ended(at, id);
    await until('nobody drives any more', () => drivers(at).length === 0);
    expectOnce(at, id, relay);
    expect(readdirSync(join(folder(at), 'open'))).toEqual([]);
  });

  test.each<[string, Mode, Step, string]>([
    ['the predecessor, while it is waited for', { stops: false, write: 'nothing' }, 'instructed', 'agent_gone'],
    ['the successor, before its session is open', {}, 'spawned', 'agent_gone'],
  ])('%s is killed: told by name', async (who, mode, step, code) => {
    const at = stage(server);
    at.agent('predecessor', mode);
    at.agent('successor', { hooks: step !== 'spawned' });
    const { session_id: id } = await at.start();
    at.json('relay', id);
    await until(`it is ${step}`, () => steps(at, `${id}.1`).includes(step));
    const role = who.startsWith('the successor') ? 'successor' : 'predecessor';
    await until('it runs', () => at.log().some((entry) => entry.role === role));
    process.kill(at.log().findLast((entry) => entry.role === role)!.pid, 'SIGKILL');
    expect((await ended(at, id, 'failed')).error).toMatchObject({ code });
  });

  test('the server of all terminals is killed: told, and once there is one again a retry goes on', async () => {
    const own = tmuxServer(afterAll);
    const at = stage(own);
    at.agent('successor', { hooks: false });
    const { session_id: id } = await at.start();
    at.json('relay', id);
    await until('the successor runs', () => at.log().some(({ role }) => role === 'successor'));
    own.ask('kill-server');
    expect((await ended(at, id, 'failed')).error).toMatchObject({ step: 'primed', code: 'agent_gone' });
    at.agent('successor', {});
    at.json('relay', 'retry', id);
    const relay = await ended(at, id);
    expect(recordsOf(at.place, relay.successor!.session_id!)).toHaveLength(1);
  });

  test('a draft that is staged is refused before anybody is asked for one', async () => {
    const at = stage(server);
    const { session_id: id } = await at.start();
    const path = '.handoff/drafts/donna/old.md';
    git(
      at.place.dir,
      'update-index',
      '--add',
      '--cacheinfo',
      `100644,${git(at.place.dir, 'hash-object', '-w', '/dev/null').trim()},${path}`,
    );
    expect(at.json<{ error: object }>('relay', id).error).toMatchObject({ code: 'path_mismatch', data: { path } });
    expect(at.json<{ relays: object[] }>('relay', 'list').relays).toEqual([]);
  });
});
