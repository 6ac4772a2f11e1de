import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { HandoffError } from '../../src/core/error.ts';
import { nodeHost } from '../../src/host.ts';
import { typedLine } from '../../src/relay/line.ts';
import type { Seat } from '../../src/relay/terminal.ts';
import { openTmux } from '../../src/relay/tmux.ts';
import { temporaryDirectory } from '../temporary.ts';
import { hasTmux, tmuxServer, until } from './tmux-server.ts';

// THREATS 38: what tmux would take for a command, a format or a key. `touch canary` must never have been run.

const PAYLOADS = (canary: string): string[] => [
  `hello\ntouch ${canary}\n`,
  `hello\r\ntouch ${canary}\r`,
  `hello ; run-shell 'touch ${canary}' ;`,
  `v;`,
  `#(touch ${canary})`,
  `#{E:#(touch ${canary})}`,
  `$(touch ${canary}) \`touch ${canary}\``,
  `\u001b[201~\ntouch ${canary}\n`,
  `\u0003\u0004touch ${canary}\u009b0n`,
  `C-c ; Enter \u2028touch ${canary}\u2029 \u202e-t %0`,
];

/** Writes what it reads, line by line, as a program that asks for bracketed paste does. */
const READER = `
  const fs = require('node:fs');
  process.stdout.write('\\x1b[?2004h> ');
  process.stdin.setRawMode(true);
  process.stdin.on('data', (bytes) => fs.appendFileSync(process.argv[1], bytes));
  setInterval(() => {}, 1000);
`;

