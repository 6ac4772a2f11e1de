import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { HandoffError } from '../core/error.ts';
import type { Host } from '../disk/moment.ts';
import { typedLine } from './line.ts';
import { isRunning, markProcess } from './processes.ts';
import type { Opening, Seat, Terminal, TerminalPlace } from './terminal.ts';

// tmux reads its arguments as a language: one that ends in `;` ends a command, and names of windows and directories are formats
// in which #(…) runs a shell. So no text of anybody is ever an argument: titles are letters and digits, targets are numbers that
// tmux gave, what is typed goes through its standard input, and where a program runs is said to the program.

/** As a program is after it was given a paste: one that handles it in its own time takes an Enter that comes at once as part of it. */
const SETTLE = 500;

/** How large a terminal is that nobody looks at. Side panels and wrapped lines are for smaller ones. */
const SIZE = ['-x', '160', '-y', '48'];

export function openTmux(env: NodeJS.ProcessEnv, host: Host): Terminal {
  return {
    kind: 'tmux',
    open: (opening) => openWindow(env, host, opening),
    seatOf: (own) => seatOf(env, host, own),
    isThere: async (seat) => (await stateOf(env, host, seat)) === 'there',
    submit: (seat, text) => submit(env, host, seat, text),
    screen: (seat) => screen(env, host, seat),
    close: (seat) => close(env, host, seat),
    attachCommand: (place) => attachCommand(env, place),
    show: (place) => showTerminal(env, place),
  };
}

async function openWindow(env: NodeJS.ProcessEnv, host: Host, { title, argv }: Opening): Promise<Seat> {
  const server = serverHere(env);
  const name = ['-n', title.replace(/[^\w.-]/g, '_').slice(0, 40)];
  const print = ['-P', '-F', '#{pane_id} #{pane_pid} #{socket_path}'];
  const made = await runTmux(env, [
    ...server.flags,
    ...(server.isUsers ? ['new-window', '-d'] : ['new-session', '-d', ...SIZE]),
    ...print,
    ...name,
    ...argv.map(argument),
  ]);
  const [, pane, pid, socket] = /^([%]\d+) (\d+) (.+)\n$/.exec(made.stdout) ?? [];
  if (made.code !== 0 || !pane || !socket) throw notOpened(made);
  const first = markProcess(host, Number(pid));
  if (!first) throw notOpened({ ...made, stderr: 'what it started ended at once' });
  const place = { kind: 'tmux' as const, socket, pane };
  // its last words stay to be read where it fails; a tmux before 3.3 has no such setting
  await inServer(env, place, ['set-option', '-p', '-t', pane, 'remain-on-exit', 'failed']);
  return { place, first };
}

/** A server of our own, so that nothing of ours is among the user's windows; the user's where we are inside of it. */
function serverHere({ HANDOFF_TMUX_SOCKET: named, TMUX }: NodeJS.ProcessEnv): { flags: string[]; isUsers: boolean } {
  if (named)
    return { flags: named.startsWith('/') ? ['-S', assertSocket(named)] : ['-L', assertName(named)], isUsers: false };
  const socket = TMUX?.split(',')[0];
  if (socket?.startsWith('/')) return { flags: ['-S', assertSocket(socket)], isUsers: true };
  return { flags: ['-L', 'git-handoff'], isUsers: false };
}

async function seatOf(
  env: NodeJS.ProcessEnv,
  host: Host,
  { TMUX, TMUX_PANE }: NodeJS.ProcessEnv,
): Promise<Seat | null> {
  const socket = TMUX?.split(',')[0] ?? '';
  if (!isSocket(socket) || !isTarget(TMUX_PANE ?? '')) return null;
  const place = { kind: 'tmux' as const, socket, pane: TMUX_PANE! };
  const pane = await readPane(env, place);
  const first = pane && markProcess(host, pane.pid);
  return first && { place, first };
}

interface Pane {
  pid: number;
  /** Its program has ended, and what it printed last is still shown. */
  isDead: boolean;
  /** A person scrolls in it, and so keys do not reach the program. */
  isInMode: boolean;
}

