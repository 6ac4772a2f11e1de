import { setTimeout as sleep } from 'node:timers/promises';
import { HandoffError } from '../core/error.ts';
import type { Host } from '../disk/moment.ts';
import { isWaiting } from './launch.ts';
import { commandLineOf, isRunning } from './processes.ts';
import type { Seat, Terminal } from './terminal.ts';

const LOOK = 25;
const PATIENCE = 10_000;

/** Until the shell that waited in the terminal has become the program. `spawn_failed` with what is on the screen where it ended. */
export async function untilStarted(host: Host, terminal: Terminal, seat: Seat, file: string): Promise<void> {
  for (let waited = 0; waited < PATIENCE; waited += LOOK) {
    if (!isRunning(host, seat.first)) throw notStarted((await terminal.screen(seat)) ?? '');
    if (!isWaiting(commandLineOf(seat.first.pid), file)) return;
    await sleep(LOOK);
  }
  throw notStarted(`nothing happened within ${PATIENCE / 1000} s`);
}

function notStarted(screen: string): HandoffError {
  const said = screen.split('\n').filter((line) => line.trim() !== '' && !/^Pane is dead \(/.test(line));
  const last = said.slice(-3).join(' / ') || 'it said nothing';
  return new HandoffError('spawn_failed', `The program ended as soon as it had started: ${last}`, {
    hint: 'Start it by hand in the same directory and see what it says; then run the command again, which goes on in the same session.',
    data: { screen: said.slice(-20).join('\n') },
  });
}
