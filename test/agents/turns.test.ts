import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RuntimeName } from '../../src/runtimes/runtime.ts';
import { SPEECHES } from '../../src/runtimes/speech/speeches.ts';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, recordsOf, worktree } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { contextIn, hookInput, tell } from './event.ts';

// What a day of events does to a session: turns, stops that are reminded of or held, compactions, silence.

const fresh = template(async (place) => {
  defineTask(place, 'T1');
  await place.handoff.policy.set({ key: 'stale_after', value: '3' });
  commitAll(place, 'tasks');
});

const SILENT = { code: 0, stdout: '', stderr: '' };

function named(runtime: RuntimeName, ours: string): string {
  return Object.entries(SPEECHES[runtime].events).find(([, event]) => event === ours)![0];
}

const say = (place: Place, runtime: RuntimeName, ours: string, more: object = {}) =>
  tell(place, [runtime, named(runtime, ours)], { ...hookInput('x', place.dir), directory: place.dir, ...more });

const stampOf = ({ dir }: Place, runtime: RuntimeName, ours: string) =>
  join(dir, '.git/handoff/runtimes', runtime, ours);
const heartbeatOf = ({ dir }: Place, id: string) => join(dir, '.git/handoff/sessions', id, 'heartbeat');

async function begun(rule?: string): Promise<{ place: Place; session_id: string }> {
  const place = fresh();
  if (rule) await open(place).handoff.policy.set({ key: 'agents.stop', value: rule });
  const { session_id } = await open(place).handoff.start({ as: 'donna', task: 'T1' });
  return { place, session_id };
}

function fallAsleep(place: Place, id: string): void {
  const beat = JSON.parse(readFileSync(heartbeatOf(place, id), 'utf8'));
  writeFileSync(
    heartbeatOf(place, id),
    JSON.stringify({ ...beat, uptime: -1_000_000, at: '2020-01-01T00:00:00.000Z' }),
  );
}

const isAsleep = (place: Place, id: string) => JSON.parse(readFileSync(heartbeatOf(place, id), 'utf8')).uptime < 0;
const stateOf = async (place: Place, id: string) =>
  (await open(place).handoff.sessions()).sessions.find((each) => each.session_id === id)?.state;

const RUNTIMES = ['claude', 'codex', 'gemini', 'opencode', 'copilot'] as const;

describe('signs of life', () => {
  test.each(RUNTIMES)(
    'a prompt, a tool and a stop of %s keep a session alive, and leave the time at which they arrived',
    async (runtime) => {
      const { place, session_id } = await begun();
      for (const ours of ['prompt', 'tool', 'stop', 'compacting']) {
        fallAsleep(place, session_id);
        const file = stampOf(place, runtime, ours);
        expect(existsSync(file)).toBe(false);
        expect(say(place, runtime, ours)).toEqual(SILENT);
        expect([ours, isAsleep(place, session_id), existsSync(file)]).toEqual([ours, false, true]);
      }
      expect(await stateOf(place, session_id)).toBe('active');
    },
  );

  test('the same event again is a later time', async () => {
    const { place } = await begun();
    for (const ours of ['tool', 'session_start']) {
      say(place, 'claude', ours);
      utimesSync(stampOf(place, 'claude', ours), 1, 1);
      say(place, 'claude', ours);
      expect(readdirSync(join(stampOf(place, 'claude', ours), '..'))).toContain(ours);
      expect(Date.now() - statSync(stampOf(place, 'claude', ours)).mtimeMs).toBeLessThan(3_600_000);
    }
  });

  test('whoever only begins does not bring back a session that was silent for long: it may be followed', async () => {
    const { place, session_id } = await begun();
    fallAsleep(place, session_id);
    expect(contextIn(say(place, 'claude', 'session_start'))).toContain('donna has session');
    expect(isAsleep(place, session_id)).toBe(true);
  });

  test('a session that was taken over is not kept alive, and its agent hears of nothing there', async () => {
    const { place, session_id } = await begun();
    fallAsleep(place, session_id);
    await open(place).handoff.pickup({ as: 'erin' });
    const env = { ...place.env, HANDOFF_IDENTITY: 'donna' };
    expect(say({ ...place, env }, 'claude', 'stop')).toEqual(SILENT);
    expect(contextIn(say({ ...place, env }, 'claude', 'session_start'))).toContain('no session of donna is open');
    expect(await stateOf(place, session_id)).toBe('released');
  });

  test('after a wrap events say nothing and change nothing', async () => {
    const { place, session_id } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    await open(place).handoff.wrap({ as: 'donna', message: 'm' });
    const before = recordsOf(place, session_id).length;
    for (const ours of ['prompt', 'tool', 'stop', 'compacting', 'session_end', 'session_end'])
      expect(say(place, 'claude', ours)).toEqual(SILENT);
    expect(recordsOf(place, session_id)).toHaveLength(before);
  });
});

