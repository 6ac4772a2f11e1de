import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import type { RelayEntry } from '../../src/verbs/relay/relays.ts';
import { recordsOf } from '../verbs/agents.ts';
import { type Mode, type Stage, stage } from './scripted.ts';
import { BUSY, hasTmux, tmuxServer, until } from './tmux-server.ts';

// Whatever an agent does wrong, the operator is told what and where, nothing goes on by itself, and there is a way out.

const LONG = '60';

describe.skipIf(!hasTmux)('a relay in which something is wrong', BUSY, () => {
  const server = tmuxServer(afterAll);

  /** A relay of an idle agent, through to where it halts. */
  async function relayed(mode: Mode, { timeout = LONG, successor = {} as Mode, flags = [] as string[] } = {}) {
    const at = stage(server);
    at.agent('predecessor', mode);
    at.agent('successor', successor);
    const { session_id } = await at.start();
    const ran = at.handoff('relay', session_id, '--wait', '--timeout', timeout, ...flags, '--json');
    return { at, id: session_id, relay: JSON.parse(ran.stdout) as RelayEntry };
  }

  const kinds = (at: Stage, session: string) => recordsOf(at.place, session).map(({ name }) => name);
  const done = async (at: Stage, id: string) => {
    await until('it is done', () => at.json('relay', 'show', id).state === 'done');
    return at.json('relay', 'show', id);
  };
  const successors = (at: Stage) => at.log().filter(({ role, begun }) => role === 'successor' && begun).length;

  describe('what the agent wrote', () => {
    test.each<[Mode['write'], string]>([
      ['nothing', 'baton_missing'],
      ['elsewhere', 'baton_missing'],
      ['folder', 'baton_missing'],
      ['link', 'baton_missing'],
      ['empty', 'baton_empty'],
      ['blank', 'baton_empty'],
      ['large', 'too_large'],
      ['secret', 'secret_found'],
    ])('%s: %s, and nothing is signed; once it is mended the relay goes on', async (write, code) => {
      const { at, id, relay } = await relayed({ write: write! });
      expect(relay).toMatchObject({ state: 'failed', step: 'instructed', error: { step: 'authored', code } });
      expect(relay.exits).toEqual(['retry', 'abandon', 'force']);
      expect(kinds(at, id)).toEqual(['0001-start.yaml']);
      rmSync(relay.draft_path, { recursive: true, force: true });
      writeFileSync(relay.draft_path, 'What I know: the reader is done.\n');
      expect(at.json('relay', 'retry', id)).toMatchObject({ state: 'under_way', error: null });
      await done(at, id);
      expect(at.log().filter(({ typed }) => typed?.startsWith('[relay'))).toHaveLength(1);
    });

    test('who is asked again, because nothing was there, is asked with another token', async () => {
      const { at, id } = await relayed({ write: 'nothing' });
      at.agent('predecessor', {});
      at.json('relay', 'retry', id);
      await done(at, id);
      const typed = at.log().flatMap((entry) => (entry.typed?.startsWith('[relay') ? entry.typed : []));
      expect([typed.length, new Set(typed).size]).toEqual([2, 2]);
    });

    test('by force what is known is put together, and it says so', async () => {
      const { at, id } = await relayed({ write: 'nothing' });
      expect(at.json('relay', 'force', id, '--reason', 'it will not write')).toMatchObject({ state: 'under_way' });
      const { forced } = await done(at, id);
      expect(forced).toMatchObject([{ step: 'authored', reason: 'it will not write' }]);
      const baton = recordsOf(at.place, id).find(({ name }) => name.endsWith('baton.md'))!;
      expect(baton.body).toMatch(/^Reconstructed by git-handoff/);
    });

    test('by force what seems to be a secret goes in, and the record says that a person allowed it', async () => {
      const { at, id } = await relayed({ write: 'secret' });
      at.json('relay', 'force', id, '--reason', 'an example key');
      await done(at, id);
      const baton = recordsOf(at.place, id).find(({ name }) => name.endsWith('baton.md'))!;
      expect(baton.fields.secret_allowed).toBe(true);
    });
  });

  describe('what was said to the agent', () => {
    test('a dialog swallows it: unconfirmed, not sent again unasked, and again when somebody asks', async () => {
      const { at, id, relay } = await relayed({ takes: false }, { timeout: '3' });
      expect(relay).toMatchObject({
        state: 'failed',
        step: 'initiated',
        error: { step: 'instructed', code: 'delivery_unconfirmed' },
      });
      const sent = () => at.log().filter(({ typed }) => typed?.startsWith('[relay')).length;
      expect(sent()).toBe(1);
      at.agent('predecessor', {});
      at.json('relay', 'retry', id);
      await done(at, id);
      expect(sent()).toBe(2);
    });

    test('no hooks at all: unconfirmed; by force it goes on, and the file is waited for', async () => {
      const at = stage(server);
      const { session_id: id } = await at.start();
      at.agent('predecessor', { hooks: false });
      const ran = at.handoff('relay', id, '--wait', '--timeout', '3', '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'delivery_unconfirmed' } });
      at.json('relay', 'force', id, '--reason', 'I saw it take the text');
      await until('it has waited', () => at.json('relay', 'show', id).state === 'failed');
      expect(at.json('relay', 'show', id)).toMatchObject({
        step: 'instructed',
        error: { step: 'authored', code: 'relay_timeout' },
      });
      at.json('relay', 'retry', id);
      await done(at, id);
    });

    test('busy: it is told at the end of its turn, by an answer to its hook, without a key', async () => {
      const at = stage(server);
      const { session_id: id } = await at.start();
      writeFileSync(`${at.place.dir}/.git/handoff/sessions/${id}/agent-turn`, 'prompt\n');
      at.json('relay', id);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(at.log().some(({ typed }) => typed !== undefined)).toBe(false);
      server.ask('send-keys', '-t', pane(at), 'hello', 'Enter');
      await done(at, id);
      const typed = at.log().flatMap((entry) => (entry.role === 'predecessor' && entry.typed ? entry.typed : []));
      expect(typed).toEqual(['hello', '/exit']);
      expect(at.log().flatMap(({ held }) => held ?? [])).toEqual([
        expect.stringMatching(/^\[relay .*to exactly this file/),
      ]);
    });

    test('late and repeated events: each step once, one successor', async () => {
      const { at, relay, id } = await relayed({ double: true }, { successor: { double: true } });
      expect(relay.history).toHaveLength(9);
      expect([kinds(at, id).filter((name) => name.endsWith('baton.md')).length, successors(at)]).toEqual([1, 1]);
      expect(recordsOf(at.place, relay.successor!.session_id!)).toHaveLength(1);
    });
  });

  describe('what the agent does', () => {
    test('it never stops: the relay is told so after its time; abandoned, the agent keeps the work', async () => {
      const { at, id, relay } = await relayed({ stops: false, write: 'nothing' }, { timeout: '3' });
      expect(relay).toMatchObject({ step: 'instructed', error: { step: 'authored', code: 'relay_timeout' } });
      expect(at.json<{ left: string }>('relay', 'abandon', id).left).toContain('keeps the work');
      expect(at.json<{ sessions: object[] }>('sessions').sessions).toMatchObject([{ session_id: id, state: 'active' }]);
      expect(at.handoff('note', '--as', 'donna', 'still here').code).toBe(0);
      at.agent('predecessor', {});
    });

    test('a task in the background: that stop is not the end of it', async () => {
      const { at, id, relay } = await relayed({ behind: true }, { timeout: '3' });
      expect(relay).toMatchObject({ step: 'instructed', error: { step: 'authored', code: 'relay_timeout' } });
      expect(at.json('relay', 'retry', id)).toMatchObject({ state: 'under_way' });
      await done(at, id);
    });

    test('it crashes before it wrote: noticed by its process, and not by a timeout', async () => {
      const { relay } = await relayed({ dies: 'stop', write: 'nothing' });
      expect(relay).toMatchObject({
        state: 'failed',
        step: 'instructed',
        error: { step: 'authored', code: 'agent_gone' },
      });
      expect(relay.error!.hint).toContain('salvage');
    });

    test('it crashes before it took the instruction', async () => {
      const { relay } = await relayed({ dies: 'prompt' });
      expect(relay).toMatchObject({
        state: 'failed',
        step: 'initiated',
        error: { step: 'instructed', code: 'agent_gone' },
      });
    });

    test('it does not end: its baton is there, and somebody ends it or leaves it', async () => {
      const { at, id, relay } = await relayed({ leaves: false }, { timeout: '3' });
      expect(relay).toMatchObject({ step: 'recorded', error: { step: 'ended', code: 'agent_still_running' } });
      expect(kinds(at, id).at(-1)).toMatch(/baton\.md$/);
      at.json('relay', 'force', id, '--reason', 'I look after it');
      await done(at, id);
    });

    test('--keep leaves it running', async () => {
      const { at, relay } = await relayed({ leaves: false }, { flags: ['--keep'] });
      expect(relay.state).toBe('done');
      expect(at.log().some(({ typed }) => typed === '/exit')).toBe(false);
    });
  });

  describe('the successor', () => {
    test('does not start: a retry starts another one, and only that one has the session', async () => {
      const { at, id, relay } = await relayed({}, { successor: { dies: 'start' } });
      expect(relay).toMatchObject({
        state: 'failed',
        error: { code: expect.stringMatching(/^(?:spawn_failed|agent_gone)$/) },
      });
      at.agent('successor', {});
      at.json('relay', 'retry', id);
      const { successor } = await done(at, id);
      expect(recordsOf(at.place, successor!.session_id!)).toHaveLength(1);
    });

    test('has no hooks: told so; by force its session is opened for it and the prompt is typed', async () => {
      const { at, id, relay } = await relayed({}, { timeout: '3', successor: { hooks: false } });
      expect(relay).toMatchObject({ step: 'spawned', error: { step: 'primed', code: 'prime_failed' } });
      at.json('relay', 'force', id, '--reason', 'hooks are off there');
      await until('it is typed', () => at.json('relay', 'show', id).error?.step === 'done');
      expect(at.json('relay', 'force', id, '--reason', 'I saw it')).toMatchObject({ state: 'done' });
      expect(successors(at)).toBe(1);
      const { successor } = at.json('relay', 'show', id);
      expect(recordsOf(at.place, successor!.session_id!)).toHaveLength(1);
    });

    test('another identity continues', async () => {
      const { at, relay, id } = await relayed({}, { flags: ['--next-agent', 'erin'] });
      expect(relay).toMatchObject({ state: 'done', next_agent: 'erin' });
      expect(recordsOf(at.place, relay.successor!.session_id!)[0]!.fields).toMatchObject({
        identity: 'erin',
        predecessor_session_id: id,
      });
    });

    test('has a skill: that is taken in first, and the prompt comes at the end of that turn', async () => {
      const at = stage(server);
      const skill = 'You read first, and you speak plainly.\n';
      writeFileSync(`${at.agents}/skill.md`, skill);
      expect(at.handoff('identity', 'skill', 'donna', `${at.agents}/skill.md`).code).toBe(0);
      const { session_id: id } = await at.start();
      const ran = at.handoff('relay', id, '--wait', '--timeout', LONG, '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', error: null });
      const own = at.log().filter(({ role }) => role === 'successor');
      expect(own.find(({ event }) => event === 'SessionStart')!.answer).toContain(skill.trim());
      // as the answer to the end of that turn or, where a driver was faster, typed after it: once, whichever it is
      const told = own.flatMap(({ event, prompt, held }) => [
        ...(event === 'UserPromptSubmit' && prompt ? [prompt] : []),
        ...(held ? [held] : []),
      ]);
      expect(told).toEqual([
        expect.stringContaining('skill.md'),
        expect.stringMatching(/^\[relay .*You continue the work/),
      ]);
    });

    test('can be replaced itself', async () => {
      const { at, relay } = await relayed({});
      const second = relay.successor!.session_id!;
      const ran = at.handoff('relay', second, '--wait', '--timeout', LONG, '--json');
      expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', session_id: second });
      expect(successors(at)).toBe(2);
    });
  });

  describe('two at once', () => {
    test('of two who trigger, one gets it and the other is told so', async () => {
      const at = stage(server);
      const { session_id: id } = await at.start();
      const both = await Promise.all([at.begin('relay', id, '--json').ended, at.begin('relay', id, '--json').ended]);
      expect(both.map(({ code }) => code).sort()).toEqual([0, 3]);
      await done(at, id);
      expect(at.json<{ relays: object[] }>('relay', 'list').relays).toHaveLength(1);
    });

    test('a trigger after a failed one waits for its end; after an abandoned one it begins anew', async () => {
      const { at, id } = await relayed({ write: 'nothing' });
      expect(at.handoff('relay', id).code).toBe(3);
      at.json('relay', 'abandon', id);
      at.agent('predecessor', {});
      expect(at.json('relay', id)).toMatchObject({ relay_id: `${id}.2` });
      await done(at, id);
    });

    test('after one that is done there is nobody left to replace', async () => {
      const { at, id } = await relayed({});
      expect(at.json<{ error: object }>('relay', id).error).toMatchObject({
        data: { status: 400, error: 'Agent is not active' },
      });
    });
  });

  /** Where the predecessor sits. */
  function pane(at: Stage): string {
    const { session_id } = at.json<{ relays: RelayEntry[] }>('relay', 'list').relays[0]!;
    const file = `${at.place.dir}/.git/handoff/agents/${session_id}.json`;
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).seat.place.pane : '';
  }
});
