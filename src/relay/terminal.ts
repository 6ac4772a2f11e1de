import type { ProcessMark } from './processes.ts';

/** A terminal as records and people name it. */
export interface TerminalPlace {
  kind: 'tmux';
  /** The path of its server's socket. */
  socket: string;
  pane: string;
}

/** A terminal that was seen: its name alone may mean another one by now, after a restart of its server. */
export interface Seat {
  place: TerminalPlace;
  /** What the terminal was opened with. Where that is another process, or none, it is not this terminal any more. */
  first: ProcessMark;
}

/** A new terminal, in which nothing of the user's runs yet. */
export interface Opening {
  /** What people see of it. Letters, digits, `.`, `_` and `-` are kept. */
  title: string;
  /** A program of ours and its arguments, which are no text of anybody else. */
  argv: readonly string[];
}

/** Where a program runs that a person can look at. All that a relay knows of it. */
export interface Terminal {
  kind: TerminalPlace['kind'];
  /** `no_terminal` where none can be opened here. */
  open(opening: Opening): Promise<Seat>;
  /** The terminal that an environment says its process is in, as it is now; null for none, and for one that is not there. */
  seatOf(env: NodeJS.ProcessEnv): Promise<Seat | null>;
  isThere(seat: Seat): Promise<boolean>;
  /**
   * Pastes the text as one line and submits it. `no_terminal` where the terminal is gone, or belongs to something else by now.
   * That it was submitted says nothing of whether the program took it.
   */
  submit(seat: Seat, text: string): Promise<void>;
  /** What can be seen in it, without the empty lines at the end; null where it is gone. */
  screen(seat: Seat): Promise<string | null>;
  /** Takes the terminal away, and so ends what runs in it. Nothing happens where it is gone already. */
  close(seat: Seat): Promise<void>;
  /** The command that shows it to a person: a program and its arguments. */
  attachCommand(place: TerminalPlace): string[];
  /** Runs that command with the person at it, until they leave. */
  show(place: TerminalPlace): Promise<void>;
}