/** Null where no such pane is there; tmux then prints nothing and says that all is well. */
async function readPane(env: NodeJS.ProcessEnv, place: TerminalPlace): Promise<Pane | null> {
  const format = '#{pane_id} #{pane_pid} #{pane_dead} #{pane_in_mode}';
  const { stdout } = await inServer(env, place, ['display-message', '-p', '-t', place.pane, format]);
  const [, pane, pid, dead, mode] = /^(%\d+) (\d+) (\d*) (\d*)\n$/.exec(stdout) ?? [];
  return pane === place.pane ? { pid: Number(pid), isDead: dead === '1', isInMode: (mode ?? '0') > '0' } : null;
}

type SeatState = 'there' | 'over' | 'gone';

/** `over`: the pane is ours, and what ran in it has ended. */
async function stateOf(env: NodeJS.ProcessEnv, host: Host, { place, first }: Seat): Promise<SeatState> {
  const pane = await readPane(env, place);
  if (!pane || pane.pid !== first.pid || first.space !== host.space) return 'gone';
  if (pane.isDead) return 'over';
  return isRunning(host, first) ? 'there' : 'gone';
}

async function submit(env: NodeJS.ProcessEnv, host: Host, seat: Seat, text: string): Promise<void> {
  const { place } = seat;
  if ((await stateOf(env, host, seat)) !== 'there') throw terminalGone(place);
  const line = typedLine(text);
  if (line === '')
    throw new HandoffError('usage', 'There is nothing to type: the text has nothing that can be printed.');
  await leaveModes(env, place);
  const buffer = `handoff-${randomBytes(8).toString('hex')}`;
  await mustDo(env, place, ['load-buffer', '-b', buffer, '-'], line);
  // bracketed where the program asked for it, so that it takes it for a paste and not for keys
  await mustDo(env, place, ['paste-buffer', '-p', '-d', '-b', buffer, '-t', place.pane]);
  await sleep(SETTLE);
  if ((await stateOf(env, host, seat)) !== 'there') throw terminalGone(place);
  await mustDo(env, place, ['send-keys', '-t', place.pane, 'Enter']);
}

/** Where a person has scrolled back, Enter would be a key of tmux's. */
async function leaveModes(env: NodeJS.ProcessEnv, place: TerminalPlace): Promise<void> {
  for (let left = 0; left < 8 && (await readPane(env, place))?.isInMode; left++)
    await inServer(env, place, ['send-keys', '-X', '-t', place.pane, 'cancel']);
}

/** To say that a program has ended tmux scrolls, so that its only line may be above what is shown. */
async function screen(env: NodeJS.ProcessEnv, host: Host, seat: Seat): Promise<string | null> {
  const state = await stateOf(env, host, seat);
  if (state === 'gone') return null;
  const lines = state === 'over' ? ['-S', '-100'] : [];
  const { code, stdout } = await inServer(env, seat.place, ['capture-pane', '-p', ...lines, '-t', seat.place.pane]);
  return code === 0 ? stdout.trimEnd() : null;
}

async function close(env: NodeJS.ProcessEnv, host: Host, seat: Seat): Promise<void> {
  if ((await stateOf(env, host, seat)) === 'gone') return;
  await inServer(env, seat.place, ['kill-pane', '-t', seat.place.pane]);
}

/** Whoever is inside that very server goes to the other window; a server inside of another one is refused by tmux. */
function attachCommand({ TMUX }: NodeJS.ProcessEnv, { socket, pane }: TerminalPlace): string[] {
  const how = TMUX?.split(',')[0] === socket ? 'switch-client' : 'attach-session';
  return ['tmux', '-S', assertSocket(socket), how, '-t', assertTarget(pane)];
}

function showTerminal(env: NodeJS.ProcessEnv, place: TerminalPlace): Promise<void> {
  const [, ...args] = attachCommand(env, place);
  const { TMUX, ...outside } = env;
  const seen = args.includes('switch-client') ? env : outside;
  return new Promise((resolve, reject) => {
    const child = spawn('tmux', args, { env: seen, stdio: 'inherit' });
    child.on('error', (cause) => reject(noTmux(cause)));
    child.on('close', () => resolve());
  });
}

interface TmuxResult {
  code: number;
  stdout: string;
  stderr: string;
}

