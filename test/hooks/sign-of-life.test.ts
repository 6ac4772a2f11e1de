import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLI, run } from '../cli/cli.ts';
import { commitAll, type Place } from '../handoff.ts';
import { git } from '../temporary.ts';
import { template } from '../threats/forge.ts';
import { open, worktree } from '../verbs/agents.ts';
import { defineTask, work } from '../verbs/tasks.ts';
import { hooked, tryGit } from './hooked.ts';

// A session does not go stale while somebody is at work in it.

const fresh = template(async (place) => {
  defineTask(place, 'T1');
  await place.handoff.policy.set({ key: 'stale_after', value: '3' });
  commitAll(place, 'tasks');
});

const heartbeat = ({ dir }: Place, id: string) => {
  const common = git(dir, 'rev-parse', '--path-format=absolute', '--git-common-dir');
  return join(common, 'handoff/sessions', id, 'heartbeat');
};

const LONG_AGO = -1_000_000;

/** As if nothing had been heard of it since long before the machine was started. */
function fallAsleep(place: Place, id: string): void {
  const beat = JSON.parse(readFileSync(heartbeat(place, id), 'utf8'));
  writeFileSync(heartbeat(place, id), JSON.stringify({ ...beat, uptime: LONG_AGO, at: '2020-01-01T00:00:00.000Z' }));
}

const isAsleep = (place: Place, id: string) =>
  JSON.parse(readFileSync(heartbeat(place, id), 'utf8')).uptime === LONG_AGO;

async function asleep(place: Place, as = 'donna'): Promise<string> {
  const { session_id } = await open(place).handoff.start({ as });
  fallAsleep(place, session_id);
  return session_id;
}

const commit = ({ dir, env }: Place, ...more: string[]) =>
  tryGit(dir, ['commit', '--quiet', '--allow-empty', '--message', 'x', ...more], env);

describe('git commit', () => {
  test('is a sign of life, as Node writes and reads one', async () => {
    const place = await hooked(fresh());
    const id = await asleep(place);
    expect(commit(place)).toMatchObject({ code: 0, stderr: '' });
    const beat = JSON.parse(readFileSync(heartbeat(place, id), 'utf8'));
    await open(place).handoff.heartbeat({ as: 'donna' });
    const own = JSON.parse(readFileSync(heartbeat(place, id), 'utf8'));
    expect([beat.boot, Object.keys(beat)]).toEqual([own.boot, Object.keys(own)]);
    expect([beat.uptime > 0 && beat.uptime <= own.uptime, Number.isNaN(Date.parse(beat.at))]).toEqual([true, false]);
    expect(readdirSync(join(heartbeat(place, id), '..')).sort()).toEqual(['heartbeat', 'records', 'session.json']);
  });

  test('in a linked work tree it is one of the session there, and of no other', async () => {
    const place = await hooked(fresh());
    const first = await asleep(place);
    const linked = worktree(place, 'side');
    const second = await asleep(linked, 'erin');
    expect(commit(linked).code).toBe(0);
    expect([isAsleep(place, first), isAsleep(place, second)]).toEqual([true, false]);
  });

  test('where state is somewhere else, it is there', async () => {
    const place = await hooked(fresh());
    const state = join(place.dir, '../state');
    mkdirSync(state);
    const elsewhere = open(place, { env: { HANDOFF_STATE: state } });
    const { session_id } = await elsewhere.handoff.start({ as: 'donna' });
    const file = join(state, 'sessions', session_id, 'heartbeat');
    const before = readFileSync(file, 'utf8');
    expect(commit(elsewhere).code).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toBe(before);
  });

  test.each(['../../../canary', '', 'x y', '$(touch canary)', '00000000-0000-4000-8000-000000000000'])(
    'whatever the file of trailers names, nothing else is written: %j',
    async (name) => {
      const place = await hooked(fresh());
      mkdirSync(join(place.dir, '.git/handoff-sessions'));
      writeFileSync(join(place.dir, '.git/handoff-sessions/donna'), `Handoff-Session: ${name}\n`);
      expect(commit(place)).toMatchObject({ code: 0, stderr: '' });
      expect([existsSync(join(place.dir, '.git/handoff/sessions')), existsSync(join(place.dir, 'canary'))]).toEqual([
        false,
        false,
      ]);
    },
  );
});

