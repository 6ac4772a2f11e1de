import { fstatSync, writeSync } from 'node:fs';
import { hasCode } from '../core/error-code.ts';

/** Where an answer goes. */
export interface Output {
  isTTY: boolean;
  /** How wide the terminal is; null when it is none. */
  columns: number | null;
  write(text: string): Promise<void>;
}

/** Node takes some milliseconds to make a stream. What another program reads needs none, unless it is long. */
export function openOutput(host: NodeJS.Process): Output {
  if (!isForProgram()) return streamed(host.stdout);
  return {
    isTTY: false,
    columns: null,
    async write(text) {
      const rest = writeAtOnce(Buffer.from(text));
      if (rest.length > 0) await streamed(host.stdout).write(rest);
    },
  };
}

/** A pipe, a socket or a file: what a terminal or nothing at all takes is Node's to know. */
function isForProgram(): boolean {
  try {
    const stat = fstatSync(STDOUT);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch (error) {
    if (!hasCode(error)) throw error;
    return false;
  }
}

const STDOUT = 1;

/** What a pipe has room for: with more, a reader that waits would keep us from hearing that we should end. */
const AT_ONCE = 4096;

/** Returns the bytes that could not be written without waiting. */
function writeAtOnce(bytes: Buffer): Buffer {
  if (bytes.length > AT_ONCE) return bytes;
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
  } catch (error) {
    if (hasCode(error, 'EPIPE')) return rest.subarray(rest.length);
    if (!hasCode(error, 'EAGAIN')) throw error;
  }
  return rest;
}

function streamed(stream: NodeJS.WriteStream) {
  stream.on('error', () => {}); // the callback of write() has it too
  return {
    isTTY: stream.isTTY === true,
    columns: stream.isTTY ? stream.columns || 80 : null,
    write: (text: string | Uint8Array) => writeTo(stream, text),
  };
}

/** A reader that went away (`| head`) has what it wanted: that is no failure. */
export function writeTo(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (!error || hasCode(error, 'EPIPE')) resolve();
      else reject(error);
    });
  });
}
