import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { RelayEntry } from '../../src/verbs/relay/relays.ts';
import type { RelayBegun } from '../../src/verbs/relay/trigger.ts';
import { git } from '../temporary.ts';
import { recordsOf, type StoredRecord } from '../verbs/agents.ts';
import { type Logged, type Mode, stage } from './scripted.ts';
import { BUSY, hasTmux, type TmuxServer, tmuxServer, until } from './tmux-server.ts';

// The requirements that the relay was conceived from, each under its number or the title of its scenario, with a program that
// behaves as an agent's does in a real terminal.

/** What was seen of one whole relay. */
interface Cycle {
  begun: RelayBegun;
  took: number;
  relay: RelayEntry;
  log: Logged[];
  baton: StoredRecord;
  pickup: StoredRecord;
  session: string;
  states: Record<string, string>;
  dir: string;
  draft: string;
  status: string;
  again: { code: number | null; stdout: string };
}

async function cycle(server: TmuxServer): Promise<Cycle> {
  const at = stage(server);
  const { session_id: session } = await at.start();
  const from = performance.now();
  const begun = at.json<RelayBegun>('relay', session, '--reason', 'context_limit');
  const took = performance.now() - from;
  const again = at.handoff('relay', session, '--json');
  await until('it is done', () => at.json('relay', 'show', session).state === 'done');
  const relay = at.json('relay', 'show', session);
  const { sessions } = at.json<{ sessions: { session_id: string; state: string }[] }>('sessions');
  return {
    begun,
    took,
    relay,
    log: at.log(),
    baton: recordsOf(at.place, session).find(({ name }) => name.endsWith('baton.md'))!,
    pickup: recordsOf(at.place, relay.successor!.session_id!)[0]!,
    session,
    states: Object.fromEntries(sessions.map((each) => [each.session_id, each.state])),
    dir: at.place.dir,
    draft: readFileSync(relay.draft_path, 'utf8'),
    status: git(at.place.dir, 'status', '--porcelain', '--untracked-files=all'),
    again,
  };
}