describe.skipIf(!hasTmux)('tmux', () => {
  const server = tmuxServer(afterAll);
  const terminal = openTmux(server.env, nodeHost);

  async function reader(): Promise<{ seat: Seat; heard(): string }> {
    const file = join(temporaryDirectory(), 'heard');
    writeFileSync(file, '');
    const seat = await terminal.open({ title: 'reader', argv: [process.execPath, '-e', READER, file] });
    await until('the reader shows its prompt', async () => (await terminal.screen(seat))?.startsWith('>') ?? false);
    return { seat, heard: () => readFileSync(file, 'utf8') };
  }

  it('types text as one line between the marks of a paste, then Enter; nothing of it is run', async () => {
    const { seat, heard } = await reader();
    const canary = join(temporaryDirectory(), 'canary');
    let expected = '';
    for (const payload of PAYLOADS(canary)) {
      await terminal.submit(seat, payload);
      expected += `\u001b[200~${typedLine(payload)}\u001b[201~\r`;
      await until('Enter has arrived', () => heard().length >= expected.length);
    }
    expect(heard()).toBe(expected);
    expect(expected.replaceAll('\u001b[200~', '').replaceAll('\u001b[201~\r', '')).toMatch(/^[^\p{C}\u2028\u2029]*$/u);
    expect(existsSync(canary)).toBe(false);
    expect(server.ask('list-buffers')).toBe('');
  });

  it('runs nothing of a title, an argument or a target', async () => {
    const folder = temporaryDirectory();
    for (const [number, payload] of PAYLOADS(join(folder, 'canary')).entries()) {
      const file = join(folder, String(number));
      const argv = ['/bin/sh', '-c', 'printf %s "$1" > "$2"; exec cat', 'sh', payload, file];
      const seat = await terminal.open({ title: payload, argv });
      await until('it was told', () => existsSync(file) && readFileSync(file, 'utf8') === payload);
      expect(server.ask('display-message', '-p', '-t', seat.place.pane, '#{window_name}')).toMatch(/^[\w.-]+\n$/);
      const elsewhere = { ...seat, place: { ...seat.place, pane: payload } };
      await expect(terminal.submit(elsewhere, 'hello')).rejects.toMatchObject({ code: 'no_terminal' });
      expect(() => terminal.attachCommand(elsewhere.place)).toThrow(HandoffError);
      await terminal.close(seat);
    }
    expect(existsSync(join(folder, 'canary'))).toBe(false);
  });

  it('types past a person who has scrolled back', async () => {
    const { seat, heard } = await reader();
    server.ask('copy-mode', '-t', seat.place.pane);
    await terminal.submit(seat, 'go on');
    await until('Enter has arrived', () => heard().endsWith('\r'));
    expect(heard()).toBe('\u001b[200~go on\u001b[201~\r');
  });

  it('notices that something else is in the pane by now', async () => {
    const { seat } = await reader();
    server.ask('respawn-pane', '-k', '-t', seat.place.pane, '/bin/cat');
    expect(await terminal.isThere(seat)).toBe(false);
    await expect(terminal.submit(seat, 'hello')).rejects.toMatchObject({ code: 'no_terminal' });
    await terminal.close(seat);
    expect(server.ask('list-panes', '-a', '-F', '#{pane_id}')).toContain(seat.place.pane);
  });

  it('keeps what a program printed last that has failed, until the terminal is closed', async () => {
    const seat = await terminal.open({ title: 'fails', argv: ['/bin/sh', '-c', 'sleep 1; echo no such luck; exit 3'] });
    await until('it has ended', async () => !(await terminal.isThere(seat)));
    expect(await terminal.screen(seat)).toContain('no such luck');
    await terminal.close(seat);
    expect(await terminal.screen(seat)).toBeNull();
  });

  it('finds the terminal that an environment names, and only that', async () => {
    const { seat } = await reader();
    const { pane, socket } = seat.place;
    expect(await terminal.seatOf({ TMUX: `${socket},1,0`, TMUX_PANE: pane })).toEqual(seat);
    expect(await terminal.seatOf({ TMUX: `${socket},1,0`, TMUX_PANE: '%999' })).toBeNull();
    expect(await terminal.seatOf({ TMUX: `${socket};,1,0`, TMUX_PANE: pane })).toBeNull();
    expect(await terminal.seatOf({ TMUX: 'x', TMUX_PANE: `${pane};kill-server` })).toBeNull();
    expect(await terminal.seatOf({})).toBeNull();
  });

  it('opens a window beside those of a user who is inside tmux', async () => {
    const { HANDOFF_TMUX_SOCKET: _, ...env } = server.env;
    const { place } = (await reader()).seat;
    const inside = openTmux({ ...env, TMUX: `${place.socket},1,0` }, nodeHost);
    const seat = await inside.open({ title: 'beside', argv: ['/bin/cat'] });
    expect(seat.place.socket).toBe(server.socket);
    expect(await inside.isThere(seat)).toBe(true);
  });

  it('gives its server nothing that is secret', async () => {
    const mine = tmuxServer(onTestFinished);
    const env = { ...mine.env, ANTHROPIC_API_KEY: 'canary', HANDOFF_SESSION: 'canary', SOME_TOKEN: 'canary' };
    await openTmux(env, nodeHost).open({ title: 'first', argv: ['/bin/cat'] });
    const shown = mine.ask('show-environment', '-g');
    expect(shown).toContain('PATH=');
    expect(shown).not.toContain('canary');
  });
});

describe('without tmux', () => {
  it('says that there is no terminal', async () => {
    const terminal = openTmux({ PATH: temporaryDirectory() }, nodeHost);
    const opening = terminal.open({ title: 'none', argv: ['/bin/cat'] });
    await expect(opening).rejects.toMatchObject({ code: 'no_terminal', exitCode: 2 });
  });

  it.each(['/a\nb', '/tmp/x;', 'a b', '-L', '../x'])('refuses %j as the name of a server', async (name) => {
    const terminal = openTmux({ ...process.env, HANDOFF_TMUX_SOCKET: name }, nodeHost);
    const opening = terminal.open({ title: 'none', argv: ['/bin/cat'] });
    await expect(opening).rejects.toMatchObject({ code: 'no_terminal' });
  });
});
