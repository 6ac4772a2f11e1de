import { styleText } from 'node:util';
import { hasCode } from '../core/error-code.ts';
import { escapeLine } from './text/escape.ts';

type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim';

/** Colours a text that was escaped, or returns it as it is. */
export interface Paint {
  (style: Style, text: string): string;
  /** How wide the terminal is; null when it is none, and nothing is cut. */
  columns: number | null;
}

interface Progress {
  show(checked: number): void;
  clear(): void;
}

export interface Terminal {
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
  warn(message: string): void;
  progress: Progress;
  paint: Paint;
  errorPaint: Paint;
}

export function openTerminal({ stdout, stderr, env }: NodeJS.Process): Terminal {
  const errorPaint = createPaint(stderr, env);
  const progress = createProgress(stderr, env);
  for (const stream of [stdout, stderr]) stream.on('error', () => {}); // the callback of write() has it too
  return {
    out: (text) => write(stdout, text),
    err: (text) => write(stderr, text),
    warn(message) {
      progress.clear();
      stderr.write(`${errorPaint('yellow', 'warning:')} ${escapeLine(message)}\n`);
    },
    progress,
    paint: createPaint(stdout, env),
    errorPaint,
  };
}

/** A reader that went away (`| head`) has what it wanted: that is no failure. */
function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (!error || hasCode(error, 'EPIPE')) resolve();
      else reject(error);
    });
  });
}

function createPaint(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Paint {
  const coloured = isColoured(stream, env);
  const paint = (style: Style, text: string): string =>
    coloured ? styleText(style, text, { validateStream: false }) : text;
  return Object.assign(paint, { columns: stream.isTTY ? stream.columns || 80 : null });
}

function isColoured(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

const QUIET_MS = 1000;
const REDRAW_MS = 100;

/** One line that counts, only for a person who has waited for a second. */
function createProgress(stderr: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Progress {
  const visible = stderr.isTTY === true && env.TERM !== 'dumb';
  let next = visible ? performance.now() + QUIET_MS : Number.POSITIVE_INFINITY; // to ask for the time loads a module
  let drawn = false;
  return {
    show(checked) {
      if (!visible || performance.now() < next) return;
      next = performance.now() + REDRAW_MS;
      drawn = true;
      stderr.write(`\r\x1b[K${checked} checked …`);
    },
    clear() {
      if (drawn) stderr.write('\r\x1b[K');
      drawn = false;
    },
  };
}