describe('where two agents work in one work tree', () => {
  async function two(): Promise<{ place: Place; donna: string; erin: string }> {
    const place = await hooked(fresh());
    const [donna, erin] = [await asleep(place), await asleep(place, 'erin')];
    return { place, donna, erin };
  }
  const named = ({ dir }: Place) => git(dir, 'log', '-1', '--format=%(trailers:key=Handoff-Session,valueonly)').trim();

  test.each([
    ['HANDOFF_IDENTITY', () => ({ HANDOFF_IDENTITY: 'donna' })],
    ['HANDOFF_SESSION', (id: string) => ({ HANDOFF_SESSION: id.slice(0, 8) })],
  ])('a commit names the session of whom %s names, who is alive', async (_, env) => {
    const { place, donna, erin } = await two();
    expect(commit({ ...place, env: { ...place.env, ...env(donna) } }).code).toBe(0);
    expect([named(place), isAsleep(place, donna), isAsleep(place, erin)]).toEqual([donna, false, true]);
  });

  test('it is whom the configuration names, and else nobody', async () => {
    const { place, donna, erin } = await two();
    expect(commit(place).code).toBe(0);
    expect([named(place), isAsleep(place, donna), isAsleep(place, erin)]).toEqual(['', true, true]);
    git(place.dir, 'config', 'handoff.identity', 'donna');
    expect(commit(place).code).toBe(0);
    expect([named(place), isAsleep(place, donna), isAsleep(place, erin)]).toEqual([donna, false, true]);
  });

  test('when one of them has wrapped it is the other again', async () => {
    const { place, donna } = await two();
    await open(place).handoff.wrap({ as: 'erin', message: 'm' });
    expect(commit(place).code).toBe(0);
    expect([named(place), isAsleep(place, donna)]).toEqual([donna, false]);
  });

  test('somebody who has no session here is neither of them', async () => {
    const { place, donna, erin } = await two();
    expect(commit({ ...place, env: { ...place.env, HANDOFF_IDENTITY: 'maintainer' } }).code).toBe(0);
    expect([named(place), isAsleep(place, donna), isAsleep(place, erin)]).toEqual(['', true, true]);
  });

  test.each([
    ['--as', ['--as', 'donna'], () => ({})],
    ['HANDOFF_IDENTITY', [], () => ({ HANDOFF_IDENTITY: 'donna' })],
    ['HANDOFF_SESSION', [], (id: string) => ({ HANDOFF_SESSION: id.slice(0, 8) })],
  ])('a verb that only reads keeps whom %s names alive', async (_, flags, env) => {
    const { place, donna, erin } = await two();
    for (const id of [donna, erin]) await minutesAgo(place, id);
    const before = readFileSync(heartbeat(place, erin), 'utf8');
    expect(run(['next', '--json', ...flags], { cwd: place.dir, env: { ...place.env, ...env(donna) } }).code).toBe(0);
    const { uptime } = JSON.parse(readFileSync(heartbeat(place, donna), 'utf8'));
    expect(uptime).toBeGreaterThan(JSON.parse(before).uptime + 30);
    expect(readFileSync(heartbeat(place, erin), 'utf8')).toBe(before);
  });

  async function minutesAgo(place: Place, id: string): Promise<void> {
    await open(place).handoff.heartbeat({ session: id });
    const beat = JSON.parse(readFileSync(heartbeat(place, id), 'utf8'));
    writeFileSync(heartbeat(place, id), JSON.stringify({ ...beat, uptime: beat.uptime - 60 }));
  }
});

