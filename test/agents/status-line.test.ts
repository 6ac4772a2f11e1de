import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statusLine } from '../../src/runtimes/settings/status-line.ts';
import type { Place } from '../handoff.ts';
import { temporaryDirectory } from '../temporary.ts';
import { template } from '../threats/forge.ts';

const HOOK = fileURLToPath(new URL('../../dist/hook.sh', import.meta.url));
const copy = template();
const part = statusLine('claude');

/** As Claude Code sends it, with as much of the context used. */
const sent = (used: unknown): string =>
  JSON.stringify({
    cwd: '/repo',
    context_window: { current_usage: { input: 1 }, used_percentage: used, remaining: 9 },
  });

/** The command that stands in settings, run as the program runs it. */
function shown(settings: string, place: Place, used: unknown, env: NodeJS.ProcessEnv = {}, input = sent(used)) {
  const { command } = JSON.parse(settings).statusLine;
  const bin = temporaryDirectory();
  symlinkSync(HOOK, join(bin, 'git-handoff-hook'));
  const home = temporaryDirectory();
  const all = { ...place.env, HOME: home, PATH: `${bin}:${process.env.PATH}`, ...env };
  const run = spawnSync('sh', ['-c', command], { cwd: place.dir, env: all, input, encoding: 'utf8' });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

const kept = async (place: Place): Promise<unknown> => (await place.handoff.status({ as: 'donna' })).context_used;

describe('the status line in settings', () => {
  const USERS = [
    '{\n  "statusLine": {\n    "type": "command",\n    "command": "~/bin/line --short",\n    "padding": 0\n  }\n}\n',
    `{"statusLine": {"type": "command", "command": "printf '%s' \\"it's $(date)\\"; echo 'x'"}}`,
    '{\n\t// mine\n\t"model": "opus",\n\t"statusLine": {"command": "line", "type": "command"},\n}\n',
    '{}\n',
    '{"hooks": {}}',
  ];

  it.each(USERS)('stands around what was there, once, and is given back to the byte: %j', (before) => {
    const added = part.added(before);
    expect(part.state(before)).toBe('absent');
    expect(part.state(added)).toBe('complete');
    expect(part.added(added)).toBe(added);
    expect(part.removed(added)).toBe(before);
  });

  it('makes a file for itself alone, and leaves none behind', () => {
    const made = part.added(null);
    expect(JSON.parse(made).statusLine.type).toBe('command');
    expect(part.removed(made)).toBeNull();
  });

  it('leaves one alone that calls ours among what is of the user', () => {
    for (const command of [
      'tee /tmp/seen | git-handoff-hook status-line claude "mine"',
      "X=1 o='mine'; git-handoff-hook status-line claude",
    ]) {
      const theirs = JSON.stringify({ statusLine: { type: 'command', command } });
      expect([part.added(theirs), part.removed(theirs), part.state(theirs)]).toEqual([theirs, theirs, 'complete']);
    }
  });

  it('leaves one alone that runs no command', () => {
    for (const other of ['{"statusLine": null}', '{"statusLine": {"type": "static"}}', '{"statusLine": "x"}']) {
      expect([part.added(other), part.removed(other), part.state(other)]).toEqual([other, other, 'complete']);
    }
  });
});

describe('the status line as it runs', () => {
  it('runs nothing of a repository that an agent only stands in: nobody was asked whether it may', async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    mkdirSync(join(place.dir, '.claude'));
    writeFileSync(
      join(place.dir, '.claude/settings.json'),
      JSON.stringify({ statusLine: { type: 'command', command: 'touch canary; echo theirs' } }),
    );
    const inProject = (project_dir: string) => JSON.stringify({ workspace: { project_dir }, context_window: {} });
    const line = () => shown(part.added(null), place, 1, {}, inProject(temporaryDirectory())).stdout;
    for (const _ of ['read', 'kept']) expect(line()).toMatch(/^donna /);
    expect(existsSync(join(place.dir, 'canary'))).toBe(false);
    expect(shown(part.added(null), place, 1, {}, inProject(place.dir)).stdout).toBe('theirs\n');
  });

  it('keeps how full the context is, and shows that where the user has no line', async () => {
    const place = copy();
    const { session_id } = await place.handoff.start({ as: 'donna' });
    const line = part.added(null);
    expect(shown(line, place, 81.5)).toEqual({ code: 0, stdout: `donna ${session_id.slice(0, 8)} 81 %\n`, stderr: '' });
    expect(await kept(place)).toBe(81.5);
    expect(shown(line, place, null).stdout).toBe(`donna ${session_id.slice(0, 8)}\n`);
    expect(await kept(place)).toBe(81.5);
    shown(line, place, 0);
    expect(await kept(place)).toBe(0);
    expect((await place.handoff.status({ as: 'donna' })).warnings).toEqual([]);
  });

  it("shows the user's own line, with its input, its output and its exit code", async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    const own = JSON.stringify({
      statusLine: { type: 'command', command: "cat; printf 'mine: %s' \"it's\" ; exit 3" },
    });
    const expected = { code: 3, stdout: `${sent(42)}\nmine: it's`, stderr: '' };
    expect(shown(part.added(own), place, 42)).toEqual(expected);
    expect(await kept(place)).toBe(42);
    const { command } = JSON.parse(part.added(own)).statusLine;
    const run = spawnSync('sh', ['-c', command], { input: sent(42), env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
    expect([run.status, run.stdout]).toEqual([3, `${sent(42)}mine: it's`]);
  });

  it("shows the line of the user's own settings where ours stands in those of the work tree, and does not turn in circles", async () => {
    const place = copy();
    await place.handoff.start({ as: 'donna' });
    const folder = temporaryDirectory();
    const users = join(folder, 'settings.json');
    const at = { CLAUDE_CONFIG_DIR: folder };
    writeFileSync(users, JSON.stringify({ statusLine: { type: 'command', command: 'echo users' } }));
    for (const _ of ['read', 'kept']) expect(shown(part.added(null), place, 5, at).stdout).toBe('users\n');
    writeFileSync(users, part.added(null));
    expect(shown(part.added(null), place, 6, { ...at, HANDOFF_STATE: temporaryDirectory() }).code).toBe(0);
    expect(await kept(place)).toBe(5);
  });

  it('harms nobody outside of a repository, without a session, or with input that makes no sense', async () => {
    const place = copy();
    const line = part.added(null);
    expect(shown(line, place, 50)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(shown(line, { ...place, dir: temporaryDirectory() }, 50)).toEqual({ code: 0, stdout: '', stderr: '' });
    await place.handoff.start({ as: 'donna' });
    for (const odd of ['80', '1.2.3', -5, {}, 1e300, '$(touch canary)', '"; touch canary']) {
      expect(shown(line, place, odd).code).toBe(0);
      expect(await kept(place)).toBeNull();
    }
    expect(existsSync(join(place.dir, 'canary'))).toBe(false);
  });
});
