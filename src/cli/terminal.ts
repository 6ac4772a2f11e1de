import { styleText } from 'node:util';
import { type Output, openOutput, writeTo } from './standard-output.ts';
import { escapeLine } from './text/escape.ts';

type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim';

/** Colours a text that was escaped, or returns it as it is. */
export interface Paint {
  (style: Style, text: string): string;
  /** How wide the terminal is; null when it is none, and nothing is cut. */
  columns: number | null;
}

/** For readers that are no terminals. */
export const PLAIN: Paint = Object.assign((_: string, text: string) => text, { columns: null });

interface Progress {
  show(checked: number): void;
  clear(): void;
}

export interface Terminal {
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
  /** What another program printed, as it is. */
  passOn(bytes: Uint8Array): void;
  warn(message: string): void;
  progress: Progress;
  paint: Paint;
  errorPaint: Paint;
}

export function openTerminal(host: NodeJS.Process): Terminal {
  const { env } = host;
  const stdout = openOutput(host);
  const stderr = openWhenNamed(host);
  const errorPaint = () => createPaint(stderr(), env);
  const progress = createProgress(stderr, env);
  return {
    out: (text) => stdout.write(text),
    err: (text) => writeTo(stderr(), text),
    passOn: (bytes) => stderr().write(bytes),
    warn(message) {
      progress.clear();
      stderr().write(`${errorPaint()('yellow', 'warning:')} ${escapeLine(message)}\n`);
    },
    progress,
    paint: createPaint(stdout, env),
    get errorPaint() {
      return errorPaint();
    },
  };
}

/** Node makes a stream when it is named, which takes some milliseconds: most verbs say nothing there. */
function openWhenNamed(host: NodeJS.Process): () => NodeJS.WriteStream {
  let stderr: NodeJS.WriteStream | undefined;
  return () => {
    stderr ??= host.stderr.on('error', () => {});
    return stderr;
  };
}

function createPaint(stream: Pick<Output, 'isTTY'> & { columns?: number | null }, env: NodeJS.ProcessEnv): Paint {
  const coloured = isColoured(stream, env);
  const paint = (style: Style, text: string): string =>
    coloured ? styleText(style, text, { validateStream: false }) : text;
  return Object.assign(paint, { columns: stream.isTTY ? stream.columns || 80 : null });
}

function isColoured(stream: Pick<Output, 'isTTY'>, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return stream.isTTY === true && env.TERM !== 'dumb';
}

const QUIET_MS = 1000;
const REDRAW_MS = 100;

/** One line that counts, only for a person who has waited for a second. */
function createProgress(open: () => NodeJS.WriteStream, env: NodeJS.ProcessEnv): Progress {
  let stream: NodeJS.WriteStream | undefined;
  let next = QUIET_MS; // since Node was started
  let drawn = false;
  return {
    show(checked) {
      stream ??= open();
      // to ask for the time loads a module
      if (!stream.isTTY || env.TERM === 'dumb' || performance.now() < next) return;
      next = performance.now() + REDRAW_MS;
      drawn = true;
      stream.write(`\r\x1b[K${checked} checked …`);
    },
    clear() {
      if (drawn) stream?.write('\r\x1b[K');
      drawn = false;
    },
  };
}