describe.skipIf(!hasTmux)('the requirements of the relay, in a cycle that goes well', BUSY, () => {
  const server = tmuxServer(afterAll);
  let once: Promise<Cycle> | undefined;
  const seen = () => (once ??= cycle(server));
  const told = (log: readonly Logged[], role: Logged['role']) => log.filter((entry) => entry.role === role);
  const prompts = (log: readonly Logged[], role: Logged['role']) =>
    told(log, role).flatMap(({ event, prompt }) => (event === 'UserPromptSubmit' && prompt ? [prompt] : []));

  test('FR1: Valid handoff trigger: the agent and the reason are taken, and the answer is "initiated"', async () => {
    const { begun, session, relay } = await seen();
    expect(begun).toMatchObject({ status: 'initiated', session_id: session });
    expect(relay.reason).toBe('context_limit');
  });

  test('FR3: the path has the persona, the time and the first 8 characters of the session', async () => {
    const { relay, dir, session } = await seen();
    const [, name] = relay.draft_path.split(`${dir}/.handoff/drafts/donna/`);
    expect(name).toMatch(new RegExp(`^[0-9]{8}T[0-9]{6}-${session.slice(0, 8)}\\.md$`));
  });

  test('FR4: the folder is made, and git does not see what is in it', async () => {
    const { relay, status, draft } = await seen();
    expect(draft).not.toBe('');
    expect(dirname(relay.draft_path)).toMatch(/\/drafts\/donna$/);
    expect(status).not.toContain('drafts');
  });

  test('FR5: Handoff instruction sent: it names the file, and what to write', async () => {
    const { log, relay } = await seen();
    const [instruction] = prompts(log, 'predecessor');
    expect(instruction).toContain(relay.draft_path);
    for (const asked of [
      'what you were working on',
      'progress',
      'decisions',
      'blockers',
      'files modified',
      'next steps',
    ])
      expect(instruction).toContain(asked);
    expect(instruction).toContain('successor');
    expect(instruction).toContain('first person');
  });

  test('FR6: the instruction reaches the terminal of the agent, as one line, once', async () => {
    const { log } = await seen();
    const typed = told(log, 'predecessor').flatMap((entry) => entry.typed ?? []);
    expect(typed).toHaveLength(2);
    expect(typed[1]).toBe('/exit');
    expect(typed[0]).toMatch(/^\[relay [0-9a-f]{12}\] [^\p{C}]+$/u);
  });

  test('FR7 and FR8: Stop hook with handoff file present: the first stop after it leads to the file', async () => {
    const { relay } = await seen();
    expect(relay.history.map(({ step }) => step)).toEqual([
      'initiated',
      'instructed',
      'authored',
      'recorded',
      'ended',
      'spawned',
      'primed',
      'injected',
      'done',
    ]);
  });

  test('FR11: Handoff record created: who, why, which file and the prompt are in the signed baton', async () => {
    const { baton, draft, relay, session } = await seen();
    expect(baton.body).toBe(draft);
    expect(baton.fields).toMatchObject({ identity: 'donna', session_id: session, reason: 'context_limit' });
    expect(relay.baton).toEqual({ delta_id: baton.id, path: baton.path });
  });

  test('FR12: the injection prompt names the predecessor, the file and the task, as plain text', async () => {
    const { baton, relay, dir, session } = await seen();
    const prompt = `${baton.fields.injection_prompt}`;
    expect(prompt).toContain(`donna (session ${session.slice(0, 8)})`);
    expect(prompt).toContain(relay.draft_path.slice(dir.length + 1));
    expect(prompt).not.toContain(dir);
    expect(prompt).toMatch(/^[^\p{C}]+$/u);
  });

  test('FR13: Graceful shutdown: the agent receives /exit, and its session is over', async () => {
    const { log, session, states } = await seen();
    expect(told(log, 'predecessor').some(({ event }) => event === 'SessionEnd')).toBe(true);
    expect(states[session]).toBe('wrapped');
  });

  test('FR14: Successor created: with the same persona', async () => {
    const { log, relay } = await seen();
    const begun = told(log, 'successor').filter((entry) => entry.begun);
    expect(begun).toMatchObject([{ identity: 'donna', relay: relay.relay_id }]);
  });

  test("FR15: the successor's predecessor is the agent that ended", async () => {
    const { log, pickup, baton, session } = await seen();
    expect(told(log, 'successor')[0]!.env).toBe(session);
    expect(pickup.fields).toMatchObject({ identity: 'donna', predecessor_session_id: session, baton: baton.id });
  });

  test('FR17 and FR18: Sequenced delivery: first its session is opened, then it receives the prompt', async () => {
    const { log, baton } = await seen();
    const events = told(log, 'successor').flatMap(({ event }) => event ?? []);
    expect(events.slice(0, 2)).toEqual(['SessionStart', 'UserPromptSubmit']);
    const [first] = prompts(log, 'successor');
    expect(first!.replace(/^\[relay [0-9a-f]{12}\] /, '')).toBe(baton.fields.injection_prompt);
    expect(prompts(log, 'successor')).toHaveLength(1);
  });

  test('FR19: the successor reads the file with its own tools', async () => {
    const { log, draft } = await seen();
    expect(told(log, 'successor').flatMap(({ read }) => read ?? [])).toEqual([draft]);
  });

  test('NFR2: the trigger returns at once', async () => {
    const { took, relay } = await seen();
    const [first, ...later] = relay.history.map(({ at }) => Date.parse(at));
    expect(took).toBeLessThan(later.at(-1)! - first!);
  });

  test('NFR3: Agent already has handoff record: a second trigger is refused', async () => {
    const { again } = await seen();
    expect(again.code).toBe(3);
    expect(JSON.parse(again.stdout).error).toMatchObject({
      code: 'relay_in_progress',
      data: { status: 409, error: 'Handoff already in progress' },
    });
  });
});

