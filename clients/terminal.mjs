// A program in a terminal, as a person has it before them.
import { spawnSync } from 'node:child_process';
import { until } from './until.mjs';

/** tmux on a socket of its own: it knows nothing of other terminals of the user's, nor of the user's settings. */
export function openTerminal({ env, folder, command }) {
  const tmux = (words, input = '') => {
    const { status, stdout, stderr } = spawnSync('tmux', ['-L', 'clients', '-f', '/dev/null', ...words], {
      env,
      input,
      encoding: 'utf8',
      timeout: 20_000,
    });
    if (status !== 0) throw new Error(`tmux ${words[0]}: ${stderr}`);
    return stdout;
  };
  // exec: the pane's process is the program; it stays readable when that has ended
  tmux([
    'new-session',
    '-d',
    '-s',
    'c',
    '-x',
    '120',
    '-y',
    '50',
    '-c',
    folder,
    `exec ${command.map(quoted).join(' ')}`,
  ]);
  tmux(['set-option', '-t', 'c', 'remain-on-exit', 'on']);
  const screen = () => tmux(['capture-pane', '-p', '-t', 'c']);
  const key = (name) => tmux(['send-keys', '-t', 'c', name]);
  const isOver = () => tmux(['display-message', '-p', '-t', 'c', '#{pane_dead}']).trim() === '1';
  return {
    screen,
    key,
    isOver,
    shows: (pattern, ms = 60_000) => until(`the screen shows ${pattern}`, () => pattern.test(screen()), ms),
    /** As a terminal pastes: programs take what is typed fast line by line. */
    paste(text) {
      tmux(['load-buffer', '-b', 'prompt', '-'], text);
      tmux(['paste-buffer', '-p', '-d', '-b', 'prompt', '-t', 'c']);
    },
    exitCode: () => Number(tmux(['display-message', '-p', '-t', 'c', '#{pane_dead_status}'])),
    close: () => tmux(['kill-server']),
  };
}

function quoted(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