describe('two agents in one work tree', () => {
  test('are told apart by HANDOFF_IDENTITY, --as and HANDOFF_SESSION; else nobody is kept alive, and the reason is told', async () => {
    const { place, session_id: donna } = await begun();
    const { session_id: erin } = await open(place).handoff.start({ as: 'erin' });
    const sleep = () => {
      for (const id of [donna, erin]) fallAsleep(place, id);
    };
    const awake = () => [donna, erin].filter((id) => !isAsleep(place, id));
    sleep();
    say(place, 'claude', 'tool');
    expect(awake()).toEqual([]);
    expect(contextIn(say(place, 'claude', 'session_start'))).toMatch(
      /several sessions are open in this work tree, of (donna, erin|erin, donna)/,
    );
    say({ ...place, env: { ...place.env, HANDOFF_IDENTITY: 'erin' } }, 'claude', 'tool');
    expect(awake()).toEqual([erin]);
    sleep();
    tell(place, ['claude', 'PreToolUse', '--as', 'donna'], {});
    expect(awake()).toEqual([donna]);
    sleep();
    say({ ...place, env: { ...place.env, HANDOFF_SESSION: erin } }, 'claude', 'prompt');
    expect(awake()).toEqual([erin]);
  });

  test('in work trees of their own each has its own', async () => {
    const { place, session_id: donna } = await begun();
    const linked = worktree(place, 'side');
    const { session_id: erin } = await linked.handoff.start({ as: 'erin' });
    for (const id of [donna, erin]) fallAsleep(place, id);
    say(linked, 'claude', 'tool');
    expect([isAsleep(place, donna), isAsleep(place, erin)]).toEqual([true, false]);
  });
});

describe('a stop', () => {
  test.each(RUNTIMES)('of %s is held once, whether or not it says so itself, and then let go', async (runtime) => {
    const { place } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    const reasonOf = (stdout: string) => JSON.parse(stdout).reason ?? JSON.parse(stdout).hold;
    const reason = reasonOf(say(place, runtime, 'stop').stdout);
    expect(reason).toContain('1 commit has no thought');
    // some programs show our reason as a prompt: that begins no other turn, and nothing is told twice
    expect(say(place, runtime, 'prompt', { prompt: reason, text: reason })).toEqual(SILENT);
    work(place, { 'b.txt': 'b\n' });
    expect(say(place, runtime, 'stop').stdout).not.toMatch(/"decision"|"hold"/);
  });

  test('in a later turn is held again for something new, and not for the same', async () => {
    const { place } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop').stdout).toContain('"block"');
    expect(say(place, 'claude', 'stop', { stop_hook_active: true })).toEqual(SILENT);
    expect(say(place, 'claude', 'prompt', { prompt: 'next' })).toEqual(SILENT);
    expect(say(place, 'claude', 'stop')).toEqual(SILENT);
    work(place, { 'b.txt': 'b\n' });
    expect(say(place, 'claude', 'stop').stdout).toContain('"block"');
  });

  test('that was held is of the same turn after a compaction, which starts a session once more', async () => {
    const { place } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop').stdout).toContain('"block"');
    say(place, 'claude', 'session_start', { source: 'compact' });
    work(place, { 'b.txt': 'b\n' });
    expect(say(place, 'claude', 'stop').stdout).not.toContain('"block"');
  });

  test('that somebody else held is let go, whatever is owed', async () => {
    const { place } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop', { stop_hook_active: true }).stdout).not.toContain('"block"');
  });

  test('that was held when its program ended is told to the next one', async () => {
    const { place } = await begun('block');
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'opencode', 'stop').stdout).toContain('"hold"');
    expect(contextIn(say(place, 'claude', 'session_start'))).toContain('1 commit has no thought');
    expect(contextIn(say(place, 'claude', 'session_start'))).not.toContain('no thought');
  });

  test('where the policy says off, nothing is said', async () => {
    const { place } = await begun('off');
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop')).toEqual(SILENT);
  });

  test('of Copilot, which shows no notice, is told with the next prompt', async () => {
    const { place } = await begun();
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'copilot', 'stop')).toEqual(SILENT);
    expect(JSON.parse(say(place, 'copilot', 'prompt').stdout).additionalContext).toContain('1 commit has no thought');
  });

  test('is not reminded of what was done meanwhile', async () => {
    const { place } = await begun();
    const commit = work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop').stdout).toContain('no thought');
    await open(place).handoff.thought({ as: 'donna', id: 'T1', commit, summary: 's' });
    expect(say(place, 'claude', 'stop').stdout).not.toContain('no thought');
  });

  test('uncommitted work is only mentioned', async () => {
    const { place } = await begun('block');
    writeFileSync(join(place.dir, 'new.txt'), 'x');
    expect(say(place, 'claude', 'stop')).toEqual(SILENT);
    work(place, { 'a.txt': 'a\n' });
    expect(say(place, 'claude', 'stop').stdout).toContain('changed and not committed');
  });
});