describe('a verb', () => {
  const verb = ({ dir, env }: Place, ...args: string[]) => run([...args, '--json'], { cwd: dir, env });

  test('that only reads is a sign of life of the session of its work tree', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const file = heartbeat(place, session_id);
    const minuteAgo = JSON.parse(readFileSync(file, 'utf8'));
    minuteAgo.uptime -= 60;
    writeFileSync(file, JSON.stringify(minuteAgo));
    expect(verb(place, 'next').code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).uptime).toBeGreaterThan(minuteAgo.uptime + 30);
  });

  test.each([
    ['a task that is not there', ['claim', 'T9']],
    ['nothing that was sealed', ['root']],
    ['no text', ['note', '']],
    ['no identity of that name', ['signal', 'send', 'nobody', 'x']],
  ])('that is refused is one, too: %s', async (_, words) => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const file = heartbeat(place, session_id);
    const minuteAgo = JSON.parse(readFileSync(file, 'utf8'));
    minuteAgo.uptime -= 60;
    writeFileSync(file, JSON.stringify(minuteAgo));
    expect(verb(place, ...words).code).not.toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8')).uptime).toBeGreaterThan(minuteAgo.uptime + 30);
  });

  test('that is refused makes nothing where no session is, and no session that was taken over comes back', async () => {
    const none = fresh();
    expect(verb(none, 'claim', 'T9').code).not.toBe(0);
    expect(existsSync(join(none.dir, '.git/handoff/sessions'))).toBe(false);
    const place = fresh();
    const id = await asleep(place);
    await open(place).handoff.pickup({ as: 'erin' });
    expect(verb(place, 'note', 'x', '--session', id).code).not.toBe(0);
    expect(isAsleep(place, id)).toBe(true);
  });

  test('that is refused because somebody is at work does not keep them at work', async () => {
    const place = fresh();
    const { session_id } = await open(place).handoff.start({ as: 'donna' });
    const before = readFileSync(heartbeat(place, session_id), 'utf8');
    const linked = worktree(place, 'side');
    expect(verb(place, 'pickup', '--from-session', session_id).code).toBe(3);
    expect(verb(linked, 'start', '--as', 'donna').code).toBe(3);
    expect(readFileSync(heartbeat(place, session_id), 'utf8')).toBe(before);
  });

  test('that only reads brings nobody back who has been silent for long: they may be followed', async () => {
    const place = fresh();
    const id = await asleep(place);
    expect(verb(place, 'sessions').code).toBe(0);
    expect(isAsleep(place, id)).toBe(true);
    expect(verb(place, 'pickup', '--as', 'erin').code).toBe(0);
  });

  test('of somebody else, or where several sessions are open, is none', async () => {
    const place = fresh();
    const donna = await asleep(place);
    verb(place, 'next', '--as', 'erin');
    expect(isAsleep(place, donna)).toBe(true);
    const erin = await asleep(place, 'erin');
    verb(place, 'next');
    expect([isAsleep(place, donna), isAsleep(place, erin)]).toEqual([true, true]);
  });
});

test('a command that --run runs may take longer than a session stays fresh', async () => {
  const place = fresh();
  const { session_id } = await open(place).handoff.start({ as: 'donna' });
  work(place, { 'a.txt': 'a\n' });
  const ask = `setTimeout(() => {
    const { stdout } = require('child_process').spawnSync(process.execPath, [${JSON.stringify(CLI)}, 'sessions', '--json']);
    const [session] = JSON.parse(stdout).sessions.filter((each) => each.session_id === '${session_id}');
    process.exit(session.state === 'active' ? 0 : 1);
  }, 4500)`;
  const { record } = await open(place).handoff.done({
    id: 'T1',
    summary: 's',
    run: { command: [process.execPath, '-e', ask] },
  });
  expect(record.evidence).toMatchObject([{ exit_code: 0 }]);
});