describe.skipIf(!hasTmux)('the requirements of the relay, where something is wrong', BUSY, () => {
  const server = tmuxServer(afterAll);

  async function relayed(mode: Mode, successor: Mode = {}) {
    const at = stage(server);
    at.agent('predecessor', mode);
    at.agent('successor', successor);
    const { session_id } = await at.start();
    const { stdout, stderr, code } = at.handoff('relay', session_id, '--wait', '--timeout', '20', '--json');
    return { at, session_id, relay: JSON.parse(stdout) as RelayEntry, stderr, code };
  }

  test('FR9: Stop hook with handoff file missing: told, halted, and the session stays active', async () => {
    const { at, session_id, relay, stderr, code } = await relayed({ write: 'nothing' });
    expect(relay).toMatchObject({
      state: 'failed',
      step: 'instructed',
      error: { step: 'authored', code: 'baton_missing' },
    });
    expect([code, stderr.includes('failed at authored')]).toEqual([1, true]);
    expect(at.json<{ sessions: object[] }>('sessions').sessions).toMatchObject([{ session_id, state: 'active' }]);
    expect(at.log().every(({ role }) => role === 'predecessor')).toBe(true);
  });

  test('FR10: Stop hook with empty handoff file: as if it were missing', async () => {
    const { at, session_id, relay } = await relayed({ write: 'empty' });
    expect(relay).toMatchObject({ state: 'failed', error: { step: 'authored', code: 'baton_empty' } });
    expect(at.json<{ sessions: object[] }>('sessions').sessions).toMatchObject([{ session_id, state: 'active' }]);
  });

  test('FR16: Successor creation fails: told, and baton and draft are kept for a pickup by hand', async () => {
    const { at, relay, session_id } = await relayed({}, { dies: 'start' });
    expect(relay).toMatchObject({
      state: 'failed',
      error: { code: expect.stringMatching(/^(?:spawn_failed|agent_gone)$/) },
    });
    expect(existsSync(relay.draft_path) && statSync(relay.draft_path).size > 0).toBe(true);
    expect(relay.error!.hint).toMatch(/retry|by hand/);
    expect(at.json<{ left: string }>('relay', 'abandon', session_id).left).toContain(
      'git handoff pickup --from-session',
    );
    const { baton } = at.json<{ baton: { body: string } }>('pickup', '--as', 'donna', '--from-session', session_id);
    expect(baton.body).toBe(readFileSync(relay.draft_path, 'utf8'));
  });

  test('Normal stop hook unaffected: no relay, no answer', async () => {
    const at = stage(server);
    await at.start('say something');
    expect(at.log().filter(({ event }) => event === 'Stop')).toMatchObject([{ answer: '' }]);
    expect(existsSync(join(at.place.dir, '.handoff/drafts'))).toBe(false);
  });

  test('NFR1: Error notification: each step that is made or fails is told to the command that is set', async () => {
    const at = stage(server);
    at.agent('predecessor', { write: 'blank' });
    const heard = join(at.agents, 'heard');
    git(at.place.dir, 'config', 'handoff.notify', `tee -a ${heard}`);
    const { session_id } = await at.start();
    at.handoff('relay', session_id, '--timeout', '20');
    await until('the failure is told', () => existsSync(heard) && readFileSync(heard, 'utf8').includes('"failed"'));
    const notices = readFileSync(heard, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(notices.map(({ event, state, step }) => `${event} ${state} ${step}`)).toEqual([
      'relay under_way initiated',
      'relay under_way instructed',
      'relay failed instructed',
    ]);
    expect(notices.at(-1).error).toMatchObject({ step: 'authored', code: 'baton_empty' });
  });

  test('NFR4: whoever has no persona is not replaced', async () => {
    const at = stage(server);
    const { session_id } = await at.place.handoff.start();
    expect(at.json<{ error: object }>('relay', session_id)).toMatchObject({
      error: { code: 'no_persona', data: { status: 400, error: 'Agent has no persona' } },
    });
  });
});