describe('a compaction', () => {
  const checkpoints = (place: Place, id: string) =>
    recordsOf(place, id).filter(({ name }) => name.endsWith('-checkpoint.yaml'));

  test('leaves a signed checkpoint with what git knows, what is claimed and what was noted', async () => {
    const { place, session_id } = await begun();
    await open(place).handoff.claim({ as: 'donna', id: 'T1' });
    await open(place).handoff.note({ as: 'donna', text: 'the parser is next' });
    writeFileSync(join(place.dir, 'new.txt'), 'x');
    expect(say(place, 'claude', 'compacting')).toEqual(SILENT);
    const [found] = checkpoints(place, session_id);
    expect(found!.fields).toMatchObject({ branch: 'main', head: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(found!.fields.text).toMatch(/Not committed \(1\): new\.txt\nClaimed: T1\nNote: the parser is next/);
    expect((await open(place).handoff.verify()).valid).toBe(true);
  });

  test('that nothing has changed since leaves no other one', async () => {
    const { place, session_id } = await begun();
    for (let time = 0; time < 2; time++) say(place, 'claude', 'compacting');
    expect(checkpoints(place, session_id)).toHaveLength(1);
    work(place, { 'a.txt': 'a\n' });
    say(place, 'claude', 'compacting');
    expect(checkpoints(place, session_id)).toHaveLength(2);
  });

  test('that Gemini tells of on every turn leaves one from time to time, and one that a person asked for always', async () => {
    const { place, session_id } = await begun();
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      work(place, { [name]: 'x\n' });
      say(place, 'gemini', 'compacting', { trigger: 'auto' });
    }
    expect(checkpoints(place, session_id)).toHaveLength(1);
    expect(say(place, 'gemini', 'prompt', { prompt: 'go on' })).toEqual(SILENT);
    say(place, 'gemini', 'compacting', { trigger: 'manual' });
    expect(checkpoints(place, session_id)).toHaveLength(2);
    expect(contextIn(say(place, 'gemini', 'prompt', { prompt: 'go on' }))).toContain('Before a compaction');
  });

  test('a name that looks like a secret is left out, and where git stands is kept', async () => {
    const { place, session_id } = await begun();
    writeFileSync(join(place.dir, `ghp_${'A1b2C3d4E5'.repeat(4).slice(0, 36)}`), 'x');
    say(place, 'claude', 'compacting');
    expect(checkpoints(place, session_id).map(({ fields }) => [fields.branch, fields.text])).toEqual([
      ['main', undefined],
    ]);
  });

  test.each(['claude', 'codex'] as const)(
    '%s is told afterwards, when its session starts once more, what it wrote',
    async (runtime) => {
      const { place } = await begun();
      await open(place).handoff.note({ as: 'donna', text: 'the parser is next' });
      say(place, runtime, 'compacting');
      expect(say(place, runtime, 'compacted')).toEqual(SILENT);
      const told = contextIn(say(place, runtime, 'session_start', { source: 'compact' }));
      expect(told).toMatch(
        /What this session wrote[\s\S]*checkpoint: Before a compaction[\s\S]*note: the parser is next/,
      );
    },
  );

  test('Copilot, which starts nothing once more, is told with the next prompt, once', async () => {
    const { place } = await begun();
    await open(place).handoff.note({ as: 'donna', text: 'the parser is next' });
    say(place, 'copilot', 'compacting');
    expect(say(place, 'copilot', 'prompt').stdout).toContain('the parser is next');
    expect(say(place, 'copilot', 'prompt')).toEqual(SILENT);
  });

  test('opencode is told when it says that it has compacted', async () => {
    const { place } = await begun();
    await open(place).handoff.note({ as: 'donna', text: 'the parser is next' });
    expect(JSON.parse(say(place, 'opencode', 'compacted').stdout).context).toContain('the parser is next');
  });
});

test('how full a context is is kept beside the session', async () => {
  const { place, session_id } = await begun();
  const told = { context_window: { used_percentage: 61.5 } };
  expect(tell(place, ['claude', 'StatusLine'], hookInput('', place.dir, told))).toEqual(SILENT);
  const kept = JSON.parse(readFileSync(join(heartbeatOf(place, session_id), '../agent-context'), 'utf8'));
  expect(kept).toMatchObject({ runtime: 'claude', used_percentage: 61.5 });
});

describe('nobody is kept waiting', () => {
  test('by a lock of git, or by a remote that does not answer: a compaction leaves its checkpoint all the same', async () => {
    const { place, session_id } = await begun();
    writeFileSync(join(place.dir, '.git/index.lock'), '');
    git(place.dir, 'config', 'handoff.remote', 'origin');
    git(place.dir, 'remote', 'add', 'origin', 'ssh://192.0.2.1/nowhere');
    const env = { ...place.env, GIT_SSH_COMMAND: 'sleep 60;' };
    expect(say({ ...place, env }, 'claude', 'compacting')).toEqual(SILENT);
    expect(say({ ...place, env }, 'claude', 'stop')).toEqual(SILENT);
    expect(recordsOf(place, session_id).map(({ name }) => name)).toContain('0002-checkpoint.yaml');
  });
});