async function mustDo(env: NodeJS.ProcessEnv, place: TerminalPlace, args: string[], input = ''): Promise<void> {
  const { code, stderr } = await inServer(env, place, args, input);
  if (code !== 0) throw terminalGone(place, stderr.trim());
}

function inServer(env: NodeJS.ProcessEnv, place: TerminalPlace, args: string[], input = ''): Promise<TmuxResult> {
  assertTarget(place.pane);
  return runTmux(env, ['-S', assertSocket(place.socket), ...args], input);
}

/** Whatever it answers; where it cannot be started there is no terminal. */
function runTmux(env: NodeJS.ProcessEnv, args: readonly string[], input = ''): Promise<TmuxResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('tmux', ['-u', ...args], {
      env: tmuxEnv(env),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text));
    child.on('error', (cause) => reject(noTmux(cause)));
    child.on('close', (code) => resolve({ code: code ?? 1, ...said }));
    child.stdin.on('error', () => {}); // it ended before it had read all: its code says why
    child.stdin.end(input);
  });
}

/**
 * A server lives longer than whoever started it, and everything that is opened in it later inherits what it was given: so it gets
 * what a login has, and no key, token or session.
 */
function tmuxEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => LOGIN.test(name)));
}

const LOGIN =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TZ|TMPDIR|TMUX_TMPDIR|XDG_\w+|DISPLAY|WAYLAND_DISPLAY|SSH_AUTH_SOCK)$/;

function argument(text: string): string {
  return text.endsWith(';') ? `${text.slice(0, -1)}\\;` : text;
}

function isTarget(text: string): boolean {
  return /^[%@$][0-9]+$/.test(text);
}

function assertTarget(text: string): string {
  if (isTarget(text)) return text;
  throw new HandoffError('no_terminal', `${JSON.stringify(text)} names no pane of tmux.`, {
    hint: 'git handoff agent list shows the agents and their terminals.',
  });
}

/** Nothing of a socket's path is special to tmux as the value of -S, but for a `;` at its end. */
function isSocket(path: string): boolean {
  return /^\/[^\x00-\x1f\x7f]*[^\x00-\x1f\x7f;]$/.test(path);
}

function assertSocket(path: string): string {
  if (isSocket(path)) return path;
  throw new HandoffError('no_terminal', `${JSON.stringify(path)} is no path of a socket.`, {
    hint: 'Name it from the root, or give a name of letters and digits (HANDOFF_TMUX_SOCKET).',
  });
}

function assertName(name: string): string {
  if (/^\w[\w.-]{0,63}$/.test(name)) return name;
  throw new HandoffError(
    'no_terminal',
    `HANDOFF_TMUX_SOCKET is ${JSON.stringify(name)}, which names no server of tmux.`,
    {
      hint: 'Give a path from the root, or a name of letters, digits, ".", "_" and "-".',
    },
  );
}

function noTmux(cause: NodeJS.ErrnoException): HandoffError {
  const why = cause.code === 'ENOENT' ? 'it was not found on the PATH' : cause.message;
  return new HandoffError('no_terminal', `tmux could not be started: ${why}.`, {
    hint: 'Install tmux 3.0 or later. Without it an agent is started by hand, in any terminal, with HANDOFF_IDENTITY set.',
    cause,
  });
}

function notOpened({ code, stderr }: TmuxResult): HandoffError {
  const why = stderr.trim().split('\n')[0] || `it ended with code ${code} and said nothing`;
  return new HandoffError('no_terminal', `tmux opened no terminal: ${why}.`, {
    hint: 'See that tmux works here: tmux new-session. Where a server hangs, name another one: HANDOFF_TMUX_SOCKET=NAME.',
    data: { code },
  });
}

function terminalGone({ socket, pane }: TerminalPlace, why = ''): HandoffError {
  return new HandoffError(
    'no_terminal',
    `The terminal of this agent is gone (pane ${pane} of ${socket})${why ? `: ${why}` : ''}.`,
    {
      hint: 'Its window was closed, tmux was restarted, or something else is in that pane by now. git handoff agent list shows who runs where.',
      data: { socket, pane },
    },
  );
}
