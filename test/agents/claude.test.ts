import { describe, expect, test } from 'vitest';
import { commitAll, type Place } from '../handoff.ts';
import { template } from '../threats/forge.ts';
import { open } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { contextIn, hookInput, tell, WAYS, type Way } from './event.ts';

const fresh = template((place) => {
  defineTask(place, 'T1');
  commitAll(place, 'tasks');
});

const SILENT = { code: 0, stdout: '', stderr: '' };

describe.each(Object.keys(WAYS) as Way[])('Claude Code through %s', (way) => {
  const say = (place: Place, event: string, more: object = {}) =>
    tell(place, ['claude', event], hookInput(event, place.dir, more), way);
  const begin = (place: Place, source = 'startup') => contextIn(say(place, 'SessionStart', { source }));

  test('whoever has no session hears in a line how one is opened', () => {
    const told = begin(fresh());
    expect(told).toMatch(/no session is open in this work tree, and no baton waits\. git handoff start --as NAME/);
    expect(told).not.toContain('\n');
  });

  test('whoever has one is shown where it stands', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    expect(begin(place)).toMatch(new RegExp(`donna has session ${session_id.slice(0, 8)} open`));
    expect(begin(place)).toContain('git handoff status --as donna');
  });

  test('a baton that waits is told, with who left it and what picks it up', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    await open(place).handoff.wrap({ as: 'donna', message: 'half of it is done' });
    const told = contextIn(say({ ...place, env: { ...place.env, HANDOFF_IDENTITY: 'erin' } }, 'SessionStart'));
    expect(told).toContain(`git handoff pickup --from-session ${session_id.slice(0, 8)} --as erin`);
    expect(told).toMatch(/from donna, .*: half of it is done/);
  });

  test('a stop is told once of code without a thought, and the model hears it with the next prompt', async () => {
    const place = fresh();
    await open(place).handoff.start({ as: 'donna', task: 'T1' });
    expect(say(place, 'Stop', { stop_hook_active: false })).toEqual(SILENT);
    work(place, { 'a.txt': 'a\n' });
    const { systemMessage, decision } = JSON.parse(say(place, 'Stop', { stop_hook_active: false }).stdout);
    expect([systemMessage.includes('1 commit has no thought'), decision]).toEqual([true, undefined]);
    expect(say(place, 'Stop', { stop_hook_active: false })).toEqual(SILENT);
    expect(contextIn(say(place, 'UserPromptSubmit', { prompt: 'go on' }))).toContain('1 commit has no thought');
    expect(say(place, 'UserPromptSubmit', { prompt: 'go on' })).toEqual(SILENT);
  });

  test('where the policy says so, a stop is held once, and then let go', async () => {
    const place = fresh();
    await open(place).handoff.policy.set({ key: 'agents.stop', value: 'block' });
    await open(place).handoff.start({ as: 'donna', task: 'T1' });
    work(place, { 'a.txt': 'a\n' });
    const { decision, reason } = JSON.parse(say(place, 'Stop', { stop_hook_active: false }).stdout);
    expect([decision, reason.includes('1 commit has no thought')]).toEqual(['block', true]);
    work(place, { 'b.txt': 'b\n' });
    const again = say(place, 'Stop', { stop_hook_active: true });
    expect([again.code, JSON.parse(again.stdout).decision]).toEqual([0, undefined]);
    expect(say(place, 'Stop', { stop_hook_active: true })).toEqual(SILENT);
  });
});
